// Verdicts as outcomes and annotations.
#include "reports/budget_gates.hpp"

#include <fmt/format.h>

#include "reports/table.hpp"

namespace depthcost {
namespace {

/// "fail: limit 2.0 %, predicted [1.9 %, 2.5 %], margin -0.5 %; WHY; WHAT WOULD WORK".
std::string verdict_text(const BudgetRow& row) {
  const std::vector<std::string> cells = budget_table({&row, 1}).rows.front();
  std::string text =
      fmt::format("{}: limit {}, predicted {}, margin {}", cells[4], cells[1], cells[2], cells[3]);
  for (const std::string& note : {row.reason, row.nearest})
    if (!note.empty()) text += "; " + note;
  return text;
}

JunitOutcome outcome_of(const BudgetRow& row, bool strict) {
  if (row.verdict == Verdict::pass) return JunitOutcome::passed;
  const bool is_red = row.verdict == Verdict::fail || strict;
  return is_red ? JunitOutcome::failed : JunitOutcome::skipped;
}

}  // namespace

std::vector<JunitCase> junit_cases(const std::string& file, std::span<const BudgetRow> budgets,
                                   bool strict) {
  std::vector<JunitCase> cases;
  for (const BudgetRow& row : budgets)
    cases.push_back({.name = fmt::format("{}/{}", file, name(row.budget.kind)),
                     .class_name = "budgets",
                     .outcome = outcome_of(row, strict),
                     .failure_type = "budget",
                     .message = verdict_text(row),
                     .output = verdict_text(row)});
  return cases;
}

std::vector<Annotation> annotations(const std::string& file, std::span<const BudgetRow> budgets,
                                    bool strict) {
  std::vector<Annotation> lines;
  for (const BudgetRow& row : budgets) {
    const JunitOutcome outcome = outcome_of(row, strict);
    if (outcome == JunitOutcome::passed) continue;
    lines.push_back({.level = outcome == JunitOutcome::failed ? AnnotationLevel::error
                                                              : AnnotationLevel::warning,
                     .file = file,
                     .line = row.budget.line,
                     .title = std::string(name(row.budget.kind)),
                     .message = verdict_text(row)});
  }
  return lines;
}

}  // namespace depthcost
