// The shape of a case, and the ranges of the numbers that its operands hold.
#pragma once

#include <cmath>

#include "kernels/operations/operations.hpp"
#include "microbench/harness/filled_operands.hpp"
#include "model/machine/catalogue.hpp"
#include "profile/measured_shapes.hpp"

namespace depthcost::bench {

/// T, d, and what Kimi K3 or DeepSeek-V4 have of the rest.
struct Shape {
  std::size_t num_tokens = 0;                     // T
  std::size_t hidden_size = 0;                    // d
  std::size_t num_blocks{profile::kUsualBlocks};  // completed blocks with b_0: n
  std::size_t num_queries = 24;                   // S
  std::size_t num_streams = 4;                    // m
  // Slices of tokens, in whose order gradients of parameters are added up: enough for the threads
  // of a CPU, and few enough that their sums are little beside the rows. Those of phi are large.
  std::size_t num_slices = 32;
  std::size_t num_phi_slices = 8;
};

/// n of the shape's bank, m and S, as the catalogue counts them.
inline CallCounts counts_of(const Shape& s) {
  return {.num_sources = static_cast<Count>(s.num_blocks),
          .num_queries = static_cast<Count>(s.num_queries),
          .num_streams = static_cast<Count>(s.num_streams)};
}

/// The same, with the partial sum among the sources.
inline CallCounts all_sources_of(const Shape& s) {
  CallCounts counts = counts_of(s);
  ++counts.num_sources;
  return counts;
}

// Logits of a few units; residual streams that neither grow nor vanish from call to call.
inline Range unit_norm(std::size_t size) {
  const float bound = 1 / std::sqrt(static_cast<float>(size));
  return {-bound, bound};
}
inline Range mean_of(std::size_t count) {
  const float share = 1 / static_cast<float>(count);
  return {share, share};
}
inline constexpr Range kGain{0.5F, 1.5F};
inline constexpr Range kPositive{1, 2};
inline constexpr Range kNearOne{0.9F, 1.1F};

inline NextNorm next_norm(const Shape& s, Operands& o) {
  return {.gain = o.parameters(s.hidden_size, kGain)};
}

}  // namespace depthcost::bench
