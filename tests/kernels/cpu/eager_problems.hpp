// Operands of the single operations of eager mode in any shape: those of AttnRes on a stack of
// sources, and those of mHC between its coefficients and the merge.
#pragma once

#include "tests/kernels/cpu/mhc_problems.hpp"

namespace depthcost::test {

struct StackShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_sources;
};

template <class T>
struct UnfusedStackProblem {
  Tensor<T> bank;
  std::vector<const T*> sources;
  Tensor<T> stack;
  UnfusedStack<T> op;

  explicit UnfusedStackProblem(const StackShape& shape)
      : bank(shape.num_sources, shape.num_tokens, shape.hidden_size),
        stack(shape.num_sources, shape.num_tokens, shape.hidden_size) {
    fill(bank, 1, 2);
    for (std::size_t s = shape.num_sources; s-- > 0;) sources.push_back(bank.at(s, 0));
    op = {shape.num_tokens, shape.hidden_size, shape.num_sources, sources.data(), stack.data()};
  }

  auto outputs() const { return std::tie(stack); }
};

template <class T>
struct UnfusedKeyNormProblem {
  Tensor<T> stack;
  Tensor<T> keys;
  UnfusedKeyNorm<T> op;

  explicit UnfusedKeyNormProblem(const StackShape& shape)
      : stack(shape.num_sources, shape.num_tokens, shape.hidden_size),
        keys(shape.num_sources, shape.num_tokens, shape.hidden_size) {
    fill(stack, 1, 2);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_sources = shape.num_sources,
          .stack = stack.data(),
          .keys = keys.data()};
  }

  auto outputs() const { return std::tie(keys); }
};

template <class T>
struct UnfusedScoresProblem {
  Tensor<T> keys;
  Tensor<float> query;
  Tensor<float> logits;
  UnfusedScores<T> op;

  explicit UnfusedScoresProblem(const StackShape& shape)
      : keys(shape.num_sources, shape.num_tokens, shape.hidden_size),
        query(1, 1, shape.hidden_size),
        logits(shape.num_sources, shape.num_tokens, 1) {
    fill(keys, 1, 1.7F);
    fill_query(query);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_sources = shape.num_sources,
          .keys = keys.data(),
          .query = query.data(),
          .logits = logits.data()};
  }

  auto outputs() const { return std::tie(logits); }
};

template <class T>
struct UnfusedMixProblem {
  Tensor<T> stack;
  Tensor<float> logits;
  Tensor<T> output;
  UnfusedMix<T> op;

  explicit UnfusedMixProblem(const StackShape& shape)
      : stack(shape.num_sources, shape.num_tokens, shape.hidden_size),
        logits(shape.num_sources, shape.num_tokens, 1),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(stack, 1, 2);
    fill(logits, 2, kLogitScale);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_sources = shape.num_sources,
          .stack = stack.data(),
          .logits = logits.data(),
          .output = output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

template <class T>
struct UnfusedMhcCoefficientsProblem {
  MhcParameters parameters;
  MhcCoefficientTensors coefficients;
  Tensor<T> streams;
  UnfusedMhcCoefficients<T> op;

  explicit UnfusedMhcCoefficientsProblem(const MhcShape& shape)
      : parameters(shape), coefficients(shape), streams(stream_tensor<T>(shape)) {
    fill(streams, 31, 2);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = streams.data(),
          .mapping = parameters.mapping,
          .pre = coefficients.pre.data(),
          .post = coefficients.post.data(),
          .residual = coefficients.residual.data()};
  }

  auto outputs() const {
    return std::tie(coefficients.pre, coefficients.post, coefficients.residual);
  }
};

template <class T>
struct UnfusedMhcPreProblem {
  MhcCoefficientTensors coefficients;
  Tensor<T> streams;
  Tensor<T> output;
  UnfusedMhcPre<T> op;

  explicit UnfusedMhcPreProblem(const MhcShape& shape)
      : coefficients(shape),
        streams(stream_tensor<T>(shape)),
        output(1, shape.num_tokens, shape.hidden_size) {
    coefficients.fill_all();
    fill(streams, 31, 2);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = streams.data(),
          .pre = coefficients.pre.data(),
          .output = output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

template <class T>
struct UnfusedMhcPostProblem {
  MhcCoefficientTensors coefficients;
  Tensor<T> layer_output;
  Tensor<T> spread;
  UnfusedMhcPost<T> op;

  explicit UnfusedMhcPostProblem(const MhcShape& shape)
      : coefficients(shape),
        layer_output(1, shape.num_tokens, shape.hidden_size),
        spread(stream_tensor<T>(shape)) {
    coefficients.fill_all();
    fill(layer_output, 32, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .layer_output = layer_output.data(),
          .post = coefficients.post.data(),
          .spread = spread.data()};
  }

  auto outputs() const { return std::tie(spread); }
};

template <class T>
struct UnfusedMhcResidualProblem {
  MhcCoefficientTensors coefficients;
  Tensor<T> streams;
  Tensor<T> mixed;
  UnfusedMhcResidual<T> op;

  explicit UnfusedMhcResidualProblem(const MhcShape& shape)
      : coefficients(shape), streams(stream_tensor<T>(shape)), mixed(stream_tensor<T>(shape)) {
    coefficients.fill_all();
    fill(streams, 31, 2);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_streams = shape.num_streams,
          .streams = streams.data(),
          .residual = coefficients.residual.data(),
          .mixed = mixed.data()};
  }

  auto outputs() const { return std::tie(mixed); }
};

template <class T>
struct UnfusedMhcMergeProblem {
  Tensor<T> mixed;
  Tensor<T> spread;
  Tensor<T> next_streams;
  UnfusedMhcMerge<T> op;

  explicit UnfusedMhcMergeProblem(const MhcShape& shape)
      : mixed(stream_tensor<T>(shape)),
        spread(stream_tensor<T>(shape)),
        next_streams(stream_tensor<T>(shape)) {
    fill(mixed, 31, 2);
    fill(spread, 32, 1);
    op = {shape.num_tokens, shape.hidden_size, shape.num_streams,
          mixed.data(),     spread.data(),     next_streams.data()};
  }

  auto outputs() const { return std::tie(next_streams); }
};

}  // namespace depthcost::test
