// Backward passes of the standard residual.
#pragma once

#include "kernels/operations/backward/slices.hpp"
#include "kernels/operations/row_operation.hpp"

namespace depthcost {

/// Backward of ResidualAddRmsNorm, h' = h + f; x = norm(h'):
///   dh = df = dh' + (g o dx - n (g o dx . n) / d) / r,  dg += sum_t dx o n,  n = h' / r,
///   r = sqrt(mean(h'^2) + eps)
/// dh' is what the readers of h' behind the norm have left. 4 d.
template <class T>
struct ResidualAddRmsNormBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* hidden_state = nullptr;     // h' (T, d)
  const T* output_gradient = nullptr;  // dx (T, d)
  BasicNextNorm<Scalar<T>> norm;       // gain is required
  T* gradient = nullptr;               // dh', then dh (T, d)
  Scalar<T>* gain_gradient = nullptr;  // dg (d), added to
  BasicTokenSlices<Scalar<T>> slices;  // of d parameters

  static constexpr void operands(auto& op, auto& visit) {
    visit.at_least_one("hidden_size", op.hidden_size);
    visit.at_least_one("slices", op.slices.count);
    visit.reads_inner("hidden_state", op.hidden_state, {op.num_tokens, op.hidden_size});
    visit.reads("output_gradient", op.output_gradient, {op.num_tokens, op.hidden_size});
    visit.reads_inner("gain", op.norm.gain, {op.hidden_size});
    visit.updates_inner("gradient", op.gradient, {op.num_tokens, op.hidden_size});
    visit.updates_inner("gain_gradient", op.gain_gradient, {op.hidden_size});
    visit.writes("sums", op.slices.sums, {op.slices.count, op.hidden_size});
  }
};

#define DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(X) \
  X(ResidualAddRmsNormBackward, residual_add_rmsnorm_backward)

DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_NAME_OPERATION)

}  // namespace depthcost
