// The answer in one line a scheme, and one small table.
#pragma once

#include <string>
#include <vector>

#include "reports/section/section.hpp"

namespace depthcost {

/// What does not fit whatever the scheme comes first, then a line a scheme:
/// "`mhc`, fused: too much. It adds 21.6 % [12.7, 32.5] to decode/1; the limit is 2.0 % (the
/// paper's)."
std::vector<std::string> verdict_lines(const Evaluation& evaluation);

/// The step at each workload point, and what each scheme adds to it. Empty without hardware.
Table cost_table(const Evaluation& evaluation);

/// The row of a scheme as it is quoted, or nullptr.
const StepRow* quoted_step(const Evaluation& evaluation, WorkloadId workload,
                           const ResidualPath& path);

}  // namespace depthcost
