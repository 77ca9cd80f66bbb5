// Operands of hyper-connections in one scan in any shape.
#pragma once

#include "tests/kernels/cpu/mhc_problems.hpp"

namespace depthcost::test {

/// x = norm(A H) of streams as they are stored, with A (m) of token t at pre_of(t).
template <class Op, class PreOf>
void run_stream_mix(const Op& op, const PreOf& pre_of, RecordingAccess& access) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const auto streams = reference::load_streams(access, op.next_streams, t, m, d);
    const auto mixed = reference::weighted_sum(reference::parameters(pre_of(t), m), streams);
    auto x = reference::next_norm(mixed, op.norm);
    reference::store_row(access, op.output + t * d, x);
  }
}

/// Gives the reference the first tokens of the streams that the CPU has stored.
template <class Op>
void take_streams(const Op& expected, const Op& actual) {
  std::copy_n(actual.next_streams,
              expected.num_tokens * expected.num_streams * expected.hidden_size,
              expected.next_streams);
}

template <class T>
struct HcBoundaryProblem {
  MhcPostProblem<T> post;
  Tensor<float> residual_weights;
  Tensor<float> post_weights;
  Tensor<float> pre_weights;
  Tensor<float> gain;
  Tensor<T> output;
  HcBoundary<T> op;

  explicit HcBoundaryProblem(const MhcShape& shape)
      : post(shape),
        residual_weights(1, 1, shape.num_streams * shape.num_streams),
        post_weights(1, 1, shape.num_streams),
        pre_weights(1, 1, shape.num_streams),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(residual_weights, 53, 1);
    fill(post_weights, 54, 2);
    fill(pre_weights, 55, 1);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = post.op.streams,
          .layer_output = post.op.layer_output,
          .residual = residual_weights.data(),
          .post = post_weights.data(),
          .pre = pre_weights.data(),
          .next_streams = post.op.next_streams,
          .output = output.data()};
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const { return std::tie(output, post.streams, post.next_streams); }
};

template <class T>
void run_reference(HcBoundaryProblem<T>& expected, const HcBoundaryProblem<T>& actual,
                   RecordingAccess& access) {
  reference::run(expected.op, access);
  take_streams(expected.op, actual.op);
  run_stream_mix(
      expected.op, [&](std::size_t) { return expected.op.pre; }, access);
}

/// The coefficients are (T, ...), written in place or to another buffer.
template <class T>
struct SinglePassMhcProblem {
  MhcPostProblem<T> post;
  MhcParameters parameters;
  MhcCoefficientTensors coefficients;
  Tensor<float> gain;
  Tensor<T> output;
  SinglePassMhc<T> op;

  explicit SinglePassMhcProblem(const MhcShape& shape)
      : post(shape),
        parameters(shape),
        coefficients(shape),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(gain, 5, 1);
    const bool in_place = shape.in_place != 0;
    const MhcCoefficientTensors& next = in_place ? post.coefficients : coefficients;
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = post.op.streams,
          .layer_output = post.op.layer_output,
          .pre = post.coefficients.pre.data(),
          .post = post.op.post,
          .residual = post.op.residual,
          .mapping = parameters.mapping,
          .next_streams = post.op.next_streams,
          .output = output.data(),
          .next_pre = next.pre.data(),
          .next_post = next.post.data(),
          .next_residual = next.residual.data()};
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const {
    return std::tie(output, post.streams, post.next_streams, coefficients.pre, coefficients.post,
                    coefficients.residual, post.coefficients.pre, post.coefficients.post,
                    post.coefficients.residual);
  }
};

template <class T>
void run_reference(SinglePassMhcProblem<T>& expected, const SinglePassMhcProblem<T>& actual,
                   RecordingAccess& access) {
  const SinglePassMhc<T>& op = expected.op;
  reference::run(MhcPost<T>{op.num_tokens, op.hidden_size, op.num_streams, op.streams,
                            op.layer_output, op.post, op.residual, op.next_streams},
                 access);
  take_streams(op, actual.op);
  run_stream_mix(
      op, [&](std::size_t t) { return op.pre + t * op.num_streams; }, access);
  reference::run(
      UnfusedMhcCoefficients<T>{op.num_tokens, op.hidden_size, op.num_streams, op.next_streams,
                                op.mapping, op.next_pre, op.next_post, op.next_residual},
      access);
}

}  // namespace depthcost::test
