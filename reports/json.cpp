// The document as a whole.
#include "reports/json.hpp"

#include "reports/claim_text.hpp"
#include "reports/format.hpp"
#include "reports/json_sections.hpp"

namespace depthcost {
namespace sections {
namespace {

void scenario(JsonWriter& json, const Evaluation& evaluation,
              std::span<const ResolvedValue> resolved_values) {
  json.object("scenario", [&] {
    json.member("name", evaluation.study.name);
    json.object("values", [&] {
      for (const ResolvedValue& entry : resolved_values) {
        json.object(entry.key, [&] {
          json.member("value", entry.value);
          json.member("origin", entry.origin);
        });
      }
    });
  });
}

}  // namespace

void budgets(JsonWriter& json, std::span<const BudgetRow> budgets) {
  json.array("budgets", [&] {
    append_rows(json, budgets, [&](const BudgetRow& row) {
      const BudgetNumbers numbers = numbers_of(row);
      json.member("name", name(row.budget.kind));
      json.member("need", numbers.limit);
      json.member("have_low", numbers.low);
      json.member("have_high", numbers.high);
      json.member("margin", numbers.margin);
      json.member("verdict", name(row.verdict));
      json.member("unit", unit_of(row.budget.kind));
      json.text_or_null("reason", row.reason);
      json.text_or_null("nearest", row.nearest);
      json.member("shortfall", numbers.shortfall);
    });
  });
}

void claims(JsonWriter& json, const Evaluation& evaluation) {
  json.array("claims", [&] {
    append_rows(json, evaluation.claims, [&](const ClaimRow& row) {
      json.member("text", evaluation.study.claim);
      json.member("name", name(row.budget));
      json.member("limit", row.limit);
      json.member("verdict", name(row.verdict));
      json.text_or_null("condition", claim_condition(row));
    });
  });
}

}  // namespace sections

std::string to_json(const Evaluation& evaluation, std::span<const ResolvedValue> resolved_values,
                    const JsonOptions& options) {
  JsonWriter json;
  json.object([&] {
    json.member("schema_version", kJsonSchemaVersion);
    json.member("program_version", options.program_version);
    sections::scenario(json, evaluation, resolved_values);
    sections::partitions(json, evaluation);
    sections::ledger(json, evaluation, options.layers);
    sections::aggregation(json, evaluation.aggregation);
    sections::parameters(json, evaluation);
    sections::flops(json, evaluation);
    if (evaluation.pipeline) sections::pipeline(json, *evaluation.pipeline);
    if (!evaluation.prefill.empty()) sections::prefill(json, evaluation);
    sections::training(json, evaluation);
    sections::memory(json, evaluation);
    sections::time(json, evaluation);
    sections::step(json, evaluation);
    sections::attachments(json, evaluation);
    sections::rest(json, evaluation);
    sections::budgets(json, evaluation.budgets);
    if (!evaluation.claims.empty()) sections::claims(json, evaluation);
  });
  return std::move(json).text();
}

}  // namespace depthcost
