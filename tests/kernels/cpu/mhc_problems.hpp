// Operands of the mHC operations in any shape.
#pragma once

#include "kernels/cpu/tuning.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test {

struct MhcShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_streams;
  std::size_t has_norm;
  std::size_t in_place;
  SinkhornOrder order = SinkhornOrder::col_row;
};

/// X (T, m, d).
template <class T>
Tensor<T> stream_tensor(const MhcShape& shape) {
  return {1, shape.num_tokens, shape.num_streams * shape.hidden_size};
}

/// Parameters of the coefficients: logits around one.
struct MhcParameters {
  Tensor<float> phi;
  Tensor<float> bias;
  MhcMapping mapping;

  explicit MhcParameters(const MhcShape& shape)
      : phi(shape.num_streams * (shape.num_streams + 2), 1, shape.num_streams * shape.hidden_size),
        bias(1, 1, shape.num_streams * (shape.num_streams + 2)) {
    fill(phi, 11, std::sqrt(3.0F / static_cast<float>(phi.size())));
    fill(bias, 12, 1);
    mapping = {
        .phi = phi.data(), .bias = bias.data(), .scales = {0.7F, 1.1F, 0.9F}, .order = shape.order};
  }
};

/// Coefficients of a layer, (T, m) and (T, m, m).
struct MhcCoefficientTensors {
  Tensor<float> pre;
  Tensor<float> post;
  Tensor<float> residual;

  explicit MhcCoefficientTensors(const MhcShape& shape)
      : pre(1, shape.num_tokens, shape.num_streams),
        post(1, shape.num_tokens, shape.num_streams),
        residual(1, shape.num_tokens, shape.num_streams * shape.num_streams) {}

  void fill_all() {
    fill(pre, 21, 1);
    fill(post, 22, 2);
    fill(residual, 23, 1);
  }
};

template <class T>
struct MhcPreProblem {
  MhcParameters parameters;
  MhcCoefficientTensors coefficients;
  Tensor<T> streams;
  Tensor<float> gain;
  Tensor<T> output;
  MhcPre<T> op;

  explicit MhcPreProblem(const MhcShape& shape)
      : parameters(shape),
        coefficients(shape),
        streams(stream_tensor<T>(shape)),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(streams, 31, 2);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = streams.data(),
          .mapping = parameters.mapping,
          .output = output.data(),
          .post = coefficients.post.data(),
          .residual = coefficients.residual.data()};
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const { return std::tie(output, coefficients.post, coefficients.residual); }
};

/// A line of the residual's logits lies 120 below its neighbours: the row where columns are
/// normalised first, else the column. In float its exponentials are zero.
template <class T>
struct MhcLowLineProblem : MhcPreProblem<T> {
  explicit MhcLowLineProblem(const MhcShape& shape) : MhcPreProblem<T>(shape) {
    const std::size_t m = shape.num_streams;
    float* logits = this->parameters.bias.data() + 2 * m;
    const bool is_row = shape.order == SinkhornOrder::col_row;
    for (std::size_t i = 0; i < m; ++i) logits[is_row ? i : i * m] -= 120;
  }
};

template <class T>
struct MhcPostProblem {
  MhcCoefficientTensors coefficients;
  Tensor<T> streams;
  Tensor<T> layer_output;
  Tensor<T> next_streams;
  MhcPost<T> op;

  explicit MhcPostProblem(const MhcShape& shape)
      : coefficients(shape),
        streams(stream_tensor<T>(shape)),
        layer_output(1, shape.num_tokens, shape.hidden_size),
        next_streams(stream_tensor<T>(shape)) {
    coefficients.fill_all();
    fill(streams, 31, 2);
    fill(layer_output, 32, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = streams.data(),
          .layer_output = layer_output.data(),
          .post = coefficients.post.data(),
          .residual = coefficients.residual.data(),
          .next_streams = shape.in_place != 0 ? streams.data() : next_streams.data()};
  }

  auto outputs() const { return std::tie(streams, next_streams); }
};

template <class T>
struct MhcBoundaryProblem {
  MhcPostProblem<T> post;
  MhcParameters parameters;
  MhcCoefficientTensors coefficients;
  Tensor<float> gain;
  Tensor<T> output;
  MhcBoundary<T> op;

  explicit MhcBoundaryProblem(const MhcShape& shape)
      : post(shape),
        parameters(shape),
        coefficients(shape),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(gain, 5, 1);
    op = {.post = post.op,
          .mapping = parameters.mapping,
          .output = output.data(),
          .next_post = coefficients.post.data(),
          .next_residual = coefficients.residual.data()};
    if (shape.in_place != 0) {
      op.next_post = post.coefficients.post.data();
      op.next_residual = post.coefficients.residual.data();
    }
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const {
    return std::tie(output, post.streams, post.next_streams, coefficients.post,
                    coefficients.residual, post.coefficients.post, post.coefficients.residual);
  }
};

/// Runs the reference in two steps. The coefficients follow from the stored streams, and the CPU
/// may round a value between two others the other way.
template <class T>
void run_reference(MhcBoundaryProblem<T>& expected, const MhcBoundaryProblem<T>& actual,
                   RecordingAccess& access) {
  const MhcBoundary<T>& op = expected.op;
  reference::run(op.post, access);
  const std::size_t count = op.post.num_tokens * op.post.num_streams * op.post.hidden_size;
  std::copy_n(actual.op.post.next_streams, count, op.post.next_streams);
  reference::run(next_pre(op), access);
}

struct SinkhornShape {
  std::size_t num_tokens;
  std::size_t num_streams;
  std::size_t iterations;
  SinkhornOrder order;
};

struct SinkhornProblem {
  Tensor<float> matrices;
  Sinkhorn op;

  explicit SinkhornProblem(const SinkhornShape& shape)
      : matrices(1, shape.num_tokens, shape.num_streams * shape.num_streams) {
    fill(matrices, 41, 3);
    for (std::size_t i = 0; i < matrices.count(); ++i)
      matrices.data()[i] = std::exp(matrices.data()[i]);
    op = {.count = shape.num_tokens,
          .num_streams = shape.num_streams,
          .matrices = matrices.data(),
          .iterations = shape.iterations,
          .order = shape.order};
  }

  auto outputs() const { return std::tie(matrices); }
};

}  // namespace depthcost::test
