// Backward passes. Gradients are added to, as inside a training step, but for mHC's post, which
// makes those of one boundary from those of the next.
#pragma once

#include "kernels/operations/backward/operations.hpp"
#include "microbench/cases/hyper_connection_cases.hpp"

namespace depthcost::bench {

inline TokenSlices slices_of(Operands& o, std::size_t count, std::size_t parameters) {
  return {count, o.token_sums(count * parameters)};
}

/// The backward pass over n bank rows and a partial sum, with a norm.
template <class T>
AttnResSinglePassBackward<T> single_pass_backward(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  AttnResSinglePassBackward<T> op{.num_tokens = o.num_tokens(),
                                  .hidden_size = d,
                                  .num_bank_sources = s.num_blocks,
                                  .bank = o.tensor<T>(s.num_blocks, d),
                                  .partial_sum = o.tensor<T>(1, d),
                                  .output_gradient = o.tensor<T>(1, d),
                                  .query = o.parameters(d, unit_norm(d)),
                                  .norm = next_norm(s, o),
                                  .bank_gradients = o.tensor<T>(s.num_blocks, d),
                                  .partial_gradient = o.tensor<T>(1, d),
                                  .query_gradient = o.token_sums(d),
                                  .gain_gradient = o.token_sums(d)};
  op.slices = slices_of(o, s.num_slices, num_parameters(op));
  return op;
}

/// Logarithms of sums over as many sources as there are, with logits near zero.
inline Range log_sum_of(std::size_t num_sources) {
  const float log_count = std::log(static_cast<float>(num_sources));
  return {log_count - 0.5F, log_count + 0.5F};
}

template <class T>
AttnResPhase1Backward<T> phase1_backward(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  AttnResPhase1Backward<T> op{
      .num_tokens = o.num_tokens(),
      .hidden_size = d,
      .num_bank_sources = s.num_blocks,
      .num_queries = s.num_queries,
      .bank = o.tensor<T>(s.num_blocks, d),
      .mix_gradients = o.tensor<T>(s.num_queries, d),
      .log_sums = o.tensor<float>(s.num_queries, 1, log_sum_of(s.num_blocks + 1)),
      .products = o.tensor<float>(s.num_queries - 1, 1),
      .queries = o.parameters(s.num_queries * d, unit_norm(d)),
      .norm = next_norm(s, o),
      .bank_gradients = o.tensor<T>(s.num_blocks, d),
      .query_gradients = o.token_sums(s.num_queries * d),
      .gain_gradient = o.token_sums(d)};
  op.slices = slices_of(o, s.num_slices, num_parameters(op));
  return op;
}

/// Rows of this range have a root mean square of one, so that a norm with a gain of one neither
/// enlarges nor shrinks what call after call makes of its own result.
inline constexpr Range kUnitRows{-1.7320508F, 1.7320508F};

/// Behind a norm dh . h is zero but for eps.
template <class T>
AttnResPhase2Backward<T> phase2_backward(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  AttnResPhase2Backward<T> op{.num_tokens = o.num_tokens(),
                              .hidden_size = d,
                              .partial_sum = o.tensor<T>(1, d),
                              .mix = o.tensor<T>(1, d, kUnitRows),
                              .log_sum = o.tensor<float>(1, 1, log_sum_of(s.num_blocks + 1)),
                              .query = o.parameters(d, unit_norm(d)),
                              .norm = {.gain = o.parameters(d, {1, 1})},
                              .mix_gradient = o.tensor<T>(1, d),
                              .partial_gradient = o.tensor<T>(1, d),
                              .product = o.cancelled(),
                              .query_gradient = o.token_sums(d),
                              .gain_gradient = o.token_sums(d)};
  op.slices = slices_of(o, s.num_slices, num_parameters(op));
  return op;
}

/// In place, as a layer runs it.
template <class T>
MhcPostBackward<T> mhc_post_backward(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m, mean_of(m)),
          .gradients = o.tensor<T>(1, m * s.hidden_size, kPositive),
          .layer_gradient = o.tensor<T>(1, s.hidden_size),
          .post_gradients = o.tensor<float>(1, m),
          .residual_gradients = o.tensor<float>(1, m * m)};
}

template <class T>
MhcPreBackward<T> mhc_pre_backward(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  const std::size_t rows = num_mapping_rows(m);
  MhcPreBackward<T> op{
      .num_tokens = o.num_tokens(),
      .hidden_size = s.hidden_size,
      .num_streams = m,
      .streams = o.tensor<T>(1, m * s.hidden_size),
      .output_gradient = o.tensor<T>(1, s.hidden_size),
      .post_gradients = o.tensor<float>(1, m),
      .residual_gradients = o.tensor<float>(1, m * m),
      .mapping = mhc_mapping(s, o),
      .norm = next_norm(s, o),
      .gradients = o.tensor<T>(1, m * s.hidden_size),
      .projection_gradients = o.tensor<float>(1, rows),
      .into = {o.token_sums(rows * m * s.hidden_size), o.token_sums(rows), o.token_sums(3)},
      .gain_gradient = o.token_sums(s.hidden_size)};
  op.slices = slices_of(o, s.num_phi_slices, num_parameters(op));
  return op;
}

template <class T>
MhcBoundaryBackward<T> mhc_boundary_backward(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  const std::size_t rows = num_mapping_rows(m);
  MhcBoundaryBackward<T> op{
      .post = mhc_post_backward<T>(s, o),
      .next_streams = o.tensor<T>(1, m * s.hidden_size),
      .output_gradient = o.tensor<T>(1, s.hidden_size),
      .next_post_gradients = o.tensor<float>(1, m),
      .next_residual_gradients = o.tensor<float>(1, m * m),
      .mapping = mhc_mapping(s, o),
      .norm = next_norm(s, o),
      .projection_gradients = o.tensor<float>(1, rows),
      .into = {o.token_sums(rows * m * s.hidden_size), o.token_sums(rows), o.token_sums(3)},
      .gain_gradient = o.token_sums(s.hidden_size)};
  op.slices = slices_of(o, s.num_phi_slices, num_parameters(op));
  return op;
}

}  // namespace depthcost::bench
