// Budgets, as CI systems read their verdicts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/budget.hpp"
#include "reports/annotations.hpp"
#include "reports/junit.hpp"

namespace depthcost {

/// One case for each budget of a scenario file, "FILE/prefill_bank". What is unknown is skipped;
/// `strict`: fails.
std::vector<JunitCase> junit_cases(const std::string& file, std::span<const BudgetRow> budgets,
                                   bool strict);

/// Errors for broken budgets and warnings for unknown ones, each at its line. `strict`: all errors.
std::vector<Annotation> annotations(const std::string& file, std::span<const BudgetRow> budgets,
                                    bool strict);

}  // namespace depthcost
