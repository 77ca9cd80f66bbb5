// The scenarios of `check`, read and held against their budgets.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/commands.hpp"
#include "reports/check/check_report.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

struct CheckedScenarios {
  std::vector<CheckedScenario> scenarios;  // in the order of the command line
  std::vector<InputError> errors;          // one for each that was refused
  std::vector<std::string> warnings;       // by what a verdict may be wrong
};

/// Reads and checks each scenario; a bad file does not stop the others. Counts progress by
/// scenario. Throws InputError if there is nothing to check.
CheckedScenarios checked_scenarios(const CheckOptions& options, Progress& progress);

}  // namespace depthcost
