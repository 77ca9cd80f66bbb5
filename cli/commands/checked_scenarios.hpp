// The scenarios of `check`, read and held against their budgets.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/commands.hpp"
#include "reports/check/check_report.hpp"

namespace depthcost {

struct CheckedScenarios {
  std::vector<CheckedScenario> scenarios;  // in the order of the command line
  std::vector<std::string> errors;         // a line for stderr for each that was refused
};

/// One bad file does not take the others' verdicts away. Counts each scenario. Throws InputError
/// where there is nothing to check.
CheckedScenarios checked_scenarios(const CheckOptions& options, Progress& progress);

}  // namespace depthcost
