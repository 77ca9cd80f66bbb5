// What Block AttnRes must hold in device memory during prefill: the bank, sharded along the
// sequence and chunked, from [attnres] Sec. 4.2; and the Phase 1 outputs that wait for Phase 2,
// which the paper leaves out. What sharding sends.
#pragma once

#include <algorithm>
#include <optional>

#include "model/base/units.hpp"

namespace depthcost {

/// One sequence. A chunk is cut from the sequence first, then sharded.
struct PrefillShape {
  Count num_tokens = 1;
  std::optional<Count> chunk;  ///< tokens that are in flight at a time; all without a chunk
  Count sequence_shards = 1;   ///< devices that share one sequence
  Count hidden_size = 1;
};

/// Tokens on the fullest device.
///   ceil(min(T, chunk) / P)
/// [attnres] Sec. 4.2; the rounding and the minimum are [ours], for what does not divide.
constexpr Count tokens_per_device(const PrefillShape& shape) {
  const Count in_flight = std::min(shape.num_tokens, shape.chunk.value_or(shape.num_tokens));
  return divided_up(in_flight, shape.sequence_shards);
}

/// Bytes of a bank of `num_vectors` vectors a token on one device.
///   n ceil(min(T, chunk) / P) d
/// [attnres] Sec. 4.2, N (T/P) d elements. b_0 is needed too; the paper's N forgets it.
constexpr Bytes bank_bytes(const PrefillShape& shape, Count num_vectors, Dtype dtype) {
  const auto n = static_cast<double>(num_vectors);
  const auto T = static_cast<double>(tokens_per_device(shape));
  const auto d = static_cast<double>(shape.hidden_size);
  return storage(n * T * d, dtype);
}

/// Bytes of one block's Phase 1 outputs on one device: S unnormalised vectors with a maximum and a
/// sum.
///   S ceil(min(T, chunk) / P) (d elements + 2 scalars)
/// [ours], from [attnres] Algorithm 1, line 3. phase1_dtype may be wider than the bank's.
constexpr Bytes phase1_bytes(const PrefillShape& shape, Count block_size, Dtype phase1_dtype) {
  const double S = static_cast<double>(block_size);
  const double T = static_cast<double>(tokens_per_device(shape));
  const double d = static_cast<double>(shape.hidden_size);
  return storage(S * T * d, phase1_dtype) + Bytes{S * T * 2 * kBytesPerScalar};
}

}  // namespace depthcost
