// The document as a whole, and how its numbers are represented.
#include "reports/json.hpp"

#include <cmath>

#include "reports/format.hpp"
#include "reports/json_sections.hpp"

namespace depthcost {
namespace sections {
namespace {

Json scenario(const Evaluation& evaluation, std::span<const ResolvedValue> resolved_values) {
  Json values = Json::object();
  for (const ResolvedValue& entry : resolved_values)
    values[entry.key] = {{"value", entry.value}, {"origin", entry.origin}};
  return {{"name", evaluation.study.name}, {"values", std::move(values)}};
}

}  // namespace

Json number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  if (is_exact_integer(*value)) return static_cast<Count>(*value);
  return round12(*value);
}

Json text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

Json budgets(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (const BudgetRow& row : evaluation.budgets) {
    const BudgetNumbers numbers = numbers_of(row);
    rows.push_back({{"name", name(row.budget.kind)},
                    {"need", number(numbers.limit)},
                    {"have_low", number(numbers.low)},
                    {"have_high", number(numbers.high)},
                    {"margin", number(numbers.margin)},
                    {"verdict", name(row.verdict)},
                    {"unit", unit_of(row.budget.kind)},
                    {"reason", text_or_null(row.reason)},
                    {"nearest", text_or_null(row.nearest)}});
  }
  return rows;
}

}  // namespace sections

nlohmann::ordered_json to_json(const Evaluation& evaluation,
                               std::span<const ResolvedValue> resolved_values,
                               const JsonOptions& options) {
  sections::Json json;
  json["schema_version"] = kJsonSchemaVersion;
  json["program_version"] = options.program_version;
  json["scenario"] = sections::scenario(evaluation, resolved_values);
  json["ledger"] = sections::ledger(evaluation, options.layers);
  json["aggregation"] = sections::aggregation(evaluation.aggregation);
  json["parameters"] = sections::parameters(evaluation);
  json["flops"] = sections::flops(evaluation);
  if (evaluation.pipeline) json["pipeline"] = sections::pipeline(evaluation);
  if (evaluation.study.prefill) json["prefill"] = sections::prefill(evaluation);
  json["memory"] = sections::memory(evaluation);
  json["time"] = sections::time(evaluation);
  json["step"] = sections::step(evaluation);
  json["budgets"] = sections::budgets(evaluation);
  return json;
}

}  // namespace depthcost
