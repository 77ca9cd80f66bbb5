// What the kernels of Gated Residual have in common.
#pragma once

#include "kernels/cuda/gated_residual/gated_residual_variants.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/projection.cuh"

namespace depthcost::cuda {

__device__ inline float gate_sigmoid(float z) { return 1.0F / (1.0F + expf(-z)); }

/// The row of D, or of B behind those; null behind both.
template <class T>
__device__ const T* gate_row(const GatedApplyDown<T>& op, std::size_t row) {
  const std::size_t size = op.num_streams * op.hidden_size;
  if (row < op.rank) return op.down + row * size;
  row -= op.rank;
  const bool is_injected = op.next_inject != nullptr && row < op.num_streams;
  return is_injected ? op.inject_weights + row * size : nullptr;
}

/// Stores SiLU of a row of D, or twice the sigmoid of a row of B, of its product with vec(Xn).
template <class T>
__device__ void store_gate_row(const GatedApplyDown<T>& op, std::size_t token, std::size_t row,
                               float product) {
  const float z = product / static_cast<float>(op.num_streams);
  if (row < op.rank)
    op.activation[token * op.rank + row] = z * gate_sigmoid(z);
  else
    op.next_inject[token * op.num_streams + row - op.rank] = 2 * gate_sigmoid(z);
}

/// X o (1 + g) / rms, eight elements.
__device__ inline uint4 gate_normed(const uint4& stream, const uint4& gain, float factor) {
  float x[8];
  float g[8];
  unpack<Bf16>(stream, x);
  unpack<Bf16>(gain, g);
#pragma unroll
  for (unsigned e = 0; e < 8; ++e) x[e] *= fmaf(factor, g[e], factor);
  return pack<Bf16>(x);
}

void launch_gate_tile(const GatedApplyDown<Bf16>& op, const TilePlan& plan,
                      const LaunchOptions& options);
void launch_gate_split_rows(const GatedApplyDown<Bf16>& op, const LaunchOptions& options);
void launch_gate_held_mix(const GatedUpMix<Bf16>& op, const LaunchOptions& options);

}  // namespace depthcost::cuda
