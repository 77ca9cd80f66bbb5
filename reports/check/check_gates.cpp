// Verdicts as outcomes and annotations.
#include <fmt/format.h>

#include <algorithm>

#include "reports/check/check_report.hpp"
#include "reports/topics/budgets/budget_section.hpp"

namespace depthcost {
namespace {

/// "too much: predicted [2.1 %, 2.5 %], the limit is 2.0 %; WHY; WHAT WOULD WORK".
std::string verdict_text(const BudgetRow& row) {
  const std::vector<std::string> cells = budget_table({&row, 1}).rows.front();
  std::string text = fmt::format("{}: predicted {}, the limit is {}", cells[4], cells[2], cells[1]);
  for (const std::string& note : {row.reason, remedies_text(row.remedies)})
    if (!note.empty()) text += "; " + note;
  return text;
}

/// The verdict, and what others measured.
std::string output_text(const BudgetRow& row, const CheckedScenario& scenario) {
  std::string text = verdict_text(row);
  for (const BudgetMeasurement& nearest : scenario.nearest)
    if (nearest.kind == row.budget.kind) text += "; " + note_of(nearest);
  return text;
}

JunitOutcome outcome_of(const BudgetRow& row, Unknowns unknowns) {
  if (row.verdict == Verdict::pass) return JunitOutcome::passed;
  return is_red(row, unknowns) ? JunitOutcome::failed : JunitOutcome::skipped;
}

/// A scenario that passes because it asks nothing.
bool has_no_budgets(const CheckedScenario& scenario) {
  return scenario.budgets.empty() && !scenario.refused;
}

constexpr const char* kNoBudgets = "no budgets: nothing was checked";

/// One for each budget beside which a measurement lies outside its interval.
void append_warnings(const CheckedScenario& scenario, std::vector<Annotation>& lines) {
  for (const BudgetRow& row : scenario.budgets)
    for (const BudgetMeasurement& nearest : scenario.nearest)
      if (nearest.kind == row.budget.kind && !nearest.measured.comparison.is_inside)
        lines.push_back({.level = AnnotationLevel::warning,
                         .file = scenario.file,
                         .line = row.budget.line,
                         .title = std::string(name(row.budget.kind)),
                         .message = note_of(nearest)});
}

}  // namespace

const CheckedScenario* first_red(const CheckReport& report) {
  for (const CheckedScenario& scenario : report.scenarios)
    if (is_red(scenario, report.unknowns)) return &scenario;
  return nullptr;
}

bool is_red(const CheckedScenario& scenario, Unknowns unknowns) {
  return std::any_of(scenario.budgets.begin(), scenario.budgets.end(),
                     [&](const BudgetRow& row) { return is_red(row, unknowns); });
}

bool is_red(const BudgetRow& row, Unknowns unknowns) {
  // A low end alone is no prediction: of a model without layers, or where a batch does not fit.
  return row.verdict == Verdict::fail ||
         (row.verdict == Verdict::unknown && (unknowns == Unknowns::fail || !row.high));
}

JunitSuite junit_suite(const CheckReport& report) {
  JunitSuite suite{.name = "depthcost check", .properties = {}, .cases = {}};
  for (const CheckedScenario& scenario : report.scenarios) {
    for (const BudgetRow& row : scenario.budgets)
      suite.cases.push_back({.name = fmt::format("{}/{}", scenario.file, name(row.budget.kind)),
                             .class_name = "budgets",
                             .outcome = outcome_of(row, report.unknowns),
                             .failure_type = "budget",
                             .message = verdict_text(row),
                             .output = output_text(row, scenario)});
    if (has_no_budgets(scenario))
      suite.cases.push_back({.name = scenario.file,
                             .class_name = "budgets",
                             .outcome = JunitOutcome::skipped,
                             .failure_type = "budget",
                             .message = kNoBudgets,
                             .output = kNoBudgets});
    if (scenario.refused)
      suite.cases.push_back({.name = scenario.file,
                             .class_name = "budgets",
                             .outcome = JunitOutcome::error,
                             .failure_type = "bad_input",
                             .message = scenario.refused->message,
                             .output = scenario.refused->message});
  }
  return suite;
}

std::vector<Annotation> annotations(const CheckReport& report) {
  std::vector<Annotation> lines;
  for (const CheckedScenario& scenario : report.scenarios) {
    for (const BudgetRow& row : scenario.budgets)
      if (row.verdict != Verdict::pass)
        lines.push_back({.level = is_red(row, report.unknowns) ? AnnotationLevel::error
                                                               : AnnotationLevel::warning,
                         .file = scenario.file,
                         .line = row.budget.line,
                         .title = std::string(name(row.budget.kind)),
                         .message = verdict_text(row)});
    if (has_no_budgets(scenario))
      lines.push_back({.level = AnnotationLevel::warning,
                       .file = scenario.file,
                       .line = 1,
                       .title = "no budgets",
                       .message = "nothing was checked"});
    append_warnings(scenario, lines);
    if (scenario.refused)
      lines.push_back({.file = scenario.file,
                       .line = scenario.refused->line,
                       .title = "bad input",
                       .message = scenario.refused->message});
  }
  return lines;
}

}  // namespace depthcost
