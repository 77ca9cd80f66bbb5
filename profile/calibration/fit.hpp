// Fits constants on rows of the tables by least |log(measured / predicted)|, which no odd row
// moves far.
#pragma once

#include <string>
#include <vector>

#include "model/machine/constants.hpp"
#include "profile/calibration/tables.hpp"

namespace depthcost::calibration {

/// What a fold must not see: a GPU, an architecture or a model by its name; empty: nothing.
struct LeftOut {
  std::string name;

  bool holds(const Part& part) const { return part.id == name || part.architecture == name; }
  bool holds(const ServedStep& step) const { return step.model == name || step.gpu == name; }
  bool holds(const TrainedStep& step) const { return step.model == name || step.gpu == name; }
};

/// How near a part is to those that the constants were fitted on.
Kinship kinship_of(const Part& part, const Constants& constants);

/// A part's machine with other constants.
Machine with_constants(const Part& part, const Constants& constants);

/// The prediction of a kernel's row.
Estimate<Seconds> predicted(const MeasuredKernel& row, const Constants& constants);

/// The prediction of a step's row: decode, and its share of prefills.
Estimate<Seconds> predicted(const ServedStep& row, const Constants& constants);

/// Constants of kernels of few tokens from the rows that `left_out` does not hold, beginning at
/// `start`. Errors and stack factors of `start` are kept.
Constants fitted_kernels(const Tables& tables, const LeftOut& left_out, Constants start);

/// Constants of serving engines, the same way.
Constants fitted_steps(const Tables& tables, const LeftOut& left_out, Constants start);

}  // namespace depthcost::calibration
