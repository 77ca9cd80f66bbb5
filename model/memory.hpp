// What the residual path holds in device memory, per scheme. Weights, KV cache and activations of
// the layers themselves are not counted here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/prefill.hpp"
#include "model/study.hpp"

namespace depthcost {

enum class MemoryItem : std::uint8_t { hidden_state, streams, bank, embedding, phase1_outputs };

std::string_view name(MemoryItem item);

/// One item in the memory of the fullest device.
struct MemoryRow {
  std::string workload;
  const ResidualPath* path = nullptr;
  MemoryItem item = MemoryItem::hidden_state;
  Count vectors = 0;  // d-vectors per token
  Count tokens = 0;   // on that device
  Bytes bytes;
};

/// The tokens that one device holds at a time.
PrefillShape prefill_shape(const Study& study);

/// Everything that `path` stores between layers, workload by workload; Phase 1 outputs where the
/// quoted schedule is two_phase.
std::vector<MemoryRow> memory_rows(const Study& study, const ResidualPath& path);

/// Bank, b_0 and Phase 1 outputs of the prefill workload, in one device's memory.
struct PrefillMemory {
  Bytes bank;
  Bytes bank_with_embedding;
  Bytes phase1;
};

/// For schemes without a bank `bank` is what they carry instead: one hidden state, or m streams.
PrefillMemory prefill_memory(const Study& study, const ResidualPath& path);

}  // namespace depthcost
