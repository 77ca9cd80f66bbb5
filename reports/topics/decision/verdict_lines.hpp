// The answer in one line a scheme, and one small table.
#pragma once

#include <string>
#include <vector>

#include "reports/section/section.hpp"

namespace depthcost {

/// What is said of an evaluation and of each of its scheme_verdicts(): "`mhc`, fused: too much. It
/// adds 21.6 % [12.7, 32.5] to decode/1; the limit is 2.0 % (the paper's)."
struct VerdictTexts {
  std::string nothing_fits;             // whatever the scheme; empty where something fits
  std::vector<std::string> of_schemes;  // empty where `nothing_fits` says it all
};

VerdictTexts verdict_texts(const Evaluation& evaluation);

/// Those that are not empty.
std::vector<std::string> verdict_lines(const Evaluation& evaluation);

/// The step at each workload point, and what each scheme adds to it. Empty without hardware.
Table cost_table(const Evaluation& evaluation);

/// The row of a scheme as it is quoted, or nullptr.
const StepRow* quoted_step(const Evaluation& evaluation, WorkloadId workload,
                           const ResidualPath& path);

}  // namespace depthcost
