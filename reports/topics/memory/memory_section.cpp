// Weights, KV cache and the residual path's vectors.
#include "reports/topics/memory/memory_section.hpp"

#include <fmt/format.h>

#include "model/step/weights_and_cache.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace memory_section {
namespace {

using explained::letters;
using explained::metric;

/// What a device holds at one workload point.
struct Holding {
  Bytes weights;
  Bytes cache;
  Bytes phase1;
  Bytes state;  // the rest of the residual path: its vectors, and the scheme's own weights
  Bytes all() const { return weights + cache + phase1 + state; }
};

Bytes& place_of(Holding& holding, MemoryItem item) {
  switch (item) {
    case MemoryItem::weights:
      return holding.weights;
    case MemoryItem::kv_cache:
      return holding.cache;
    case MemoryItem::phase1_outputs:
      return holding.phase1;
    default:
      return holding.state;
  }
}

/// By workload point, in order.
std::vector<std::pair<WorkloadId, Holding>> holdings_of(const Study& study) {
  std::vector<std::pair<WorkloadId, Holding>> holdings;
  for (const MemoryRow& row : memory_rows(study, study.path)) {
    if (holdings.empty() || holdings.back().first != row.workload)
      holdings.push_back({row.workload, {}});
    Bytes& place = place_of(holdings.back().second, row.item);
    place = place + row.bytes;
  }
  return holdings;
}

std::vector<std::string> holding_cells(const Study& study, const std::string& what,
                                       const Holding& holding) {
  const auto text = [](Bytes bytes) {
    return bytes.value > 0 ? format_bytes(bytes) : std::string(kNothing);
  };
  const bool has_capacity = study.machine && study.machine->memory_capacity;
  return {what,
          text(holding.weights),
          text(holding.cache),
          text(holding.state + holding.phase1),
          text(holding.all()),
          has_capacity ? format_ratio(holding.all() / *study.machine->memory_capacity)
                       : std::string(kNothing)};
}

/// The other way to hold a prefill's sequence: on every rank if it is sharded, else over the ranks
/// that are there. Nothing where there is one rank.
std::optional<Study> other_sharding(const Study& study) {
  if (!study.prefill) return std::nullopt;
  Study other = study;
  other.decode.reset();
  Count& shards = other.prefill->sequence_shards;
  shards = shards > 1 ? 1 : study.tensor_parallel_size;
  if (shards == study.prefill->sequence_shards) return std::nullopt;
  return other;
}

std::string sharding_text(const Study& study) {
  const Count shards = study.prefill->sequence_shards;
  return shards == 1 ? "prefill, not sharded" : fmt::format("prefill, {} shards", shards);
}

std::string capacity_text(const Study& study) {
  std::string text = fmt::format("What `{}` keeps on the fullest device at each workload point",
                                 name(study.path.scheme));
  text += study.model.architecture
              ? ", with weights and KV cache. Activations of the layers are not counted."
              : "; weights and KV cache are not counted, since the model has no `attention` and "
                "`mlp`.";
  if (study.machine && study.machine->memory_capacity)
    text += fmt::format(" The device has {}.", format_bytes(*study.machine->memory_capacity));
  if (study.prefill)
    text +=
        " A prefill holds the KV cache of one whole sequence, and the residual path's vectors "
        "of one chunk.";
  const Bytes own = largest_stage_share(study) * scheme_weights(study, study.path);
  if (own.value > 0)
    text += fmt::format(
        " The scheme's own weights are {} of the residual path; {}.", format_bytes(own),
        study.path.scheme.parameters.weight_shards > 1 ? "tensor ranks share the matrices"
                                                       : "every tensor rank has them all");
  return text;
}

std::string memory_metric(const MemoryRow& row) {
  return metric({"memory", name(row.workload), name(row.path->scheme), name(row.item)});
}

Explanation residual_memory(const Evaluation& e, const MemoryRow& row) {
  const bool is_phase1 = row.item == MemoryItem::phase1_outputs;
  const Dtype dtype = is_phase1 ? e.study.phase1_dtype : e.study.model.dtype;
  return {.metric = memory_metric(row),
          .formula = is_phase1 ? "v T (d elements + 2 scalars), v = S queries of the longest block"
                               : "v T d elements, v = 1 hidden state or b_0, m streams, N blocks "
                                 "(Full: L layers)",
          .source = "[ours] from [attnres] Sec. 4.2 and Algorithm 1",
          .numbers = {letters(*row.path),
                      fmt::format("v = {}, T = {} on one device, d = {}, {}", row.vectors,
                                  row.tokens, e.study.model.hidden_size, name(dtype)),
                      fmt::format("= {:.12g} bytes", row.bytes.value)},
          .function = fmt::format("model/step/memory.cpp: memory_rows; model/step/prefill.hpp: {}",
                                  is_phase1 ? "phase1_bytes" : "bank_bytes")};
}

/// Weights and KV cache.
Explanation rest_memory(const Evaluation& e, const MemoryRow& row) {
  const Study& study = e.study;
  const bool is_weights = row.item == MemoryItem::weights;
  return {.metric = memory_metric(row),
          .formula = is_weights
                         ? "layers of the fullest stage x (attention / tensor + common MLP / "
                           "tensor + experts of one rank), with embedding and head"
                         : "layers of the fullest stage x sequences x (cached elements of "
                           "the fullest rank / context ranks + recurrent state)",
          .source = "[ours] REFERENCES.md, memory of the rest",
          .numbers = {fmt::format("tensor {}, expert {}, context {}, share of layers {:.6g}",
                                  study.tensor_parallel_size, study.expert_parallel_size,
                                  study.context_parallel_size, largest_stage_share(study)),
                      fmt::format("= {:.12g} bytes", row.bytes.value)},
          .function = is_weights ? "model/step/weights_and_cache.cpp: device_weights"
                                 : "model/step/weights_and_cache.cpp: device_cache"};
}

Explanation scheme_weights_memory(const Evaluation& e, const MemoryRow& row) {
  return {.metric = memory_metric(row),
          .formula = "share of layers x (matrices in the model's type + other weights in f32)",
          .source = std::string(row.path->scheme.rule->source),
          .numbers = {letters(*row.path),
                      fmt::format("share of layers {:.6g}, every tensor rank",
                                  largest_stage_share(e.study)),
                      fmt::format("= {:.12g} bytes", row.bytes.value)},
          .function = "model/step/memory.cpp: scheme_weights"};
}

Explanation explained_memory(const Evaluation& e, const MemoryRow& row) {
  if (row.item == MemoryItem::scheme_weights) return scheme_weights_memory(e, row);
  return is_vectors(row.item) ? residual_memory(e, row) : rest_memory(e, row);
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  json.objects("memory", answer.evaluation.memory, [&](const MemoryRow& row) {
    json.member("workload", name(row.workload));
    json.member("scheme", name(row.path->scheme));
    json.member("item", name(row.item));
    json.member("bytes_per_device", row.bytes.value);
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  for (const MemoryRow& row : answer.evaluation.memory)
    csv.add({.section = "memory", .workload = row.workload, .scheme = name(row.path->scheme)},
            {name(row.item), row.bytes.value, "bytes"});
}

void explain(const Evaluation& e, Explanations& out) {
  for (const MemoryRow& row : e.memory)
    if (row.workload.kind == WorkloadKind::training)
      out.push_back(training_section::explain_memory(e, row));
    else
      out.push_back(explained_memory(e, row));
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.study.decode && !e.study.prefill) return;
  out.heading("Memory of a device");
  out.paragraph(capacity_text(e.study));
  out.table(memory_table(e));
}

void write_table(std::string& text, const Answer& answer) {
  const Study& study = answer.evaluation.study;
  if (study.decode || study.prefill)
    append_table(text, "Memory of the fullest device", memory_table(answer.evaluation));
}

}  // namespace memory_section

using namespace memory_section;

Table memory_table(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  Table table{{"workload", right("weights"), right("KV cache"), right("residual path"),
               right("all"), right("of capacity")}};
  const auto other = other_sharding(study);
  for (const auto& [workload, holding] : holdings_of(study))
    table.rows.push_back(holding_cells(
        study,
        other && workload.kind == WorkloadKind::prefill ? sharding_text(study) : name(workload),
        holding));
  if (other)
    for (const auto& [workload, holding] : holdings_of(*other))
      table.rows.push_back(holding_cells(study, sharding_text(*other), holding));
  return table;
}

}  // namespace depthcost
