// DenseFormer: a weighted sum over depth with constant weights.
#pragma once

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

/// Mixes n bank rows and f; writes only x.
template <class T>
DenseMix<T> dense_mix(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t n = s.num_blocks;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = n,
          .num_bank_sources = n,
          .bank = o.tensor<T>(n, d),
          .layer_output = o.tensor<T>(1, d),
          .weights = o.parameters(n + 1, mean_of(n + 1)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// DenseFormer after a Transformer block.
template <class T>
DenseMix<T> dense_stream_mix(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t n = s.num_blocks;
  T* hidden_state = o.tensor<T>(1, d);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = n + 1,
          .num_bank_sources = n,
          .bank = o.tensor<T>(n + 1, d),
          .hidden_state = hidden_state,
          .layer_output = o.tensor<T>(1, d),
          .bank_row = n,
          .weights = o.parameters(n + 1, mean_of(n + 1)),
          .norm = next_norm(s, o),
          .mixed = hidden_state,
          .output = o.tensor<T>(1, d)};
}

}  // namespace depthcost::bench
