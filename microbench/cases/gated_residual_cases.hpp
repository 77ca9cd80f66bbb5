// Gated Residual: n residual streams a token, read through gates of rank r.
#pragma once

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

/// d and r of Qwen3.8-Flash-Next.
inline constexpr std::size_t kGatedWidth = 2560;
inline constexpr std::size_t kGateRank = 320;

/// In place, as a layer runs it.
template <class T>
GatedApplyDown<T> gated_apply_down(const Shape& s, Operands& o) {
  const std::size_t n = s.num_streams;
  const std::size_t size = n * s.hidden_size;
  T* streams = o.tensor<T>(1, size);
  float* inject = o.tensor<float>(1, n, kNearOne);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = n,
          .rank = kGateRank,
          .streams = streams,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .inject = inject,
          .gain = o.weights<T>(size, {-0.5F, 0.5F}),
          .down = o.weights<T>(kGateRank * size, unit_norm(size)),
          .inject_weights = o.weights<T>(n * size, unit_norm(size)),
          .next_streams = streams,
          .inverse_rms = o.tensor<float>(1, n),
          .activation = o.tensor<float>(1, kGateRank),
          .next_inject = inject};
}

template <class T>
GatedUpMix<T> gated_up_mix(const Shape& s, Operands& o) {
  const std::size_t n = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = n,
          .rank = kGateRank,
          .streams = o.tensor<T>(1, n * s.hidden_size),
          .inverse_rms = o.tensor<float>(1, n, kPositive),
          .gain = o.weights<T>(n * s.hidden_size, {-0.5F, 0.5F}),
          .up = o.weights<T>(n * s.hidden_size * kGateRank, unit_norm(kGateRank)),
          .activation = o.tensor<float>(1, kGateRank),
          .output = o.tensor<T>(1, s.hidden_size)};
}

}  // namespace depthcost::bench
