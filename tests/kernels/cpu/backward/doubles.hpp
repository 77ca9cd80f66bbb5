// A backward operation in float64: its operands copied, so that the reference adds up gradients of
// parameters without rounding.
#pragma once

#include <deque>
#include <vector>

#include "kernels/operations/backward/operations.hpp"
#include "kernels/reference/rounding.hpp"

namespace depthcost::test {

class Doubles {
 public:
  /// A copy of `count` elements; null of null.
  template <class P>
  double* copy(P* from, std::size_t count) {
    if (from == nullptr) return nullptr;
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = reference::to_double(from[i]);
    copies_.push_back(std::move(values));
    return copies_.back().data();
  }

 private:
  std::deque<std::vector<double>> copies_;
};

inline std::size_t count_of(OperandShape shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  return count;
}

/// The same for one that names its operands, each in turn.
template <template <class> class Op, class T>
requires RowOperation<Op<T>> Op<double> in_doubles(Op<T> op, Doubles& to) {
  std::vector<double*> copies;
  each_operand(op, [&](auto* operand, OperandShape shape) {
    copies.push_back(to.copy(operand, count_of(shape)));
  });
  Op<double> exact;
  exact.num_tokens = op.num_tokens;
  exact.hidden_size = op.hidden_size;
  exact.norm.eps = static_cast<double>(op.norm.eps);
  std::size_t i = 0;
  each_operand(exact, [&](auto*& operand, OperandShape) { operand = copies[i++]; });
  return exact;
}

template <class T>
AttnResSinglePassBackward<double> in_doubles(const AttnResSinglePassBackward<T>& op, Doubles& to) {
  const std::size_t d = op.hidden_size;
  const std::size_t rows = op.num_tokens * d;
  return {.num_tokens = op.num_tokens,
          .hidden_size = d,
          .num_bank_sources = op.num_bank_sources,
          .bank = to.copy(op.bank, op.num_bank_sources * rows),
          .partial_sum = to.copy(op.partial_sum, rows),
          .output_gradient = to.copy(op.output_gradient, rows),
          .query = to.copy(op.query, d),
          .key_eps = static_cast<double>(op.key_eps),
          .norm = {to.copy(op.norm.gain, d), static_cast<double>(op.norm.eps)},
          .store = op.store,
          .bank_gradients = to.copy(op.bank_gradients, op.num_bank_sources * rows),
          .partial_gradient = to.copy(op.partial_gradient, rows),
          .query_gradient = to.copy(op.query_gradient, d),
          .gain_gradient = to.copy(op.gain_gradient, d)};
}

template <class T>
AttnResPhase2Backward<double> in_doubles(const AttnResPhase2Backward<T>& op, Doubles& to) {
  const std::size_t d = op.hidden_size;
  const std::size_t rows = op.num_tokens * d;
  return {.num_tokens = op.num_tokens,
          .hidden_size = d,
          .partial_sum = to.copy(op.partial_sum, rows),
          .mix = to.copy(op.mix, rows),
          .log_sum = to.copy(op.log_sum, op.num_tokens),
          .query = to.copy(op.query, d),
          .key_eps = static_cast<double>(op.key_eps),
          .norm = {to.copy(op.norm.gain, d), static_cast<double>(op.norm.eps)},
          .mix_gradient = to.copy(op.mix_gradient, rows),
          .partial_gradient = to.copy(op.partial_gradient, rows),
          .product = to.copy(op.product, op.num_tokens),
          .query_gradient = to.copy(op.query_gradient, d),
          .gain_gradient = to.copy(op.gain_gradient, d)};
}

template <class T>
AttnResPhase1Backward<double> in_doubles(const AttnResPhase1Backward<T>& op, Doubles& to) {
  const std::size_t d = op.hidden_size;
  const std::size_t S = op.num_queries;
  const std::size_t rows = op.num_tokens * d;
  return {.num_tokens = op.num_tokens,
          .hidden_size = d,
          .num_bank_sources = op.num_bank_sources,
          .num_queries = S,
          .bank = to.copy(op.bank, op.num_bank_sources * rows),
          .mix_gradients = to.copy(op.mix_gradients, S * rows),
          .log_sums = to.copy(op.log_sums, S * op.num_tokens),
          .products = to.copy(op.products, (S - 1) * op.num_tokens),
          .queries = to.copy(op.queries, S * d),
          .key_eps = static_cast<double>(op.key_eps),
          .norm = {to.copy(op.norm.gain, d), static_cast<double>(op.norm.eps)},
          .bank_gradients = to.copy(op.bank_gradients, op.num_bank_sources * rows),
          .query_gradients = to.copy(op.query_gradients, S * d),
          .gain_gradient = to.copy(op.gain_gradient, d)};
}

template <class T>
MhcPostBackward<double> in_doubles(const MhcPostBackward<T>& op, Doubles& to) {
  const std::size_t m = op.num_streams;
  const std::size_t rows = op.num_tokens * op.hidden_size;
  return {.num_tokens = op.num_tokens,
          .hidden_size = op.hidden_size,
          .num_streams = m,
          .streams = to.copy(op.streams, m * rows),
          .layer_output = to.copy(op.layer_output, rows),
          .post = to.copy(op.post, op.num_tokens * m),
          .residual = to.copy(op.residual, op.num_tokens * m * m),
          .gradients = to.copy(op.gradients, m * rows),
          .layer_gradient = to.copy(op.layer_gradient, rows),
          .post_gradients = to.copy(op.post_gradients, op.num_tokens * m),
          .residual_gradients = to.copy(op.residual_gradients, op.num_tokens * m * m)};
}

template <class T>
MhcPreBackward<double> in_doubles(const MhcPreBackward<T>& op, Doubles& to) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const std::size_t T_m = op.num_tokens * m;
  const std::size_t rows = num_mapping_rows(m);
  const auto scale = [&](int i) { return static_cast<double>(op.mapping.scales[i]); };
  return {.num_tokens = op.num_tokens,
          .hidden_size = d,
          .num_streams = m,
          .streams = to.copy(op.streams, T_m * d),
          .output_gradient = to.copy(op.output_gradient, op.num_tokens * d),
          .post_gradients = to.copy(op.post_gradients, T_m),
          .residual_gradients = to.copy(op.residual_gradients, T_m * m),
          .mapping = {.phi = to.copy(op.mapping.phi, rows * m * d),
                      .bias = to.copy(op.mapping.bias, rows),
                      .scales = {scale(0), scale(1), scale(2)},
                      .eps = static_cast<double>(op.mapping.eps),
                      .iterations = op.mapping.iterations,
                      .order = op.mapping.order},
          .norm = {to.copy(op.norm.gain, d), static_cast<double>(op.norm.eps)},
          .gradients = to.copy(op.gradients, T_m * d),
          .projection_gradients = to.copy(op.projection_gradients, op.num_tokens * rows),
          .into = {to.copy(op.into.phi, rows * m * d), to.copy(op.into.bias, rows),
                   to.copy(op.into.scales, 3)},
          .gain_gradient = to.copy(op.gain_gradient, d)};
}

template <class T>
MhcBoundaryBackward<double> in_doubles(const MhcBoundaryBackward<T>& op, Doubles& to) {
  // Both halves have the gradients of the streams.
  const MhcPreBackward<double> pre = in_doubles(pre_backward_of(op), to);
  MhcBoundaryBackward<double> all{.post = in_doubles(op.post, to),
                                  .next_streams = pre.streams,
                                  .output_gradient = pre.output_gradient,
                                  .next_post_gradients = pre.post_gradients,
                                  .next_residual_gradients = pre.residual_gradients,
                                  .mapping = pre.mapping,
                                  .norm = pre.norm,
                                  .projection_gradients = pre.projection_gradients,
                                  .into = pre.into,
                                  .gain_gradient = pre.gain_gradient};
  return all;
}

}  // namespace depthcost::test
