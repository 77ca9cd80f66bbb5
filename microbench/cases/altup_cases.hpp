// AltUp with LAuReL, in place, as a decoder layer runs it. Copies stay what they are: prediction
// adds next to nothing, and correction ends where the copies agree.
#pragma once

#include "kernels/operations/operations.hpp"
#include "microbench/cases/case_shape.hpp"
#include "model/operations/altup_operations.hpp"

namespace depthcost::bench {

inline constexpr Range kNextToNothing{-1e-7F, 1e-7F};

inline BasicAltupRouter<float> altup_router(const Shape& s, Operands& o) {
  return {.matrix = o.parameters(s.num_streams * s.hidden_size, {}), .norm = next_norm(s, o)};
}

template <class T>
AltupPredict<T> altup_predict(const Shape& s, Operands& o) {
  const std::size_t A = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_copies = A,
          .copies = o.tensor<T>(1, A * s.hidden_size),
          .router = altup_router(s, o),
          .coefficients = o.parameters(A * A * A, kNextToNothing),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, s.hidden_size)};
}

template <class T>
AltupLaurel<T> altup_laurel(const Shape& s, Operands& o) {
  const auto rank = static_cast<std::size_t>(operations::kLaurelRank);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .rank = rank,
          .input = o.tensor<T>(1, s.hidden_size),
          .down = o.parameters(rank * s.hidden_size, unit_norm(s.hidden_size)),
          .up = o.parameters(s.hidden_size * rank, unit_norm(rank)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, s.hidden_size)};
}

template <class T>
AltupMiddle<T> altup_middle(const Shape& s, Operands& o) {
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_copies = s.num_streams,
          .copies = o.tensor<T>(1, s.num_streams * s.hidden_size),
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .laurel = o.tensor<T>(1, s.hidden_size),
          .output_norm = next_norm(s, o),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, s.hidden_size)};
}

template <class T>
AltupCorrect<T> altup_correct(const Shape& s, Operands& o) {
  const std::size_t A = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_copies = A,
          .copies = o.tensor<T>(1, A * s.hidden_size),
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .middle = o.tensor<T>(1, s.hidden_size),
          .output_norm = next_norm(s, o),
          .router = altup_router(s, o),
          .coefficients = o.parameters(A * A, unit_norm(A))};
}

}  // namespace depthcost::bench
