// The parts of the JSON, one function each. Internal to reports/json*.cpp.
#pragma once

#include <span>

#include "model/evaluation/evaluation.hpp"
#include "reports/json_writer.hpp"
#include "reports/quantities.hpp"

namespace depthcost::sections {

template <std::size_t N>
void append(JsonWriter& json, const std::array<NamedQuantity, N>& quantities) {
  for (const NamedQuantity& quantity : quantities) json.member(quantity.key, quantity.value);
}

/// `row(element)` writes the members of one object.
template <class Rows, class Row>
void append_rows(JsonWriter& json, const Rows& rows, const Row& row) {
  for (const auto& element : rows) json.object([&] { row(element); });
}

void ledger(JsonWriter& json, const Evaluation& evaluation, std::span<const LedgerRow> layers);
void partitions(JsonWriter& json, const Evaluation& evaluation);
void aggregation(JsonWriter& json, const Aggregation& aggregation);
void parameters(JsonWriter& json, const Evaluation& evaluation);
void flops(JsonWriter& json, const Evaluation& evaluation);
void pipeline(JsonWriter& json, const PipelineAnswer& pipeline);
void prefill(JsonWriter& json, const Evaluation& evaluation);
void memory(JsonWriter& json, const Evaluation& evaluation);
void time(JsonWriter& json, const Evaluation& evaluation);
void step(JsonWriter& json, const Evaluation& evaluation);
void training(JsonWriter& json, const Evaluation& evaluation);
void attachments(JsonWriter& json, const Evaluation& evaluation);
void rest(JsonWriter& json, const Evaluation& evaluation);
void budgets(JsonWriter& json, std::span<const BudgetRow> budgets);
void claims(JsonWriter& json, const Evaluation& evaluation);

}  // namespace depthcost::sections
