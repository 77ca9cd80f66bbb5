// What is counted exactly: ledger, aggregation, parameters, operations.
#include "model/ledger.hpp"
#include "reports/json_sections.hpp"

namespace depthcost::sections {
namespace {

void append_rows(Json& rows, std::span<const LedgerRow> ledger) {
  for (const LedgerRow& row : ledger) {
    const auto layer = layer_of(row);
    Json json{{"scheme", name(row.path->scheme)},
              {"schedule", name(row.counting.schedule)},
              {"convention", name(row.counting.convention)},
              {"operation", operation_name(row)},
              {"layer", layer ? Json(*layer) : Json(nullptr)}};
    append(json, quantities_of(row));
    json["outside_domain"] = !inside_domain(*row.path, row.counting);
    rows.push_back(std::move(json));
  }
}

}  // namespace

Json ledger(const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  Json rows = Json::array();
  append_rows(rows, evaluation.ledger);
  append_rows(rows, layers);
  return rows;
}

Json aggregation(const Aggregation& aggregation) {
  return {{"sublayer_calls", aggregation.sublayer_calls},
          {"source_rows", aggregation.source_rows},
          {"max_sources", aggregation.max_sources},
          {"output_sources", aggregation.output_sources}};
}

Json parameters(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < evaluation.parameters.size(); ++i)
    rows.push_back({{"scheme", name(evaluation.paths[i].scheme)},
                    {"per_layer", number(evaluation.parameters[i].per_layer)},
                    {"total", number(evaluation.parameters[i].total)}});
  return rows;
}

Json flops(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (const SchemeFlops& row : evaluation.flops)
    rows.push_back({{"scheme", name(row.path->scheme)},
                    {"schedule", name(row.schedule)},
                    {"per_layer", number(row.per_layer.value)},
                    {"total", number(row.total.value)}});
  return rows;
}

}  // namespace depthcost::sections
