// Rows, lines and their order.
#include "reports/comparison/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "model/base/counted.hpp"
#include "reports/comparison/error_groups.hpp"
#include "reports/comparison/kernel_tables.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kReading =
    "Error: measured / predicted - 1; + is slower than predicted. Inside: the measured time lies in "
    "the 90 % interval. Difference: what would explain the error alone, such as a share of the "
    "predicted bandwidth. Launch: its share of the predicted time.";

bool has_stacks(std::span<const ComparedCase> cases) {
  return std::any_of(cases.begin(), cases.end(), [](const ComparedCase& compared) {
    return !compared.stacks.front().stack.empty();
  });
}

std::vector<std::string> notes_of(const ComparisonReport& report) {
  std::vector<std::string> lines{std::string(kReading)};
  if (!report.nearest.empty())
    lines.emplace_back(
        "Nearest published: of all published times of the operation, the one whose device, tokens, "
        "width and reads are most like the row's. Its error is against constants fitted without "
        "its device; the row's own prediction uses all that ship.");
  lines.insert(lines.end(), report.notes.begin(), report.notes.end());
  if (std::string peer = peer_sentence(report.servings); !peer.empty())
    lines.push_back(std::move(peer));
  return lines;
}

std::vector<std::string> summary_of(const ComparisonReport& report) {
  return {verdict_line(report.cases), error_line(report.cases)};
}

std::string errors_of(const std::vector<Comparison>& comparisons, std::string_view what) {
  const ErrorSummary errors = summary_of(comparisons);
  return fmt::format(
      "{} {}: median |error| {}, 90th percentile {}, worst {}, {} inside the 90 % interval.",
      errors.cases, what, format_ratio(errors.median), format_ratio(errors.p90),
      format_ratio(errors.worst, Sign::always), format_ratio(errors.inside));
}

using TitledTables = std::vector<std::pair<std::string, Table>>;

/// Steps that were measured, which both formats show alike.
void append_steps(const ComparisonReport& report, TitledTables& tables) {
  if (!report.steps.empty())
    tables.push_back({"Added to a step, against the fused standard residual",
                      step_comparison_table(report.steps)});
  if (!report.servings.empty()) {
    tables.push_back({"Served decode steps", run_table(report.servings)});
    tables.push_back({"The served steps predicted worst", worst_runs_table(report.servings)});
  }
  if (!report.trainings.empty()) {
    tables.push_back({"Training steps", run_table(report.trainings)});
    tables.push_back({"The training steps predicted worst", worst_runs_table(report.trainings)});
  }
}

/// More kernels than that would hide the answer: a document has them.
constexpr std::size_t kMostListed = 30;

TitledTables terminal_tables(const ComparisonReport& report) {
  TitledTables tables;
  if (report.cases.size() <= kMostListed) {
    tables = kernel_tables(report.cases);
    for (auto& [title, table] : nearest_tables(report.nearest))
      tables.push_back({"Nearest published to " + title, std::move(table)});
  }
  tables.push_back({"Errors by operation", error_table(report.cases)});
  append_steps(report, tables);
  return tables;
}

/// The tables of a document, each with its title.
TitledTables document_tables(const ComparisonReport& report) {
  TitledTables tables{{"Predicted against measured", comparison_table(report.cases)}};
  if (has_stacks(report.cases)) tables.push_back({"Every measurement", stack_table(report.cases)});
  if (!report.nearest.empty())
    tables.push_back({"The nearest published kernels", nearest_table(report.nearest)});
  tables.push_back({"Errors by operation", error_table(report.cases)});
  append_steps(report, tables);
  return tables;
}

}  // namespace

std::string attribution_text(const Attribution& attribution) {
  switch (attribution.term) {
    case Term::bytes:
      return fmt::format("{:+.1f} d", attribution.amount);
    case Term::bandwidth:
      return fmt::format("{:.2f} x bandwidth", attribution.amount);
    case Term::launch:
      return fmt::format("{} launch", format_seconds(Seconds{attribution.amount}, Sign::always));
    case Term::latency:
      return fmt::format("{} latency", format_seconds(Seconds{attribution.amount}, Sign::always));
    case Term::arithmetic:
      return fmt::format("{:.2f} x rate", attribution.amount);
  }
  return "";
}

std::string agreement_cell(const ComparedCase& compared) {
  const bool is_red = compared.comparison.agreement != Agreement::pass;
  return fmt::format("{}{}", name(compared.comparison.agreement),
                     is_red && !compared.is_blocked() ? ", reported" : "");
}

std::string verdict_text(const ComparedCase& compared) {
  const Comparison& comparison = compared.comparison;
  return fmt::format("{}: measured {}, predicted {}, bound {}, error {}, tolerance {} ({}); {}",
                     name(comparison.agreement), format_seconds(comparison.measured.value),
                     format_seconds(comparison.predicted), format_seconds(comparison.bound),
                     format_ratio(comparison.error, Sign::always),
                     format_ratio(comparison.tolerance), compared.rule.reason,
                     attribution_text(comparison.attribution));
}

Table comparison_table(std::span<const ComparedCase> cases) {
  Table table{{"case", right("measured"), right("predicted [90 %]"), right("error"), "verdict",
               "difference"}};
  for (const ComparedCase& compared : cases) {
    const Comparison& comparison = compared.comparison;
    table.add(compared.id, format_seconds(comparison.measured.value),
              format_seconds(comparison.predicted), format_ratio(comparison.error, Sign::always),
              agreement_cell(compared), attribution_text(comparison.attribution));
  }
  return table;
}

Table stack_table(std::span<const ComparedCase> cases) {
  Table table{{"case", "stack", right("measured"), right("error")}};
  for (const ComparedCase& compared : cases)
    for (const StackTime& row : compared.stacks)
      table.add(compared.id, row.stack, format_seconds(row.time),
                format_ratio(row.error, Sign::always));
  return table;
}

Table nearest_table(std::span<const PublishedBeside> nearest) {
  Table table{{"case", right("error"), "nearest published", "stack", right("measured"),
               right("its error")}};
  for (const PublishedBeside& row : nearest) {
    const StackTime& fastest = row.published.stacks.front();
    table.add(row.ours.id, format_ratio(row.ours.comparison.error, Sign::always), row.published.id,
              fastest.stack, format_seconds(fastest.time),
              format_ratio(fastest.error, Sign::always));
  }
  return table;
}

Table step_comparison_table(std::span<const StepComparison> steps) {
  Table table{{"scheme", right("tokens"), right("baseline step"), right("added, measured [90 %]"),
               right("added, predicted [90 %]"), right("error of the step")}};
  for (const StepComparison& step : steps)
    table.add(fmt::format("{} {}", step.scheme, name(step.schedule, step.phase1)),
              std::to_string(step.tokens), format_seconds(step.baseline.value),
              format_seconds(step.added(), Sign::always),
              format_seconds(step.predicted, Sign::always),
              format_ratio(step.error(), Sign::always));
  return table;
}

std::string error_line(std::span<const ComparedCase> cases) {
  const std::vector<Comparison> all = comparisons_of(cases);
  std::vector<Comparison> large;
  std::copy_if(all.begin(), all.end(), std::back_inserter(large), is_large);
  std::string text = errors_of(all, all.size() == 1 ? "case" : "cases");
  if (!large.empty() && large.size() < all.size())
    text += " " + errors_of(large, fmt::format("with {} of launch", launch_share(large.front())));
  return text;
}

std::string verdict_line(std::span<const ComparedCase> cases) {
  std::vector<std::string> counts;
  for (const Agreement agreement :
       {Agreement::pass, Agreement::fail, Agreement::ambiguous, Agreement::impossible}) {
    const auto count = std::count_if(cases.begin(), cases.end(), [&](const ComparedCase& it) {
      return it.comparison.agreement == agreement;
    });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, name(agreement)));
  }
  const auto blocked = std::count_if(cases.begin(), cases.end(),
                                     [](const ComparedCase& it) { return it.is_blocked(); });
  const auto held = std::count_if(cases.begin(), cases.end(),
                                  [](const ComparedCase& it) { return it.rule.blocks; });
  std::string gate = fmt::format("all {} hold", held);
  if (held == 0) gate = "none";
  if (blocked > 0) gate = fmt::format("{} of {} fail, so the exit code is 1", blocked, held);
  return fmt::format("Gates: {}. Of {}: {}.", gate,
                     counted(static_cast<Count>(cases.size()), "kernel", "kernels"),
                     fmt::join(counts, ", "));
}

/// The worst of what does not pass, each with the numbers and the rule that say so. What blocks
/// comes first.
std::vector<std::string> reasons_of(std::span<const ComparedCase> cases) {
  constexpr std::size_t kMost = 3;
  std::vector<const ComparedCase*> open;
  for (const ComparedCase& compared : cases)
    if (compared.comparison.agreement != Agreement::pass) open.push_back(&compared);
  const auto rank = [](const ComparedCase& it) {
    return std::pair(it.is_blocked(), std::abs(it.comparison.error));
  };
  std::stable_sort(open.begin(), open.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) > rank(*b); });
  std::vector<std::string> reasons;
  for (const ComparedCase* it : open)
    if (reasons.size() < kMost)
      reasons.push_back(fmt::format("{}: {}.", it->id, verdict_text(*it)));
  return reasons;
}

std::string to_table(const ComparisonReport& report) {
  std::string text = report.title + "\n";
  if (!report.stale.empty()) text += report.stale + "\n";
  for (const std::string& line : summary_of(report)) text += line + "\n";
  for (const std::string& line : reasons_of(report.cases)) text += line + "\n";
  if (report.cases.size() > kMostListed)
    text += "--format markdown lists every kernel, --format json has every number.\n";
  for (const auto& [title, table] : terminal_tables(report))
    text += fmt::format("\n{}\n\n{}", title, plain_text(table));
  text += "\n";
  for (const std::string& line : notes_of(report)) text += line + "\n";
  return text;
}

std::string to_markdown(const ComparisonReport& report) {
  std::string text = fmt::format("# {}\n", report.title);
  if (!report.stale.empty()) text += fmt::format("\n{}\n", report.stale);
  for (const std::string& line : summary_of(report)) text += "\n" + line + "\n";
  for (const auto& [title, table] : document_tables(report))
    text += fmt::format("\n## {}\n\n{}", title, markdown(table));
  for (const std::string& line : notes_of(report)) text += "\n" + line + "\n";
  return text;
}

}  // namespace depthcost
