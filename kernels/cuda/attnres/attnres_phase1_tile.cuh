// A tile of Phase 1: some tokens with all their sources, of which each CTA of a cluster holds a
// part.
#pragma once

#include "kernels/cuda/attnres/attnres_phase1.cuh"
#include "kernels/cuda/primitives/projection.cuh"

namespace depthcost::cuda::phase1 {

/// A CTA's view of its tile.
template <class O>
struct Tile {
  const AttnResPhase1<Bf16, O>& op;
  const Phase1Layout& layout;
  RankPart part;
  std::size_t first_token;
  unsigned rank;
  unsigned num_ranks;

  __device__ Tile(const AttnResPhase1<Bf16, O>& phase1, const Phase1Layout& tile_layout)
      : op(phase1),
        layout(tile_layout),
        part(phase1.hidden_size, tile_layout.padded_size),
        first_token(std::size_t{blockIdx.x / cluster_size()} * tile_layout.num_tokens),
        rank(cluster_rank()),
        num_ranks(cluster_size()) {}

  __device__ float* floats(std::size_t at) const {
    return reinterpret_cast<float*>(shared_memory() + at);
  }
  __device__ Bf16* column(unsigned index) const {
    return reinterpret_cast<Bf16*>(shared_memory() + index * layout.column_bytes);
  }
  __device__ std::size_t token(unsigned index) const { return first_token + index; }
  __device__ bool has_token(unsigned index) const { return token(index) < op.num_tokens; }
  /// Element of a (T, d) buffer where this rank's part of the token begins.
  __device__ std::size_t at(unsigned index) const {
    return token(index) * op.hidden_size + part.begin;
  }
};

}  // namespace depthcost::cuda::phase1
