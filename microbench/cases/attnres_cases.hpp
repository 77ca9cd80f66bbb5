// Operations of Attention Residuals.
#pragma once

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

/// Mixes n + 1 finished sources. Nothing is added, and there is no norm.
template <class T>
AttnResSinglePass<T> single_pass_bare(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks + 1,
          .num_bank_sources = s.num_blocks + 1,
          .bank = o.tensor<T>(s.num_blocks + 1, d),
          .query = o.parameters(d, unit_norm(d)),
          .output = o.tensor<T>(1, d)};
}

/// Adds f to b, mixes it with n bank rows, and norms.
template <class T>
AttnResSinglePass<T> single_pass(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks,
          .num_bank_sources = s.num_blocks,
          .bank = o.tensor<T>(s.num_blocks, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .query = o.parameters(d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// As single_pass, but closes a block: b + f goes to row n of the bank.
template <class T>
AttnResSinglePass<T> single_pass_closing(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks + 1,
          .num_bank_sources = s.num_blocks,
          .bank = o.tensor<T>(s.num_blocks + 1, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .store = SumStore::bank_row,
          .bank_row = s.num_blocks,
          .query = o.parameters(d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// Closes block n - 1, then computes S queries over n sources.
template <class T>
AttnResPhase1<T, T> phase1(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t stored = s.num_queries - 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks,
          .num_bank_sources = s.num_blocks - 1,
          .num_queries = s.num_queries,
          .bank = o.tensor<T>(s.num_blocks, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .bank_row = s.num_blocks - 1,
          .queries = o.parameters(s.num_queries * d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d),
          .outputs = o.tensor<T>(stored, d),
          .maxima = o.tensor<float>(stored, 1),
          .sums = o.tensor<float>(stored, 1)};
}

template <class T>
AttnResPhase2<T, T> phase2(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .phase1_output = o.tensor<T>(1, d),
          .maximum = o.tensor<float>(1, 1),
          .sum = o.tensor<float>(1, 1, kPositive),
          .query = o.parameters(d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

}  // namespace depthcost::bench
