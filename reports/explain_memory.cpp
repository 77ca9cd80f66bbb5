// What is sent and what is stored: pipeline, prefill, memory by workload.
#include <fmt/format.h>

#include "model/step/resident.hpp"
#include "reports/explain_sections.hpp"

namespace depthcost::explained {
namespace {

std::string shape_text(const PipelineLayout& layout) {
  return fmt::format("P = {}, V = {}, C = {}", layout.num_stages, layout.num_virtual_stages,
                     layout.num_stages * layout.num_virtual_stages);
}

std::string by_transition(const PipelineTraffic& traffic) {
  std::vector<Count> vectors;
  for (const Transition& t : traffic.transitions) vectors.push_back(t.vectors);
  return fmt::format("by transition: {}; {} in all, {} at most", fmt::join(vectors, " "),
                     traffic.total, traffic.peak);
}

/// Eq. 7 and 8 know no partial block: N_p is a ratio.
void formulas(const Evaluation& e, Explanations& out) {
  const PipelineAnswer& p = *e.pipeline;
  const PipelineLayout& layout = *e.study.pipeline;
  const Partition& blocks = *blocks_of(e.study.path.scheme);
  const auto chunks = static_cast<double>(layout.num_stages * layout.num_virtual_stages);
  const std::string shape =
      fmt::format("{}, N = {}, N_p = N / C = {:.6g}", shape_text(layout), blocks.num_blocks,
                  static_cast<double>(blocks.num_blocks) / chunks);
  out.push_back({.metric = "pipeline.formula.naive_d",
                 .formula = "C (C - 1) / 2 N_p, N_p = N / C",
                 .source = "[attnres] Eq. 7",
                 .numbers = {shape, fmt::format("= {:.6g} d-vectors a token", p.naive_d)},
                 .function = "model/pipeline/pipeline.hpp: naive_traffic"});
  out.push_back({.metric = "pipeline.formula.cached_d",
                 .formula = "(P (P - 1) / 2 + (V - 1) P^2) N_p",
                 .source = "[attnres] Eq. 8",
                 .numbers = {shape, fmt::format("= {:.6g} d-vectors a token", p.cached_d)},
                 .function = "model/pipeline/pipeline.hpp: cached_traffic"});
}

void events(const Evaluation& e, Explanations& out) {
  for (const PipelineRun& run : e.pipeline->events)
    out.push_back(
        {.metric = metric({"pipeline.events", name(run.payload.cache), name(run.payload.embedding),
                           name(run.payload.partial)}),
         .formula = "each transition: completed blocks that the stage does not hold, b_0 if sent, "
                    "the unfinished partial sum if sent",
         .source = "[attnres] Sec. 4.1, Fig. 3, enumerated",
         .numbers = {shape_text(*e.study.pipeline), letters(e.study.path),
                     fmt::format("cache {}, b_0 {}, partial sum {}", name(run.payload.cache),
                                 name(run.payload.embedding), name(run.payload.partial)),
                     by_transition(run.traffic)},
         .function = "model/pipeline/pipeline.hpp: pipeline_traffic"});
}

void stages(const Evaluation& e, Explanations& out) {
  const auto push = [&](const std::string& name, const std::string& formula,
                        const std::vector<Count>& vectors) {
    if (vectors.empty()) return;
    out.push_back({.metric = "pipeline." + name + "_d",
                   .formula = formula,
                   .source = "[attnres] Sec. 4.1, enumerated",
                   .numbers = {shape_text(*e.study.pipeline),
                               fmt::format("by stage: {}", fmt::join(vectors, " "))},
                   .function = "model/pipeline/pipeline.hpp: " + name});
  };
  push("cached_blocks_per_stage", "each block once: the history on entry of the last chunk, b_0 in",
       e.pipeline->cached_blocks_per_stage);
  push("uncached_copies_per_stage", "sum over the stage's chunks of the history on entry, b_0 in",
       e.pipeline->uncached_copies_per_stage);
}

/// What the three numbers of the prefill table are made of.
void prefill_rows(const Evaluation& e, const std::string& prefix, const ResidualPath& path,
                  const PrefillMemory& memory, Explanations& out) {
  const PrefillShape shape = prefill_shape(e.study);
  const std::string tokens =
      fmt::format("ceil(min({}, {}) / {}) = {} tokens a device", shape.num_tokens,
                  shape.chunk ? std::to_string(*shape.chunk) : "no chunk", shape.sequence_shards,
                  tokens_per_device(shape));
  const auto add = [&](const std::string& name, const std::string& formula,
                       const std::string& source, Bytes bytes, Dtype dtype,
                       const std::string& function) {
    out.push_back(
        {.metric = prefix + name,
         .formula = formula,
         .source = source,
         .numbers = {letters(path), tokens,
                     fmt::format("d = {}, {}", e.study.model.hidden_size, depthcost::name(dtype)),
                     fmt::format("= {:.12g} bytes", bytes.value)},
         .function = "model/step/prefill.hpp: " + function});
  };
  const Dtype dtype = e.study.model.dtype;
  add("bank_bytes_per_device",
      "v ceil(min(T, chunk) / P) d elements; v = N for Block, L for Full, m for mHC, 1 standard",
      "[attnres] Sec. 4.2", memory.bank, dtype, "bank_bytes");
  add("bank_with_embedding_bytes_per_device",
      "(v + 1) ceil(min(T, chunk) / P) d elements where there is a bank",
      "[attnres] Sec. 4.2, and b_0, which it leaves out", memory.bank_with_embedding, dtype,
      "bank_bytes");
  add("phase1_bytes_per_device",
      "s ceil(min(T, chunk) / P) (d elements + 2 scalars), s = layers of the longest block",
      "[ours] from [attnres] Algorithm 1, line 3", memory.phase1, e.study.phase1_dtype,
      "phase1_bytes");
  if (!memory.cache_tokens) return;
  const Bytes per_token = cache_per_token(e.study, static_cast<double>(e.study.prefill->tokens));
  out.push_back({.metric = prefix + "cache_tokens",
                 .formula = "bank with b_0 / bytes by which one more token of the sequence makes "
                            "the KV cache of the fullest device grow",
                 .source = "[ours] REFERENCES.md, memory of the rest",
                 .numbers = {fmt::format("{:.12g} / {:.12g} = {:.6g} tokens",
                                         memory.bank_with_embedding.value, per_token.value,
                                         *memory.cache_tokens)},
                 .function = "model/step/memory.cpp: prefill_memory; model/step/resident.cpp: "
                             "cache_per_token"});
}

std::string memory_metric(const MemoryRow& row) {
  return metric({"memory", row.workload, name(row.path->scheme), name(row.item)});
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
          .function = is_weights ? "model/step/resident.cpp: resident_weights"
                                 : "model/step/resident.cpp: resident_cache"};
}

}  // namespace

void pipeline(const Evaluation& e, Explanations& out) {
  if (!e.pipeline) return;
  if (!e.pipeline->events.empty()) formulas(e, out);
  events(e, out);
  for (const SchemePayload& row : e.pipeline->by_scheme)
    out.push_back(
        {.metric = metric({"pipeline.by_scheme", name(row.path->scheme)}),
         .formula = "standard 1, mHC m, AttnRes: completed blocks, b_0, and the unfinished partial "
                    "sum at each transition",
         .source = "[attnres] Sec. 4.1, Fig. 3, enumerated",
         .numbers = {shape_text(*e.study.pipeline), letters(*row.path),
                     "naive, " + by_transition(row.naive),
                     "cache 'received', " + by_transition(row.cached)},
         .function = "model/pipeline/pipeline.hpp: pipeline_traffic"});
  stages(e, out);
}

void prefill(const Evaluation& e, Explanations& out) {
  if (e.prefill.empty()) return;
  prefill_rows(e, "prefill.", e.study.path, e.prefill.front(), out);
  for (std::size_t i = 0; i < e.prefill.size(); ++i)
    prefill_rows(e, metric({"prefill.by_scheme", name(e.paths[i].scheme), ""}), e.paths[i],
                 e.prefill[i], out);
}

void memory(const Evaluation& e, Explanations& out) {
  for (const MemoryRow& row : e.memory)
    if (row.workload == "training")
      out.push_back(training_memory(e, row));
    else
      out.push_back(is_residual(row.item) ? residual_memory(e, row) : rest_memory(e, row));
}

}  // namespace depthcost::explained
