// Operands of the standard residual's operations in any shape.
#pragma once

#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test {

struct ResidualShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
};

template <class T>
struct ResidualAddProblem {
  Tensor<T> hidden_state;
  Tensor<T> layer_output;
  ResidualAdd<T> op;

  explicit ResidualAddProblem(const ResidualShape& shape)
      : hidden_state(1, shape.num_tokens, shape.hidden_size),
        layer_output(1, shape.num_tokens, shape.hidden_size) {
    fill(hidden_state, 1, 3);
    fill(layer_output, 2, 1);
    op = {shape.num_tokens, shape.hidden_size, hidden_state.data(), layer_output.data()};
  }

  auto outputs() const { return std::tie(hidden_state); }
};

template <class T>
struct ResidualAddRmsNormProblem {
  ResidualAddProblem<T> add;
  Tensor<float> gain;
  Tensor<T> output;
  ResidualAddRmsNorm<T> op;

  explicit ResidualAddRmsNormProblem(const ResidualShape& shape)
      : add(shape), gain(1, 1, shape.hidden_size), output(1, shape.num_tokens, shape.hidden_size) {
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .hidden_state = add.op.hidden_state,
          .layer_output = add.op.layer_output,
          .norm = {.gain = gain.data()},
          .output = output.data()};
  }

  auto outputs() const { return std::tie(add.hidden_state, output); }
};

template <class T>
struct UnfusedRmsNormProblem {
  Tensor<T> input;
  Tensor<float> gain;
  Tensor<T> output;
  UnfusedRmsNorm<T> op;

  explicit UnfusedRmsNormProblem(const ResidualShape& shape)
      : input(1, shape.num_tokens, shape.hidden_size),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(input, 1, 3);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .input = input.data(),
          .norm = {.gain = gain.data()},
          .output = output.data()};
  }

  auto outputs() const { return std::tie(output); }
};

// The reference runs in steps. If a value lies between two that can be stored, the CPU may round to
// one and the reference to the other. So the next step of the reference starts from the values that
// the CPU has stored.

/// x of the first tokens of `stored`, which is (T, d).
template <class T, class Op>
void run_next_norm(const Op& expected, const T* stored, RecordingAccess& access) {
  reference::run(UnfusedRmsNorm<T>{expected.num_tokens, expected.hidden_size, stored, expected.norm,
                                   expected.output},
                 access);
}

}  // namespace depthcost::test
