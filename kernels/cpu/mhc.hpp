// What the mHC kernels share that does not depend on the SIMD target.
#pragma once

#include <cstddef>

#include "kernels/operations.hpp"

namespace depthcost::cpu {

/// Tokens that share each chunk of phi: enough that phi costs less traffic than the streams. [ours]
inline constexpr std::size_t kMhcTokens = 96;

/// Columns of a chunk, of each stream. [ours]
inline constexpr std::size_t kMhcColumns = 128;

/// Tokens of a tile whose chunks are widened at a time, and are in L1 when they meet phi. [ours]
inline constexpr std::size_t kMhcRows = 8;

/// Where coefficients go. H_pre of token t is row `t - first token of the tile + first_pre_token`.
struct MhcOutputs {
  float* pre = nullptr;
  std::size_t first_pre_token = 0;
  float* post = nullptr;
  float* residual = nullptr;
};

/// The mhc_pre that a boundary ends with, on the streams that its mhc_post has stored.
template <class T>
MhcPre<T> next_pre(const MhcBoundary<T>& op) {
  return {.num_tokens = op.post.num_tokens,
          .hidden_size = op.post.hidden_size,
          .num_streams = op.post.num_streams,
          .streams = op.post.next_streams,
          .mapping = op.mapping,
          .norm = op.norm,
          .output = op.output,
          .post = op.next_post,
          .residual = op.next_residual};
}

}  // namespace depthcost::cpu
