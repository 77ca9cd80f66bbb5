// Residual adds: plain, with the next norm, scaled and gated.
#pragma once

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

template <class T>
ResidualAdd<T> residual_add(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {o.num_tokens(), d, o.tensor<T>(1, d), o.tensor<T>(1, d)};
}

template <class T>
ResidualAddRmsNorm<T> residual_add_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .hidden_state = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// LayerScale: a lambda for each element.
template <class T>
ScaledAddRmsNorm<T> scaled_add_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .hidden_state = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .num_scales = d,
          .scales = o.parameters(d, kNearOne),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

template <class T>
HighwayRmsNorm<T> highway_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .hidden_state = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .gate_logits = o.tensor<T>(1, d, {-4, 4}),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

}  // namespace depthcost::bench
