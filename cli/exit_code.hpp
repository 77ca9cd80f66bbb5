// What the program tells its caller.
#pragma once

namespace depthcost {

enum class ExitCode {
  good = 0,
  gate_said_no = 1,  // budget, fit, misprediction
  bad_input = 2,     // input, usage, or internal error
};

/// The worst of several: 2 > 1 > 0.
constexpr ExitCode worst(ExitCode a, ExitCode b) { return a > b ? a : b; }

}  // namespace depthcost
