// The pieces that a framework's eager mode launches for Gated Residual.
#pragma once

#include "microbench/cases/gated_residual_cases.hpp"

namespace depthcost::bench {

template <class T>
UnfusedGatedNorm<T> unfused_gated_norm(const Shape& s, Operands& o) {
  const std::size_t size = s.num_streams * s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .streams = o.tensor<T>(1, size),
          .gain = o.weights<T>(size, {-0.5F, 0.5F}),
          .output = o.tensor<T>(1, size)};
}

/// With D.
template <class T>
UnfusedGateDown<T> unfused_gate_down(const Shape& s, Operands& o) {
  const std::size_t size = s.num_streams * s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .num_outputs = kGateRank,
          .input = o.tensor<T>(1, size),
          .weights = o.weights<T>(kGateRank * size, unit_norm(size)),
          .output = o.tensor<float>(1, kGateRank)};
}

template <class T>
UnfusedGateUp<T> unfused_gate_up(const Shape& s, Operands& o) {
  const std::size_t size = s.num_streams * s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .rank = kGateRank,
          .activation = o.tensor<float>(1, kGateRank),
          .up = o.weights<T>(size * kGateRank, unit_norm(kGateRank)),
          .output = o.tensor<T>(1, size)};
}

/// The sigmoid of the gates. The r + n other scalars of a token are few beside them.
template <class T>
UnfusedActivation<T> unfused_activation(const Shape& s, Operands& o) {
  const std::size_t size = s.num_streams * s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .input = o.tensor<T>(1, size),
          .output = o.tensor<T>(1, size)};
}

template <class T>
UnfusedGateProduct<T> unfused_gate_product(const Shape& s, Operands& o) {
  const std::size_t size = s.num_streams * s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .gates = o.tensor<T>(1, size),
          .input = o.tensor<T>(1, size),
          .output = o.tensor<T>(1, size)};
}

template <class T>
UnfusedStreamMean<T> unfused_stream_mean(const Shape& s, Operands& o) {
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .streams = o.tensor<T>(1, s.num_streams * s.hidden_size),
          .output = o.tensor<T>(1, s.hidden_size)};
}

}  // namespace depthcost::bench
