// Vectors per token that each scheme keeps, times the tokens of a device.
#include "model/memory.hpp"

namespace depthcost {
namespace {

/// What a scheme keeps per token between two layers, in d-vectors.
struct State {
  std::string item;
  Count vectors = 0;
  Count embeddings = 0;      // b_0, kept beside them
  Count phase1_outputs = 0;  // of one block, under the two-phase schedule
};

struct StateOf {
  State operator()(const Standard&) const { return {"hidden_state", 1}; }
  State operator()(const Mhc& scheme) const { return {"streams", scheme.num_streams}; }
  State operator()(const FullAttnRes& scheme) const {
    return {"bank", scheme.groups.num_layers, 1, largest_block(scheme.groups)};
  }
  State operator()(const BlockAttnRes& scheme) const {
    return {"bank", scheme.blocks.num_blocks, 1, largest_block(scheme.blocks)};
  }
};

void push_rows(std::vector<MemoryRow>& rows, const Study& study, const ResidualPath& path,
               const std::string& workload, const PrefillShape& shape) {
  const State state = std::visit(StateOf{}, path.scheme);
  const auto push = [&](const std::string& item, Bytes bytes) {
    if (bytes.value > 0) rows.push_back({workload, &path, item, bytes});
  };
  const Dtype dtype = study.model.dtype;
  push(state.item, bank_bytes(shape, state.vectors, BankEmbedding::omitted, dtype));
  push("embedding", bank_bytes(shape, state.embeddings, BankEmbedding::omitted, dtype));
  if (quoted_schedule(study, path) == Schedule::two_phase)
    push("phase1_outputs", phase1_bytes(shape, state.phase1_outputs, study.phase1_dtype));
}

/// A decode step holds one token of every sequence.
PrefillShape decode_shape(const Study& study, Count sequences) {
  const bool sharded = study.layout == Layout::sequence_sharded;
  return {.num_tokens = sequences,
          .sequence_shards = sharded ? study.tensor_parallel_size : 1,
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
    for (const Count sequences : study.decode->sequences)
      push_rows(rows, study, path, "decode/" + std::to_string(sequences),
                decode_shape(study, sequences));
  if (study.prefill) push_rows(rows, study, path, "prefill", prefill_shape(study));
  return rows;
}

PrefillMemory prefill_memory(const Study& study, const ResidualPath& path) {
  const State state = std::visit(StateOf{}, path.scheme);
  const PrefillShape shape = prefill_shape(study);
  const Dtype dtype = study.model.dtype;
  return {.bank = bank_bytes(shape, state.vectors, BankEmbedding::omitted, dtype),
          .bank_with_embedding =
              bank_bytes(shape, state.vectors + state.embeddings, BankEmbedding::omitted, dtype),
          .phase1 = phase1_bytes(shape, state.phase1_outputs, study.phase1_dtype)};
}

}  // namespace depthcost
