// Operands of dense mixing in any shape.
#pragma once

#include "tests/kernels/cpu/row_problems.hpp"

namespace depthcost::test {

/// Where a dense mix and its last source are stored.
enum DenseStores : std::size_t {
  only_input,     // f is the last source; x alone is written
  stored_mix,     // y is stored in a buffer of its own
  stored_stream,  // h + f goes to the bank, y replaces h
};

struct DenseShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t num_sources;
  std::size_t stores;
  std::size_t has_norm;
};

template <class T>
struct DenseMixProblem {
  Tensor<T> bank;
  Tensor<T> hidden_state;
  Tensor<T> layer_output;
  Tensor<T> mixed;
  Tensor<float> weights;
  Tensor<float> gain;
  Tensor<T> output;
  DenseMix<T> op;

  explicit DenseMixProblem(const DenseShape& shape)
      : bank(shape.num_sources + 2, shape.num_tokens, shape.hidden_size),
        hidden_state(1, shape.num_tokens, shape.hidden_size),
        layer_output(1, shape.num_tokens, shape.hidden_size),
        mixed(1, shape.num_tokens, shape.hidden_size),
        weights(1, 1, shape.num_sources + 1),
        gain(1, 1, shape.hidden_size),
        output(1, shape.num_tokens, shape.hidden_size) {
    fill(bank, 1, 2, shape.num_sources);
    fill(hidden_state, 2, 3);
    fill(layer_output, 3, 1);
    fill(weights, 56, 1);
    fill(gain, 5, 1);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .num_bank_rows = bank.num_rows(),
          .num_bank_sources = shape.num_sources,
          .bank = bank.data(),
          .layer_output = layer_output.data(),
          .weights = weights.data(),
          .output = output.data()};
    if (shape.stores == stored_mix) op.mixed = mixed.data();
    if (shape.stores == stored_stream) {
      op.hidden_state = op.mixed = hidden_state.data();
      op.bank_row = shape.num_sources + 1;
    }
    if (shape.has_norm != 0) op.norm.gain = gain.data();
  }

  auto outputs() const { return std::tie(output, hidden_state, mixed, bank); }
};

template <class T>
void run_reference(DenseMixProblem<T>& expected, const DenseMixProblem<T>& actual,
                   RecordingAccess& access) {
  DenseMix<T> op = expected.op;
  reference::run(op, access);
  if (op.bank_row != kNoRow) {
    op.layer_output = actual.bank.at(op.bank_row, 0);
    op.hidden_state = nullptr;
    op.bank_row = kNoRow;
    reference::run(op, access);
  }
  if (op.mixed != nullptr) run_next_norm(op, actual.op.mixed, access);
}

}  // namespace depthcost::test
