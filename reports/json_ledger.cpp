// What is counted exactly: blocks, ledger, aggregation, parameters, operations.
#include "model/ledger/ledger.hpp"
#include "reports/json_sections.hpp"

namespace depthcost::sections {
namespace {

void append_ledger(JsonWriter& json, std::span<const LedgerRow> ledger) {
  append_rows(json, ledger, [&](const LedgerRow& row) {
    json.member("scheme", name(row.path->scheme));
    json.member("schedule", name(row.counting.schedule));
    json.member("convention", name(row.counting.convention));
    json.member("operation", operation_name(row));
    json.member("layer", layer_of(row));
    append(json, quantities_of(row));
    json.member("outside_domain", !inside_domain(*row.path, row.counting));
  });
}

}  // namespace

void partitions(JsonWriter& json, const Evaluation& evaluation) {
  json.array("partitions", [&] {
    for (const ResidualPath& path : evaluation.paths) {
      const Partition* blocks = blocks_of(path.scheme);
      if (blocks == nullptr) continue;
      json.object([&] {
        json.member("scheme", name(path.scheme));
        json.member("num_layers", blocks->num_layers);
        json.member("block_size", blocks->block_size);
        json.member("num_blocks", blocks->num_blocks);
        json.member("last_block_size", blocks->last_size);
      });
    }
  });
}

void ledger(JsonWriter& json, const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  json.array("ledger", [&] {
    append_ledger(json, evaluation.ledger);
    append_ledger(json, layers);
  });
}

void aggregation(JsonWriter& json, const Aggregation& aggregation) {
  json.object("aggregation", [&] {
    json.member("sublayer_calls", aggregation.sublayer_calls);
    json.member("source_rows", aggregation.source_rows);
    json.member("max_sources", aggregation.max_sources);
    json.member("output_sources", aggregation.output_sources);
  });
}

void parameters(JsonWriter& json, const Evaluation& evaluation) {
  json.array("parameters", [&] {
    for (std::size_t i = 0; i < evaluation.parameters.size(); ++i)
      json.object([&] {
        json.member("scheme", name(evaluation.paths[i].scheme));
        json.member("per_layer", evaluation.parameters[i].per_layer);
        json.member("total", evaluation.parameters[i].total);
      });
  });
}

void flops(JsonWriter& json, const Evaluation& evaluation) {
  json.array("flops", [&] {
    append_rows(json, evaluation.flops, [&](const SchemeFlops& row) {
      json.member("scheme", name(row.path->scheme));
      json.member("schedule", name(row.schedule));
      json.member("per_layer", row.per_layer.value);
      json.member("total", row.total.value);
    });
  });
}

}  // namespace depthcost::sections
