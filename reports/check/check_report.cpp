// Text, JSON, and a summary that keeps within a size.
#include "reports/check/check_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/base/counted.hpp"
#include "reports/formats/markdown_text.hpp"
#include "reports/topics/budgets/budget_section.hpp"
#include "reports/topics/measured/published_section.hpp"

namespace depthcost {
namespace {

/// A gate, and how much it asks to be seen.
struct SummaryRow {
  int rank = 0;
  std::vector<std::string> cells;
};

constexpr std::array<std::string_view, 4> kRanks{"bad input", "fail", "unknown", "pass"};

/// What the ranks are called in a text; a device's memory that is too small is among the second.
constexpr std::array<std::string_view, 4> kRankWords{"bad input", "too much", "not sure", "OK"};

int rank_of(Verdict verdict) {
  return verdict == Verdict::fail ? 1 : verdict == Verdict::unknown ? 2 : 3;
}

/// Why, what would keep it, and warnings.
std::string notes_of(const BudgetRow& row, const CheckedScenario& scenario) {
  std::vector<std::string> notes{row.reason, remedies_text(row.remedies)};
  for (const BudgetMeasurement& nearest : scenario.nearest)
    if (nearest.kind == row.budget.kind && !nearest.measured.comparison.is_inside)
      notes.push_back(note_of(nearest));
  std::erase(notes, "");
  return fmt::format("{}", fmt::join(notes, "; "));
}

void append_measurements(JsonWriter& json, const CheckedScenario& scenario) {
  json.objects("nearest_measurements", scenario.nearest, [&](const BudgetMeasurement& nearest) {
    const Comparison& comparison = nearest.measured.comparison;
    json.member("budget", name(nearest.kind));
    json.member("scheme", nearest.scheme);
    json.member("workload", name(nearest.workload));
    json.member("case", nearest.measured.id);
    json.member("stack", nearest.measured.stacks.front().stack);
    json.member("measured_seconds", comparison.measured.value.value);
    json.member("predicted_seconds", comparison.predicted.value.value);
    json.member("low_seconds", comparison.predicted.low.value);
    json.member("high_seconds", comparison.predicted.high.value);
    json.member("inside", comparison.is_inside);
  });
}

std::vector<SummaryRow> summary_rows(const CheckReport& report) {
  std::vector<SummaryRow> rows;
  for (const CheckedScenario& scenario : report.scenarios) {
    if (scenario.refused)
      rows.push_back({0,
                      {escaped(scenario.file), "-", "-", "-", "-", std::string(kRanks[0]),
                       escaped(scenario.refused->message)}});
    const Table table = budget_table(scenario.budgets);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      std::vector<std::string> cells = table.rows[i];
      cells.front() = fmt::format("`{}`", cells.front());
      cells.insert(cells.begin(), escaped(scenario.file));
      cells.push_back(escaped(notes_of(scenario.budgets[i], scenario)));
      rows.push_back({rank_of(scenario.budgets[i].verdict), std::move(cells)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SummaryRow& a, const SummaryRow& b) { return a.rank < b.rank; });
  return rows;
}

/// "3 gates: 1 fail, 2 pass".
std::string counts_text(const std::vector<SummaryRow>& rows) {
  std::vector<std::string> parts;
  for (std::size_t rank = 0; rank < kRanks.size(); ++rank) {
    const auto count = std::count_if(rows.begin(), rows.end(), [&](const SummaryRow& row) {
      return row.rank == static_cast<int>(rank);
    });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, kRankWords[rank]));
  }
  return fmt::format("{}: {}", counted(static_cast<Count>(rows.size()), "gate", "gates"),
                     fmt::join(parts, ", "));
}

std::string_view verdict_of(const CheckedScenario& scenario) {
  int worst = 3;
  if (scenario.refused) worst = 0;
  for (const BudgetRow& row : scenario.budgets) worst = std::min(worst, rank_of(row.verdict));
  return kRanks[static_cast<std::size_t>(worst)];
}

/// Whether a budget may break, and nothing is red.
bool is_forgiven(const CheckedScenario& scenario, Unknowns unknowns) {
  return !is_red(scenario, unknowns) &&
         std::any_of(scenario.budgets.begin(), scenario.budgets.end(),
                     [](const BudgetRow& row) { return row.verdict == Verdict::unknown; });
}

/// ": does not fit". What does not fit comes before what is too much.
std::string word_after(const CheckedScenario& scenario) {
  constexpr std::array kWorstFirst{
      Fate::does_not_fit, Fate::too_much, Fate::likely_too_much, Fate::may_not_fit, Fate::unknown,
      Fate::likely_ok,    Fate::ok};
  for (const Fate fate : kWorstFirst)
    for (const BudgetRow& row : scenario.budgets)
      if (fate_of(row) == fate) return fmt::format(": {}", name(fate));
  return "";
}

/// What `evaluate` calls too much and nobody has made a gate.
std::string ungated_text(const BudgetRow& row) {
  const std::string_view kind = name(row.budget.kind);
  const std::string limit = format_budget(row.budget.kind, row.budget.limit);
  return fmt::format(
      "Not gated: {} is {}, and the paper's limit is {}. `budgets: {{{}: {}}}` makes it a gate.",
      kind, format_ratio({*row.low, *row.middle, *row.high, Evidence::assumed}), limit, kind,
      limit);
}

}  // namespace

std::string note_of(const BudgetMeasurement& nearest) {
  const Comparison& comparison = nearest.measured.comparison;
  const std::string measured = measurement_text(nearest.measured);
  const std::string predicted = format_seconds(comparison.predicted);
  if (comparison.is_inside)
    return fmt::format("nearest measured kernel: {}, inside the predicted {}", measured, predicted);
  return fmt::format(
      "warning: nearest measured kernel: {}, OUTSIDE the predicted {}: times of {} at {} may be as "
      "far off",
      measured, predicted, nearest.scheme, name(nearest.workload));
}

std::string to_table(const CheckReport& report) {
  std::string text;
  for (const CheckedScenario& scenario : report.scenarios) {
    if (scenario.refused) continue;
    text += fmt::format(
        "{}: {}{}{}\n\n", scenario.file, scenario.name, word_after(scenario),
        is_forgiven(scenario, report.unknowns) ? ". The check passes; with --strict it fails" : "");
    if (scenario.budgets.empty()) {
      text += "no budgets: nothing to check\n\n";
      continue;
    }
    text += plain_text(budget_table(scenario.budgets));
    std::vector<std::string> notes = budget_notes(scenario.budgets);
    for (const BudgetMeasurement& nearest : scenario.nearest)
      notes.push_back(fmt::format("{}: {}", name(nearest.kind), note_of(nearest)));
    for (const BudgetRow& row : scenario.ungated) notes.push_back(ungated_text(row));
    if (!notes.empty()) text += fmt::format("\n{}\n", fmt::join(notes, "\n"));
    text += "\n";
  }
  return text;
}

std::string to_json(const CheckReport& report, const std::string& program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("unknown_fails", report.unknowns == Unknowns::fail);
    json.objects("scenarios", report.scenarios, [&](const CheckedScenario& scenario) {
      json.member("file", scenario.file);
      json.text_or_null("name", scenario.name);
      const bool is_silent = scenario.budgets.empty() && !scenario.refused;
      json.text_or_null("verdict", is_silent ? "" : verdict_of(scenario));
      json.member("fails", scenario.refused.has_value() || is_red(scenario, report.unknowns));
      json.text_or_null("error", scenario.refused ? scenario.refused->message : "");
      append_budgets(json, scenario.budgets);
      json.objects("not_gated", scenario.ungated, [&](const BudgetRow& row) {
        json.member("budget", name(row.budget.kind));
        json.member("limit", row.budget.limit);
        json.member("low", *row.low);
        json.member("value", *row.middle);
        json.member("high", *row.high);
      });
      append_measurements(json, scenario);
    });
  });
}

std::string step_summary(const CheckReport& report, std::size_t max_bytes) {
  const std::vector<SummaryRow> rows = summary_rows(report);
  const std::string heading = fmt::format("### depthcost check: {}\n\n", counts_text(rows));
  Table table{{"scenario", "gate", right("limit"), right("predicted"), right("over by"), "verdict",
               "why, and what would keep it"}};
  const auto rest = [&](std::size_t written) {
    const std::size_t left = rows.size() - written;
    return left == 0 ? std::string("\n") : fmt::format("\nAnd {} more.\n\n", left);
  };
  std::string text = heading + markdown(table);
  if (text.size() + rest(0).size() > max_bytes) return "";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string line =
        markdown({table.columns, {rows[i].cells}}).substr(markdown(table).size());
    if (text.size() + line.size() + rest(i + 1).size() > max_bytes) return text + rest(i);
    text += line;
  }
  text += rest(rows.size());
  return text;
}

}  // namespace depthcost
