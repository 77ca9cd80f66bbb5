// Vectors per token that each scheme keeps, times the tokens of a device.
#include "model/step/memory.hpp"

#include "model/schemes/mechanism.hpp"
#include "model/step/resident.hpp"

namespace depthcost {
namespace {

/// What a scheme keeps per token between two layers, in d-vectors.
struct State {
  MemoryItem item = MemoryItem::hidden_state;
  Count vectors = 0;
  Count embeddings = 0;      // b_0, kept beside them
  Count phase1_outputs = 0;  // of one block, under the two-phase schedule
};

struct StateOf {
  State operator()(const Standard&) const { return {MemoryItem::hidden_state, 1}; }
  State operator()(const Mhc& scheme) const { return {MemoryItem::streams, scheme.num_streams}; }
  State operator()(const FullAttnRes& scheme) const {
    return {MemoryItem::bank, scheme.groups.num_layers, 1, largest_block(scheme.groups)};
  }
  State operator()(const BlockAttnRes& scheme) const {
    return {MemoryItem::bank, scheme.blocks.num_blocks, 1, largest_block(scheme.blocks)};
  }
  State operator()(const MechanismScheme& scheme) const {
    const StateKind kind = scheme.mechanism->kind.state;
    const MemoryItem item = kind == StateKind::single_state  ? MemoryItem::hidden_state
                            : kind == StateKind::multi_state ? MemoryItem::streams
                                                             : MemoryItem::bank;
    return {item, largest_state(scheme)};
  }
};

void push_rows(std::vector<MemoryRow>& rows, const Study& study, const ResidualPath& path,
               const std::string& workload, const PrefillShape& shape) {
  const State state = std::visit(StateOf{}, path.scheme);
  const auto push = [&](MemoryItem item, Count vectors, Bytes bytes) {
    if (bytes.value > 0)
      rows.push_back({workload, &path, item, vectors, tokens_per_device(shape), bytes});
  };
  const auto push_vectors = [&](MemoryItem item, Count vectors) {
    push(item, vectors, bank_bytes(shape, vectors, BankEmbedding::omitted, study.model.dtype));
  };
  push_vectors(state.item, state.vectors);
  push_vectors(MemoryItem::embedding, state.embeddings);
  if (quoted_schedule(study, path) == Schedule::two_phase)
    push(MemoryItem::phase1_outputs, state.phase1_outputs,
         phase1_bytes(shape, state.phase1_outputs, study.phase1_dtype));
}

/// Weights and cache of `num_sequences` sequences behind a pass that ends at `tokens` tokens.
void push_rest(std::vector<MemoryRow>& rows, const Study& study, const ResidualPath& path,
               const std::string& workload, double num_sequences, double tokens) {
  if (!study.model.architecture) return;
  const auto push = [&](MemoryItem item, Bytes bytes) {
    rows.push_back({.workload = workload, .path = &path, .item = item, .bytes = bytes});
  };
  push(MemoryItem::weights, resident_weights(study));
  push(MemoryItem::kv_cache, resident_cache(study, num_sequences, tokens));
}

/// A decode step holds one token of every sequence.
PrefillShape decode_shape(const Study& study, Count sequences) {
  return {.num_tokens = sequences,
          .sequence_shards = residual_shards(study),
          .hidden_size = study.model.hidden_size};
}

}  // namespace

PrefillShape prefill_shape(const Study& study) {
  return {.num_tokens = study.prefill->tokens,
          .chunk = study.prefill->chunk,
          .sequence_shards = study.prefill->sequence_shards,
          .hidden_size = study.model.hidden_size};
}

std::vector<MemoryRow> memory_rows(const Study& study, const ResidualPath& path) {
  std::vector<MemoryRow> rows;
  if (study.decode)
    for (const Count sequences : study.decode->sequences) {
      const std::string workload = "decode/" + std::to_string(sequences);
      push_rows(rows, study, path, workload, decode_shape(study, sequences));
      push_rest(rows, study, path, workload, static_cast<double>(sequences),
                static_cast<double>(study.decode->context + 1));
    }
  if (study.prefill) {
    push_rows(rows, study, path, "prefill", prefill_shape(study));
    push_rest(rows, study, path, "prefill", 1, static_cast<double>(study.prefill->tokens));
  }
  return rows;
}

Bytes memory_of(std::span<const MemoryRow> rows, std::string_view workload, const Scheme& scheme) {
  Bytes sum;
  for (const MemoryRow& row : rows)
    if (row.workload == workload && same_scheme(row.path->scheme, scheme)) sum += row.bytes;
  return sum;
}

bool is_too_large(const Study& study, std::span<const MemoryRow> rows, std::string_view workload,
                  const Scheme& scheme) {
  if (!study.machine || !study.machine->memory_capacity || workload == "training") return false;
  return memory_of(rows, workload, scheme) > *study.machine->memory_capacity;
}

PrefillMemory prefill_memory(const Study& study, const ResidualPath& path) {
  const State state = std::visit(StateOf{}, path.scheme);
  const PrefillShape shape = prefill_shape(study);
  const Dtype dtype = study.model.dtype;
  const Bytes with_embedding =
      bank_bytes(shape, state.vectors + state.embeddings, BankEmbedding::omitted, dtype);
  PrefillMemory memory{.bank = bank_bytes(shape, state.vectors, BankEmbedding::omitted, dtype),
                       .bank_with_embedding = with_embedding,
                       .phase1 = phase1_bytes(shape, state.phase1_outputs, study.phase1_dtype)};
  if (study.model.architecture) {
    const Bytes per_token = cache_per_token(study, static_cast<double>(study.prefill->tokens));
    if (per_token.value > 0) memory.cache_tokens = with_embedding / per_token;
  }
  return memory;
}

}  // namespace depthcost
