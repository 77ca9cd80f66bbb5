// Operands of both passes of Gated Residual in any shape.
#pragma once

#include "tests/kernels/cpu/hyper_connections_problems.hpp"

namespace depthcost::test {

struct GateShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_streams;
  std::size_t rank;
  std::size_t in_place = 0;
  std::size_t is_exit = 0;
};

/// Weights whose products with rows of ones are about one.
template <class T>
Tensor<T> gate_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Tensor<T> weights(rows, 1, columns);
  fill(weights, seed, std::sqrt(3.0F / static_cast<float>(columns)));
  return weights;
}

template <class T>
struct GatedApplyDownProblem {
  Tensor<T> streams, next_streams, layer_output, gain, down, inject_weights;
  Tensor<float> inject, inverse_rms, activation, next_inject;
  GatedApplyDown<T> op;

  explicit GatedApplyDownProblem(const GateShape& s)
      : streams(1, s.num_tokens, s.num_streams * s.hidden_size),
        next_streams(1, s.num_tokens, s.num_streams * s.hidden_size),
        layer_output(1, s.num_tokens, s.hidden_size),
        gain(s.num_streams, 1, s.hidden_size),
        down(gate_matrix<T>(s.rank, s.num_streams * s.hidden_size, 31)),
        inject_weights(gate_matrix<T>(s.num_streams, s.num_streams * s.hidden_size, 32)),
        inject(1, s.num_tokens, s.num_streams),
        inverse_rms(1, s.num_tokens, s.num_streams),
        activation(1, s.num_tokens, s.rank),
        next_inject(1, s.num_tokens, s.num_streams) {
    fill(streams, 1, 2);
    fill(layer_output, 2, 1);
    fill(gain, 3, 0.5F);
    fill(inject, 4, 2);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_streams = s.num_streams,
          .rank = s.rank,
          .streams = streams.data(),
          .layer_output = layer_output.data(),
          .inject = inject.data(),
          .gain = gain.data(),
          .down = down.data(),
          .inject_weights = s.is_exit != 0 ? nullptr : inject_weights.data(),
          .next_streams = s.in_place != 0 ? streams.data() : next_streams.data(),
          .inverse_rms = inverse_rms.data(),
          .activation = activation.data()};
    if (s.is_exit == 0) op.next_inject = s.in_place != 0 ? inject.data() : next_inject.data();
  }

  auto outputs() const {
    return std::tie(streams, next_streams, inject, inverse_rms, activation, next_inject);
  }
};

/// What follows the update starts from the streams that the CPU has stored, which may be rounded
/// the other way where they lie between two numbers.
template <class T>
void run_reference(GatedApplyDownProblem<T>& expected, const GatedApplyDownProblem<T>& actual,
                   RecordingAccess& access) {
  GatedApplyDown<T>& op = expected.op;
  const std::vector<float> inject(op.inject, op.inject + op.num_tokens * op.num_streams);
  GatedApplyDown<T> first = op;
  first.inject = inject.data();
  reference::run(first, access);
  take_streams(op, actual.op);
  const std::vector<float> none(inject.size(), 0.0F);
  Tensor<T> unused(1, op.num_tokens, op.num_streams * op.hidden_size);
  GatedApplyDown<T> rest = op;
  rest.streams = op.next_streams;
  rest.inject = none.data();
  rest.next_streams = unused.data();
  reference::run(rest, access);
}

template <class T>
struct GatedUpMixProblem {
  Tensor<T> streams, gain, up, output;
  Tensor<float> inverse_rms, activation;
  GatedUpMix<T> op;

  explicit GatedUpMixProblem(const GateShape& s)
      : streams(1, s.num_tokens, s.num_streams * s.hidden_size),
        gain(s.num_streams, 1, s.hidden_size),
        up(gate_matrix<T>(s.num_streams * s.hidden_size, s.rank, 33)),
        output(1, s.num_tokens, s.hidden_size),
        inverse_rms(1, s.num_tokens, s.num_streams),
        activation(1, s.num_tokens, s.rank) {
    fill(streams, 1, 2);
    fill(gain, 3, 0.5F);
    fill(inverse_rms, 5, 1);
    fill(activation, 6, 2);
    op = {s.num_tokens,      s.hidden_size,      s.num_streams, s.rank,
          streams.data(),    inverse_rms.data(), gain.data(),   up.data(),
          activation.data(), output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

/// Scalars as T has them.
template <class T>
void round_scalars(const Tensor<float>& scalars) {
  for (std::size_t i = 0; i < scalars.count(); ++i) {
    float& a = scalars.data()[i];
    a = static_cast<float>(reference::to_double(reference::round_to<T>(a)));
  }
}

/// a as units for matrices of bf16 take it: then they lose nothing of it.
template <class T>
void round_activations(GatedUpMixProblem<T>& problem) {
  round_scalars<T>(problem.activation);
}

/// Such units round Xn to bf16, which loses 2^-9 of each term of z = D vec(Xn) / n. The terms add
/// up to about 1 / n, and to much less in a token where they cancel.
inline double lost_of_terms(const GatedApplyDownProblem<Bf16>& problem) {
  return 0x1p-9 / static_cast<double>(problem.op.num_streams);
}

/// A gate is lost as that of HighwayRmsNorm: by 1/4 of what e^-z has lost, of Xn, which is less
/// than 4 here.
template <class T>
double lost_of_terms(const GatedUpMixProblem<T>& /*problem*/) {
  return sizeof(T) == 2 ? 0x1p-14 : 0x1p-21;
}

/// Expects 1 / rms of the stored streams, which no such unit has touched.
template <class T>
void expect_factors_of_stored_streams(const GatedApplyDown<T>& op) {
  for (std::size_t i = 0; i < op.num_tokens * op.num_streams; ++i) {
    double squares = 0;
    for (std::size_t e = 0; e < op.hidden_size; ++e) {
      const double x = reference::to_double(op.next_streams[i * op.hidden_size + e]);
      squares += x * x;
    }
    const double mean = squares / static_cast<double>(op.hidden_size);
    EXPECT_NEAR(op.inverse_rms[i] * std::sqrt(mean + op.eps), 1, 1e-5) << "stream " << i;
  }
}

}  // namespace depthcost::test
