// The exit codes of the program.
#pragma once

namespace depthcost {

enum class ExitCode {
  good = 0,
  gate_said_no = 1,         // budget, fit, misprediction
  bad_input = 2,            // input, usage, or internal error
  measurement_invalid = 3,  // throttled, not whole, not repeatable
  skipped = 77,             // for want of hardware
};

/// How bad a code is. CI may let some codes pass, which must not hide a worse one.
constexpr int severity(ExitCode code) {
  switch (code) {
    case ExitCode::bad_input:
      return 4;
    case ExitCode::gate_said_no:
      return 3;
    case ExitCode::measurement_invalid:
      return 2;
    case ExitCode::skipped:
      return 1;
    case ExitCode::good:
      break;
  }
  return 0;
}

/// The worst of several: 2 > 1 > 3 > 77 > 0.
constexpr ExitCode worst(ExitCode a, ExitCode b) { return severity(a) > severity(b) ? a : b; }

}  // namespace depthcost
