// The ablations of AttnRes that attnres_single_pass runs.
#pragma once

#include "microbench/cases/attnres_cases.hpp"

namespace depthcost::bench {

/// H of arXiv:2603.15031v1 Table 4.
inline constexpr std::size_t kHeads = 16;

template <class T>
AttnResSinglePass<T> sigmoid_pass(const Shape& s, Operands& o) {
  AttnResSinglePass<T> op = single_pass<T>(s, o);
  op.variant.weighting = DepthWeighting::sigmoid;
  return op;
}

template <class T>
AttnResSinglePass<T> raw_keys_pass(const Shape& s, Operands& o) {
  AttnResSinglePass<T> op = single_pass<T>(s, o);
  op.variant.key_norm = KeyNorm::none;
  return op;
}

template <class T>
AttnResSinglePass<T> multihead_pass(const Shape& s, Operands& o) {
  AttnResSinglePass<T> op = single_pass<T>(s, o);
  op.variant.num_heads = kHeads;
  return op;
}

/// Each token has a query of its own, which a GEMM has computed before.
template <class T>
AttnResSinglePass<T> input_dependent_pass(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  AttnResSinglePass<T> op{.num_tokens = o.num_tokens(),
                          .hidden_size = d,
                          .num_bank_rows = s.num_blocks,
                          .num_bank_sources = s.num_blocks,
                          .bank = o.tensor<T>(s.num_blocks, d),
                          .partial_sum = o.tensor<T>(1, d),
                          .layer_output = o.tensor<T>(1, d),
                          .norm = next_norm(s, o),
                          .output = o.tensor<T>(1, d)};
  op.variant.token_queries = o.tensor<T>(1, d, unit_norm(d));
  return op;
}

/// Full AttnRes over a window: row 0 and the last n - 1 of 2 n - 1 bank rows, and the newest
/// output.
template <class T>
AttnResSinglePass<T> sliding_window_pass(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = 2 * s.num_blocks - 1;
  AttnResSinglePass<T> op{.num_tokens = o.num_tokens(),
                          .hidden_size = d,
                          .num_bank_rows = rows,
                          .num_bank_sources = rows,
                          .bank = o.tensor<T>(rows, d),
                          .partial_sum = o.tensor<T>(1, d),
                          .query = o.parameters(d, unit_norm(d)),
                          .norm = next_norm(s, o),
                          .output = o.tensor<T>(1, d)};
  op.variant.first_recent_row = s.num_blocks;
  return op;
}

}  // namespace depthcost::bench
