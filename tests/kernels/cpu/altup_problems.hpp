// Operands of AltUp with LAuReL in any shape.
#pragma once

#include "kernels/operations/altup.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test {

struct AltupShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_copies = 1;  // or LAuReL's rank
};

/// A matrix whose products with rows of ones are about one.
inline Tensor<float> altup_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Tensor<float> weights(rows, 1, columns);
  fill(weights, seed, std::sqrt(3.0F / static_cast<float>(columns)));
  return weights;
}

inline Tensor<float> altup_gain(std::size_t hidden_size, std::uint64_t seed) {
  Tensor<float> gain(1, 1, hidden_size);
  fill(gain, seed, 1);
  return gain;
}

/// M and its gain. m(x) divides by d, so M is large: its modalities reach where tanh bends.
struct RouterTensors {
  Tensor<float> matrix, gain;

  explicit RouterTensors(const AltupShape& s)
      : matrix(s.num_copies, 1, s.hidden_size), gain(altup_gain(s.hidden_size, 41)) {
    fill(matrix, 42, 3 * std::sqrt(static_cast<float>(s.hidden_size)));
  }
  BasicAltupRouter<float> router() const { return {matrix.data(), {.gain = gain.data()}}; }
};

template <class T>
struct AltupPredictProblem {
  Tensor<T> copies, output;
  RouterTensors router;
  Tensor<float> coefficients, gain;
  AltupPredict<T> op;

  explicit AltupPredictProblem(const AltupShape& s)
      : copies(1, s.num_tokens, s.num_copies * s.hidden_size),
        output(1, s.num_tokens, s.hidden_size),
        router(s),
        coefficients(altup_matrix(s.num_copies * s.num_copies, s.num_copies, 43)),
        gain(altup_gain(s.hidden_size, 44)) {
    fill(copies, 1, 2);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_copies = s.num_copies,
          .copies = copies.data(),
          .router = router.router(),
          .coefficients = coefficients.data(),
          .norm = {.gain = gain.data()},
          .output = output.data()};
  }

  auto outputs() const { return std::tie(copies, output); }
};

template <class T>
struct AltupLaurelProblem {
  Tensor<T> input, output;
  Tensor<float> down, up, gain;
  AltupLaurel<T> op;

  explicit AltupLaurelProblem(const AltupShape& s)
      : input(1, s.num_tokens, s.hidden_size),
        output(1, s.num_tokens, s.hidden_size),
        down(altup_matrix(s.num_copies, s.hidden_size, 45)),
        up(altup_matrix(s.hidden_size, s.num_copies, 46)),
        gain(altup_gain(s.hidden_size, 47)) {
    fill(input, 2, 2);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .rank = s.num_copies,
          .input = input.data(),
          .down = down.data(),
          .up = up.data(),
          .norm = {.gain = gain.data()},
          .output = output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

template <class T>
struct AltupMiddleProblem {
  Tensor<T> copies, layer_output, laurel, output;
  Tensor<float> output_gain, gain;
  AltupMiddle<T> op;

  explicit AltupMiddleProblem(const AltupShape& s)
      : copies(1, s.num_tokens, s.num_copies * s.hidden_size),
        layer_output(1, s.num_tokens, s.hidden_size),
        laurel(1, s.num_tokens, s.hidden_size),
        output(1, s.num_tokens, s.hidden_size),
        output_gain(altup_gain(s.hidden_size, 48)),
        gain(altup_gain(s.hidden_size, 49)) {
    fill(copies, 1, 2);
    fill(layer_output, 2, 1);
    fill(laurel, 3, 3);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_copies = s.num_copies,
          .copies = copies.data(),
          .layer_output = layer_output.data(),
          .laurel = laurel.data(),
          .output_norm = {.gain = output_gain.data()},
          .norm = {.gain = gain.data()},
          .output = output.data()};
  }

  auto outputs() const { return std::tie(laurel, output); }
};

template <class T>
struct AltupCorrectProblem {
  Tensor<T> copies, layer_output, middle;
  RouterTensors router;
  Tensor<float> output_gain, coefficients;
  AltupCorrect<T> op;

  explicit AltupCorrectProblem(const AltupShape& s)
      : copies(1, s.num_tokens, s.num_copies * s.hidden_size),
        layer_output(1, s.num_tokens, s.hidden_size),
        middle(1, s.num_tokens, s.hidden_size),
        router(s),
        output_gain(altup_gain(s.hidden_size, 50)),
        coefficients(altup_matrix(s.num_copies, s.num_copies, 51)) {
    fill(copies, 1, 2);
    fill(layer_output, 2, 1);
    fill(middle, 3, 2);
    op = {.num_tokens = s.num_tokens,
          .hidden_size = s.hidden_size,
          .num_copies = s.num_copies,
          .copies = copies.data(),
          .layer_output = layer_output.data(),
          .middle = middle.data(),
          .output_norm = {.gain = output_gain.data()},
          .router = router.router(),
          .coefficients = coefficients.data()};
  }

  auto outputs() const { return std::tie(copies); }
};

// The norm starts from what the kernel has stored, which may be rounded the other way where it lies
// between two numbers.

/// x = norm of the rows of T at `stored`, `stride` apart.
template <class Op, class T>
void run_altup_norm(const Op& op, const T* stored, std::size_t stride, RecordingAccess& access) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const auto row = reference::load_row(access, stored + t * stride, op.hidden_size);
    auto x = reference::next_norm(row, op.norm);
    reference::store_row(access, op.output + t * op.hidden_size, x);
  }
}

template <class T>
void run_reference(AltupPredictProblem<T>& expected, const AltupPredictProblem<T>& actual,
                   RecordingAccess& access) {
  const AltupPredict<T>& op = expected.op;
  reference::run(op, access);
  run_altup_norm(op, actual.op.copies, op.num_copies * op.hidden_size, access);
}

template <class T>
void run_reference(AltupMiddleProblem<T>& expected, const AltupMiddleProblem<T>& actual,
                   RecordingAccess& access) {
  reference::run(expected.op, access);
  run_altup_norm(expected.op, actual.op.laurel, expected.op.hidden_size, access);
}

}  // namespace depthcost::test
