// What `check` has found, for people, programs and CI systems.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/decision/budget.hpp"
#include "model/machine/comparison.hpp"
#include "reports/formats/annotations.hpp"
#include "reports/formats/junit.hpp"

namespace depthcost {

/// Why a scenario could not be checked.
struct RefusedScenario {
  int line = 1;
  std::string message;
};

/// The published kernel that is nearest to one at the point that decides a budget.
struct BudgetMeasurement {
  BudgetKind kind = BudgetKind::decode_overhead;
  std::string scheme;
  WorkloadId workload;
  ComparedCase measured;
};

struct CheckedScenario {
  std::string file;  // printable
  std::string name;
  std::vector<BudgetRow> budgets;
  std::optional<RefusedScenario> refused;
  std::vector<BudgetMeasurement> nearest = {};  // in the order of the budgets
  std::vector<BudgetRow> ungated = {};  // beyond the paper's limits, of which no budget is written
};

/// Is a budget that may or may not hold a failure?
enum class Unknowns { warn, fail };

struct CheckReport {
  std::vector<CheckedScenario> scenarios;  // in the order in which they were asked for
  Unknowns unknowns = Unknowns::warn;
};

/// Whether the budget counts as a failure. One of which nothing is predicted does: a gate that
/// decides nothing would pass for ever.
bool is_red(const BudgetRow& row, Unknowns unknowns);
/// Whether any of its budgets does.
bool is_red(const CheckedScenario& scenario, Unknowns unknowns);

/// The first scenario with a budget that counts as a failure; nullptr if none has.
const CheckedScenario* first_red(const CheckReport& report);

/// "nearest measured kernel: MEASUREMENT, inside the predicted 12.0 us [10, 14]", or a warning
/// where it lies outside.
std::string note_of(const BudgetMeasurement& nearest);

/// Each scenario's budgets as a table; below it why a budget is unknown and what would keep it,
/// and what others measured. Refused scenarios are left to stderr.
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
/// A budget that is unknown is skipped, or fails. What others measured is told beside the verdict
/// and changes none.
JunitSuite junit_suite(const CheckReport& report);

/// Errors for broken budgets and refused files, warnings for what is unknown and for
/// measurements outside their interval, each at its line.
std::vector<Annotation> annotations(const CheckReport& report);

}  // namespace depthcost
