// Operands of scaled and gated residuals in any shape.
#pragma once

#include "tests/kernels/cpu/residual_problems.hpp"

namespace depthcost::test {

struct ScaledShape {
  std::size_t num_tokens;
  std::size_t hidden_size;
  std::size_t is_vector = 0;  // a lambda for each element
};

template <class T>
struct ScaledAddRmsNormProblem {
  ResidualAddRmsNormProblem<T> plain;
  Tensor<float> scales;
  ScaledAddRmsNorm<T> op;

  explicit ScaledAddRmsNormProblem(const ScaledShape& shape)
      : plain({shape.num_tokens, shape.hidden_size}),
        scales(1, 1, shape.is_vector != 0 ? shape.hidden_size : 1) {
    fill(scales, 51, 2);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .hidden_state = plain.op.hidden_state,
          .layer_output = plain.op.layer_output,
          .num_scales = scales.size(),
          .scales = scales.data(),
          .hidden_scale = 0.75F,
          .norm = plain.op.norm,
          .output = plain.op.output};
  }

  auto outputs() const { return plain.outputs(); }
};

template <class T>
void run_reference(ScaledAddRmsNormProblem<T>& expected, const ScaledAddRmsNormProblem<T>& actual,
                   RecordingAccess& access) {
  reference::run(expected.op, access);
  run_next_norm(expected.op, actual.op.hidden_state, access);
}

template <class T>
struct HighwayRmsNormProblem {
  ResidualAddRmsNormProblem<T> plain;
  Tensor<T> gate_logits;
  HighwayRmsNorm<T> op;

  explicit HighwayRmsNormProblem(const ResidualShape& shape)
      : plain(shape), gate_logits(1, shape.num_tokens, shape.hidden_size) {
    fill(gate_logits, 52, 8);
    op = {.num_tokens = shape.num_tokens,
          .hidden_size = shape.hidden_size,
          .hidden_state = plain.op.hidden_state,
          .layer_output = plain.op.layer_output,
          .gate_logits = gate_logits.data(),
          .norm = plain.op.norm,
          .output = plain.op.output};
  }

  auto outputs() const { return plain.outputs(); }
};

template <class T>
void run_reference(HighwayRmsNormProblem<T>& expected, const HighwayRmsNormProblem<T>& actual,
                   RecordingAccess& access) {
  reference::run(expected.op, access);
  run_next_norm(expected.op, actual.op.hidden_state, access);
}

}  // namespace depthcost::test
