// What lies in device memory, per scheme: the residual path's own state, and weights and KV cache
// beside it where the model says what they are. Activations of the layers are counted in training
// alone: model/training/training_memory.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/step/prefill.hpp"
#include "model/step/study.hpp"

namespace depthcost {

enum class MemoryItem : std::uint8_t {
  hidden_state,
  streams,
  bank,
  embedding,
  phase1_outputs,
  weights,
  scheme_weights,  // of the residual scheme itself; ranks may share its matrices
  kv_cache,
  activations,        // of training: what backward passes of the residual path read
  pipeline_blocks,    // of training: received over the pipeline and kept
  gradients,          // of training: of weights
  optimizer_states,   // of training
  layer_activations,  // of training: what backward passes of the layers read
};

/// Whether it is d-vectors of tokens, or there whatever the tokens are.
constexpr bool is_vectors(MemoryItem item) {
  using enum MemoryItem;
  return item < weights || item == activations || item == pipeline_blocks;
}

/// One item in the memory of the fullest device.
struct MemoryRow {
  WorkloadId workload;
  const ResidualPath* path = nullptr;
  MemoryItem item = MemoryItem::hidden_state;
  Count vectors = 0;  // d-vectors per token; of residual items
  Count tokens = 0;   // on that device; of residual items
  Bytes bytes;
};

/// The tokens that one device holds at a time.
PrefillShape prefill_shape(const Study& study);

/// Everything that `path` stores between layers, workload by workload; Phase 1 outputs where the
/// quoted schedule is two_phase; its own weights; weights and KV cache where the model has an
/// architecture.
std::vector<MemoryRow> memory_rows(const Study& study, const ResidualPath& path);

/// What one workload keeps on the fullest device under a path: the sum of its rows.
Bytes memory_of(std::span<const MemoryRow> rows, WorkloadId workload, const Scheme& scheme);

/// What one workload keeps on the fullest device.
struct NeededMemory {
  WorkloadId workload;
  Bytes bytes;
};

/// The workload that keeps most under a scheme; nothing where no row is of it.
std::optional<NeededMemory> fullest_of(std::span<const MemoryRow> rows, const Scheme& scheme);

/// Whether so much is more than the device has; false where its capacity is not known.
bool exceeds_memory(const Study& study, Bytes need);

/// Whether a workload's rows are surely more than the device has. Without an architecture only the
/// residual path is counted: the rest would come on top.
bool is_too_large(const Study& study, std::span<const MemoryRow> rows, WorkloadId workload,
                  const Scheme& scheme);

/// Bank, b_0 and Phase 1 outputs of the prefill workload, in one device's memory.
struct PrefillMemory {
  Bytes bank;
  Bytes bank_with_embedding;
  Bytes phase1;
  std::optional<double> cache_tokens;  // for which the KV cache could use the bank with b_0
};

/// The scheme's own weights in all layers on one tensor rank: all of them, or its share of the
/// matrices. Matrices are stored in the model's type unless the study says another, coefficients
/// and small projections in f32. 0 where the paper leaves their number open.
Bytes scheme_weights(const Study& study, const ResidualPath& path);

/// For schemes without a bank `bank` is what they carry instead: one hidden state, or m streams.
PrefillMemory prefill_memory(const Study& study, const ResidualPath& path);

}  // namespace depthcost
