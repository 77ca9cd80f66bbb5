// Budgets and what became of them, in every format.
#pragma once

#include "reports/formats/numbers.hpp"
#include "reports/section/section.hpp"

namespace depthcost {

/// What the limit of a budget counts: "ratio" or "bytes".
std::string_view unit_of(BudgetKind kind);

/// A limit, or what is held against it: "2.0 %" or "2.500 GB".
std::string format_budget(BudgetKind kind, double value, Sign sign = Sign::minus_only);

/// `need` is the limit, `have` the predicted interval, `shortfall` what the low end exceeds the
/// limit by, `margin` what the high end leaves.
Table budget_table(std::span<const BudgetRow> budgets);

/// "schedule two_phase would keep it; block_size 8 would keep it".
std::string remedies_text(std::span<const Remedy> remedies);

/// The same behind "What would help:": "schedule two_phase (likely); block_size 8".
std::string remedies_list(std::span<const Remedy> remedies);

/// "NAME: why it is unknown" and "NAME: what would keep it", for budgets that have either.
std::vector<std::string> budget_notes(std::span<const BudgetRow> budgets);

/// The member "budgets".
void append_budgets(JsonWriter& json, std::span<const BudgetRow> budgets);

namespace budget_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

}  // namespace budget_section
}  // namespace depthcost
