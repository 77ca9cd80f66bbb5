// The limit, the interval held against it, what is left and what is too much.
#include "reports/topics/budgets/budget_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace depthcost {
namespace budget_section {
namespace {

struct BudgetNumbers {
  std::optional<double> limit;  // none where the device's capacity is not known
  std::optional<double> low;    // none where nothing at all is known
  std::optional<double> high;
  std::optional<double> margin;
  std::optional<double> shortfall;
};

BudgetNumbers numbers_of(const BudgetRow& row) {
  BudgetNumbers numbers{row.budget.limit, row.low, row.high, margin(row), shortfall(row)};
  // `device_memory: fits` has no number of its own; the capacity replaces it where it is known.
  if (row.budget.kind == BudgetKind::device_memory && row.budget.limit == 0) numbers.limit.reset();
  return numbers;
}

/// What comes of a change, in the order of Kept.
using Outcomes = std::array<std::string_view, 3>;

/// Each change with what comes of it, after one another.
std::string joined(std::span<const Remedy> remedies, const Outcomes& outcomes) {
  std::vector<std::string> texts;
  for (const Remedy& remedy : remedies)
    texts.push_back(
        fmt::format("{}{}", remedy.change, outcomes.at(static_cast<std::size_t>(remedy.kept))));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string optional_text(BudgetKind kind, const std::optional<double>& value, Sign sign) {
  return value ? format_budget(kind, *value, sign) : std::string(kNothing);
}

/// "3.0 % [1.9, 5.0]" of an overhead, "[low, high]" of other numbers, or "at least low" where there
/// is no high end.
std::string have_text(const BudgetRow& row) {
  const BudgetKind kind = row.budget.kind;
  const BudgetNumbers numbers = numbers_of(row);
  if (row.middle && numbers.low && numbers.high)
    return format_ratio(Estimate<double>{*numbers.low, *row.middle, *numbers.high});
  if (!numbers.low) return std::string(kNothing);
  const std::string low = format_budget(kind, *numbers.low);
  if (!numbers.high) return "at least " + low;
  if (*numbers.low == *numbers.high) return low;
  return fmt::format("[{}, {}]", low, format_budget(kind, *numbers.high));
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  append_budgets(json, answer.evaluation.budgets);
}

void write_csv(CsvLines& csv, const Answer& answer) {
  const CsvPlace place{.section = "budgets"};
  for (const BudgetRow& row : answer.evaluation.budgets) {
    const BudgetNumbers numbers = numbers_of(row);
    const auto push = [&](std::string_view key, std::string_view value, std::string_view unit) {
      csv.add(place, fmt::format("{}.{}", name(row.budget.kind), key), value, unit);
    };
    const auto number = [&](std::string_view key, const std::optional<double>& value) {
      push(key, value ? number_text(*value) : "", unit_of(row.budget.kind));
    };
    number("need", numbers.limit);
    number("have_low", numbers.low);
    number("have_high", numbers.high);
    number("margin", numbers.margin);
    number("shortfall", numbers.shortfall);
    number("have_median", row.middle);
    push("verdict", name(row.verdict), "");
    push("fate", name(fate_of(row)), "");
  }
}

void explain(const Evaluation& e, Explanations& out) {
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : "unknown";
  };
  for (const BudgetRow& row : e.budgets) {
    const BudgetNumbers numbers = numbers_of(row);
    out.push_back(
        {.metric = explained::metric({"budgets", name(row.budget.kind)}),
         .formula =
             "pass if the high end keeps the limit, fail if the low end breaks it, else unknown",
         .source = "[ours] REFERENCES.md, budgets",
         .numbers = {fmt::format("limit {} {}, at least {}, at most {}: {}", text(numbers.limit),
                                 unit_of(row.budget.kind), text(numbers.low), text(numbers.high),
                                 name(row.verdict)),
                     row.reason.empty() ? "nothing is missing" : row.reason},
         .function = "model/decision/budget.cpp: budget_rows"});
  }
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.budgets.empty()) return;
  out.heading("Budgets");
  out.table(budget_table(e.budgets));
  for (const std::string& note : budget_notes(e.budgets)) out.bullet(note);
  out.end_list();
}

void write_table(std::string& text, const Answer& answer) {
  const std::vector<BudgetRow>& budgets = answer.evaluation.budgets;
  if (budgets.empty()) return;
  append_table(text, "Budgets", budget_table(budgets));
  for (const std::string& note : budget_notes(budgets)) text += note + "\n";
}

}  // namespace budget_section

using namespace budget_section;

std::string_view unit_of(BudgetKind kind) { return is_ratio(kind) ? "ratio" : "bytes"; }

std::string format_budget(BudgetKind kind, double value, Sign sign) {
  if (is_ratio(kind)) return format_ratio(value, sign);
  return format_bytes({value}, sign);
}

namespace {

/// "0.30": what a limit is exceeded by, without the unit of a per cent.
std::string excess_text(BudgetKind kind, double excess) {
  const std::string text = format_budget(kind, excess);
  return is_ratio(kind) ? text.substr(0, text.find(" %")) : text;
}

/// "0.30 to 3.6 points", or "up to 0.63 points" where only the high end is above the limit: a
/// difference of per cents is in points.
std::string over_text(const BudgetRow& row) {
  const BudgetKind kind = row.budget.kind;
  const BudgetNumbers numbers = numbers_of(row);
  const char* unit = is_ratio(kind) ? " points" : "";
  const auto excess = [&](double value) { return excess_text(kind, value - *numbers.limit); };
  if (row.verdict == Verdict::unknown && row.middle && row.high && *row.high > *numbers.limit)
    return fmt::format("up to {}{}", excess(*row.high), unit);
  if (row.verdict != Verdict::fail || !numbers.shortfall) return std::string(kNothing);
  const std::string least = excess_text(kind, *numbers.shortfall);
  if (!numbers.high || *numbers.high <= *numbers.low)
    return fmt::format("at least {}{}", least, unit);
  return fmt::format("{} to {}{}", least, excess(*numbers.high), unit);
}

}  // namespace

Table budget_table(std::span<const BudgetRow> budgets) {
  Table table{{"budget", right("limit"), right("predicted"), right("over by"), "verdict"}};
  for (const BudgetRow& row : budgets) {
    const BudgetKind kind = row.budget.kind;
    const BudgetNumbers numbers = numbers_of(row);
    table.add(name(kind), optional_text(kind, numbers.limit, Sign::minus_only), have_text(row),
              over_text(row), name(fate_of(row)));
  }
  return table;
}

std::string remedies_text(std::span<const Remedy> remedies) {
  return joined(remedies,
                {" would help, and is not enough", " would likely keep it", " would keep it"});
}

std::string remedies_list(std::span<const Remedy> remedies) {
  return joined(remedies, {" (not enough alone)", " (likely)", ""});
}

std::vector<std::string> budget_notes(std::span<const BudgetRow> budgets) {
  std::vector<std::string> notes;
  for (const BudgetRow& row : budgets)
    for (const std::string& note : {row.reason, remedies_text(row.remedies)})
      if (!note.empty()) notes.push_back(fmt::format("{}: {}", name(row.budget.kind), note));
  return notes;
}

void append_budgets(JsonWriter& json, std::span<const BudgetRow> budgets) {
  json.objects("budgets", budgets, [&](const BudgetRow& row) {
    const BudgetNumbers numbers = numbers_of(row);
    json.member("name", name(row.budget.kind));
    json.member("need", numbers.limit);
    json.member("have_low", numbers.low);
    json.member("have_high", numbers.high);
    json.member("have_median", row.middle);
    json.member("margin", numbers.margin);
    json.member("verdict", name(row.verdict));
    json.member("fate", name(fate_of(row)));
    json.member("unit", unit_of(row.budget.kind));
    json.text_or_null("reason", row.reason);
    json.text_or_null("nearest", remedies_text(row.remedies));
    json.member("shortfall", numbers.shortfall);
  });
}

}  // namespace depthcost
