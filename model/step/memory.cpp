// Vectors per token that each scheme keeps, times the tokens of a device.
#include "model/step/memory.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "model/ledger/arithmetic.hpp"
#include "model/ledger/launches.hpp"
#include "model/schemes/scheme.hpp"
#include "model/step/weights_and_cache.hpp"

namespace depthcost {
namespace {

/// What a scheme keeps per token between two layers, in d-vectors.
struct State {
  MemoryItem item = MemoryItem::hidden_state;
  Count vectors = 0;
  Count embeddings = 0;      // b_0, kept beside them
  Count phase1_outputs = 0;  // of one block, under the two-phase schedule
};

/// The bank of attention over depth is counted without b_0, as in [attnres] Sec. 4.2.
State state_of(const ResidualPath& path) {
  const Count vectors = largest_state(path.scheme, path.num_layers);
  if (const Partition* blocks = blocks_of(path.scheme))
    return {MemoryItem::bank, vectors - 1, 1, largest_block(*blocks)};
  switch (path.scheme.rule->kind.state) {
    case StateKind::single_state:
      return {MemoryItem::hidden_state, vectors};
    case StateKind::multi_state:
      return {MemoryItem::streams, vectors};
    case StateKind::cross_layer:
      return {MemoryItem::bank, vectors};
  }
  return {};
}

/// Collects the rows of one path. What no workload changes is counted once.
class MemoryOfPath {
 public:
  MemoryOfPath(const Study& study, const ResidualPath& path)
      : study_(study),
        path_(path),
        state_(state_of(path)),
        scheme_weights_(largest_stage_share(study) * scheme_weights(study, path)) {
    if (study.model.architecture) weights_ = device_weights(study);
  }

  /// The residual path in `workload`, and the model's weights and cache beside it.
  void add(WorkloadId workload, const PrefillShape& shape) {
    add_path(workload, shape);
    if (weights_) add_rest(workload);
  }

  std::vector<MemoryRow> rows() && { return std::move(rows_); }

 private:
  void add_path(WorkloadId workload, const PrefillShape& shape) {
    const auto push = [&](MemoryItem item, Count vectors, Bytes bytes) {
      if (bytes.value > 0)
        rows_.push_back({workload, &path_, item, vectors, tokens_per_device(shape), bytes});
    };
    const auto push_vectors = [&](MemoryItem item, Count vectors) {
      push(item, vectors, bank_bytes(shape, vectors, study_.model.dtype));
    };
    push_vectors(state_.item, state_.vectors);
    push_vectors(MemoryItem::embedding, state_.embeddings);
    if (quoted_schedule(study_, path_) == Schedule::two_phase)
      push(MemoryItem::phase1_outputs, state_.phase1_outputs,
           phase1_bytes(shape, state_.phase1_outputs, study_.phase1_dtype));
    if (scheme_weights_.value > 0) push_rest(workload, MemoryItem::scheme_weights, scheme_weights_);
  }

  /// Weights, and the cache behind the pass.
  void add_rest(WorkloadId workload) {
    push_rest(workload, MemoryItem::weights, *weights_);
    push_rest(workload, MemoryItem::kv_cache,
              workload.kind == WorkloadKind::decode
                  ? decode_cache(study_, workload.sequences)
                  : device_cache(study_, 1, {as_double(study_.prefill->tokens)}));
  }

  void push_rest(WorkloadId workload, MemoryItem item, Bytes bytes) {
    rows_.push_back({.workload = workload, .path = &path_, .item = item, .bytes = bytes});
  }

  const Study& study_;
  const ResidualPath& path_;
  State state_;
  Bytes scheme_weights_;
  std::optional<Bytes> weights_;  // of the model; none without an architecture
  std::vector<MemoryRow> rows_;
};

/// A decode step holds the tokens that it runs through the layers.
PrefillShape decode_shape(const Study& study, Count sequences) {
  return {.num_tokens = tokens_of_step(*study.decode, sequences),
          .sequence_shards = residual_shards(study, WorkloadKind::decode),
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
  MemoryOfPath memory(study, path);
  if (study.decode)
    for (const Count sequences : study.decode->sequences)
      memory.add(WorkloadId::decode(sequences), decode_shape(study, sequences));
  if (study.prefill) memory.add(WorkloadId::prefill(), prefill_shape(study));
  return std::move(memory).rows();
}

Bytes memory_of(std::span<const MemoryRow> rows, WorkloadId workload, const Scheme& scheme) {
  Bytes sum;
  for (const MemoryRow& row : rows)
    if (row.workload == workload && same_scheme(row.path->scheme, scheme)) sum += row.bytes;
  return sum;
}

std::optional<NeededMemory> fullest_of(std::span<const MemoryRow> rows, const Scheme& scheme) {
  std::map<WorkloadId, Bytes> at_workload;
  for (const MemoryRow& row : rows)
    if (same_scheme(row.path->scheme, scheme)) at_workload[row.workload] += row.bytes;
  if (at_workload.empty()) return std::nullopt;
  const auto [workload, bytes] =
      *std::max_element(at_workload.begin(), at_workload.end(),
                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return NeededMemory{workload, bytes};
}

bool exceeds_memory(const Study& study, Bytes need) {
  return study.machine && study.machine->memory_capacity && need > *study.machine->memory_capacity;
}

bool is_too_large(const Study& study, std::span<const MemoryRow> rows, WorkloadId workload,
                  const Scheme& scheme) {
  return exceeds_memory(study, memory_of(rows, workload, scheme));
}

Bytes scheme_weights(const Study& study, const ResidualPath& path) {
  const VectorStorage types = storage_of(study);
  const double all = parameters(path, types.hidden_size).total;
  const double shards = as_double(path.scheme.parameters.weight_shards);
  double rows = 0;
  each_launch(path, shipped_schedule(path.scheme),
              [&](Count, const Operation& launch) { rows += launch.weights_d; });
  const double of_matrices = std::min(all, shards * rows * types.hidden_size);
  const double per_weight = types.bytes_per_weight.value_or(bytes_per_element(types.dtype));
  return Bytes{of_matrices / shards * per_weight} + storage(all - of_matrices, kParameterDtype);
}

PrefillMemory prefill_memory(const Study& study, const ResidualPath& path) {
  const State state = state_of(path);
  const PrefillShape shape = prefill_shape(study);
  const Dtype dtype = study.model.dtype;
  const Bytes with_embedding = bank_bytes(shape, state.vectors + state.embeddings, dtype);
  PrefillMemory memory{.bank = bank_bytes(shape, state.vectors, dtype),
                       .bank_with_embedding = with_embedding,
                       .phase1 = phase1_bytes(shape, state.phase1_outputs, study.phase1_dtype)};
  if (study.model.architecture) {
    const Bytes per_token = cache_per_token(study, static_cast<double>(study.prefill->tokens));
    if (per_token.value > 0) memory.cache_tokens = with_embedding / per_token;
  }
  return memory;
}

}  // namespace depthcost
