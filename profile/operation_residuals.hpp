// The interval of each operation's own kernels. The time formula misses some operations by far more
// than others, and a scenario uses few of them. REFERENCES.md, "profiles".
#pragma once

#include <vector>

#include "profile/profile.hpp"

namespace depthcost::profile {

struct OperationIntervals {
  std::vector<OperationResidual> residuals;  // of operations with kernels of two shapes or more
  Coverage coverage;
};

/// Empty where too few kernels can be left out to say how much wider than its range an interval
/// must be.
OperationIntervals operation_intervals(const Machine& machine, const Samples& samples);

}  // namespace depthcost::profile
