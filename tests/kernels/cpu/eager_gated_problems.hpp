// Operands of the pieces of Gated Residual in any shape.
#pragma once

#include "tests/kernels/cpu/gated_residual_problems.hpp"

namespace depthcost::test {

/// Streams (T, n, d).
template <class T>
Tensor<T> gated_streams(const GateShape& s) {
  return {1, s.num_tokens, s.num_streams * s.hidden_size};
}

template <class T>
struct UnfusedGatedNormProblem {
  Tensor<T> streams, gain, output;
  UnfusedGatedNorm<T> op;

  explicit UnfusedGatedNormProblem(const GateShape& s)
      : streams(gated_streams<T>(s)),
        gain(s.num_streams, 1, s.hidden_size),
        output(gated_streams<T>(s)) {
    fill(streams, 1, 2);
    fill(gain, 3, 0.5F);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .streams = streams.data(),
          .gain = gain.data(),
          .output = output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

/// As many results as the rank.
template <class T>
struct UnfusedGateDownProblem {
  Tensor<T> input, weights;
  Tensor<float> output;
  UnfusedGateDown<T> op;

  explicit UnfusedGateDownProblem(const GateShape& s)
      : input(gated_streams<T>(s)),
        weights(gate_matrix<T>(s.rank, s.num_streams * s.hidden_size, 31)),
        output(1, s.num_tokens, s.rank) {
    fill(input, 1, 2);
    op = {s.num_tokens, s.hidden_size,  s.num_streams, s.rank,
          input.data(), weights.data(), output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

/// Its activations are representable in T, so that no unit loses any of them.
template <class T>
struct UnfusedGateUpProblem {
  Tensor<float> activation;
  Tensor<T> up, output;
  UnfusedGateUp<T> op;

  explicit UnfusedGateUpProblem(const GateShape& s)
      : activation(1, s.num_tokens, s.rank),
        up(gate_matrix<T>(s.num_streams * s.hidden_size, s.rank, 33)),
        output(gated_streams<T>(s)) {
    fill(activation, 6, 2);
    round_scalars<T>(activation);
    op = {s.num_tokens,      s.hidden_size, s.num_streams, s.rank,
          activation.data(), up.data(),     output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

/// The rank chooses the function: those of three ranks in a row are all of them.
template <class T>
struct UnfusedActivationProblem {
  Tensor<T> input, output;
  UnfusedActivation<T> op;

  explicit UnfusedActivationProblem(const GateShape& s)
      : input(gated_streams<T>(s)), output(gated_streams<T>(s)) {
    fill(input, 7, 4);
    op = {s.num_tokens, s.hidden_size, s.num_streams, static_cast<GateFunction>(s.rank % 3),
          input.data(), output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

/// A gate is lost by 1/4 of what e^-z has lost, and by what its inverse has; SiLU is at most four
/// gates here.
template <class T>
double lost_of_terms(const UnfusedActivationProblem<T>& /*problem*/) {
  return sizeof(T) == 2 ? 0x1p-14 : 0x1p-21;
}

template <class T>
struct UnfusedGateProductProblem {
  Tensor<T> gates, input, output;
  UnfusedGateProduct<T> op;

  explicit UnfusedGateProductProblem(const GateShape& s)
      : gates(gated_streams<T>(s)), input(gated_streams<T>(s)), output(gated_streams<T>(s)) {
    fill(gates, 8, 1);
    fill(input, 9, 2);
    op = {s.num_tokens, s.hidden_size, s.num_streams, gates.data(), input.data(), output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

template <class T>
struct UnfusedStreamMeanProblem {
  Tensor<T> streams, output;
  UnfusedStreamMean<T> op;

  explicit UnfusedStreamMeanProblem(const GateShape& s)
      : streams(gated_streams<T>(s)), output(1, s.num_tokens, s.hidden_size) {
    fill(streams, 10, 2);
    op = {s.num_tokens, s.hidden_size, s.num_streams, streams.data(), output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

}  // namespace depthcost::test
