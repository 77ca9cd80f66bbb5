// What `check` has found, for people, programs and CI systems.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/decision/budget.hpp"
#include "reports/formats/annotations.hpp"
#include "reports/formats/junit.hpp"

namespace depthcost {

/// Why a scenario could not be checked.
struct RefusedScenario {
  int line = 1;
  std::string message;
};

struct CheckedScenario {
  std::string file;  // printable
  std::string name;
  std::vector<BudgetRow> budgets;
  std::optional<RefusedScenario> refused;
};

/// Is a budget that may or may not hold a failure?
enum class Unknowns { warn, fail };

struct CheckReport {
  std::vector<CheckedScenario> scenarios;  // in the order in which they were asked for
  Unknowns unknowns = Unknowns::warn;
};

/// Whether the budget counts as a failure.
bool is_red(const BudgetRow& row, Unknowns unknowns);

/// Each scenario's budgets as a table; below it why a budget is unknown and what would keep it.
/// Refused scenarios are left to stderr.
std::string to_table(const CheckReport& report);

/// Budgets as `evaluate` writes them, scenario by scenario.
std::string to_json(const CheckReport& report, const std::string& program_version);

/// GitHub refuses a larger summary of a step as a whole: actions/runner
/// src/Runner.Worker/FileCommandManager.cs, AttachmentSizeLimit.
inline constexpr std::size_t kMostSummaryBytes = 1024 * 1024;

/// All gates as one Markdown table, the worst first. Gates that would exceed `max_bytes` are only
/// counted. Empty where not even the count fits.
std::string step_summary(const CheckReport& report, std::size_t max_bytes);

/// One case for each budget, "FILE/prefill_bank", and one for each refused file, which is an error.
/// A budget that is unknown is skipped, or fails.
JunitSuite junit_suite(const CheckReport& report);

/// Errors for broken budgets and refused files, warnings for what is unknown, each at its line.
std::vector<Annotation> annotations(const CheckReport& report);

}  // namespace depthcost
