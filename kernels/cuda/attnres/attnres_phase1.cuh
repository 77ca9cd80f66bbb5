// Phase 1's variants; attnres_phase1.cu chooses.
#pragma once

#include "kernels/cuda/attnres/phase1_variants.hpp"
#include "kernels/cuda/launch.cuh"

namespace depthcost::cuda {

/// Sources of Phase 1: the bank's, and the one that closes the previous block.
template <class T, class O>
__host__ __device__ std::size_t num_sources(const AttnResPhase1<T, O>& op) {
  return op.num_bank_sources + (op.layer_output != nullptr ? 1 : 0);
}

template <class O>
void launch_phase1_tile(const AttnResPhase1<Bf16, O>& op, const TilePlan& plan,
                        const LaunchOptions& options);

}  // namespace depthcost::cuda
