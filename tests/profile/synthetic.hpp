// A machine that obeys the time formula, with seeded noise. A fit must find its constants.
#pragma once

#include <string>

#include "model/machine/machine.hpp"

namespace depthcost::test {

/// A CPU of one thread, its constants in round numbers.
Machine synthetic_machine();

/// The file that scripts/measure would write on it: `rounds` repetitions of every benchmark, each
/// off by a few times `noise` at most. Kernels take `slowdown` times as long as the formula says.
struct SyntheticRun {
  int rounds = 5;
  double noise = 0.01;
  double slowdown = 1;
  unsigned seed = 1;
};

std::string synthetic_samples(const SyntheticRun& run = {});

}  // namespace depthcost::test
