// Launches of mechanisms that no kernel of this project runs. REFERENCES.md, "family".
#pragma once

#include "model/operations/family_operations.hpp"
#include "model/operations/unfused_operations.hpp"

namespace depthcost::operations {

using Accesses = std::array<Access, 5>;

/// One scan over rows of a token that ends in a norm: the best that fusion can do.
constexpr Operation row_update(const Accesses& accesses, double flops_d, double parameters_d = 0) {
  return {.id = OperationId::row_update,
          .accesses = accesses,
          .flops_d = flops_d,
          .parameters_d = kGain_d + parameters_d};
}

/// A framework's elementwise kernel over rows.
constexpr Operation unfused_elementwise(const Accesses& accesses, double flops_d,
                                        double parameters_d = 0) {
  return {.id = OperationId::unfused_elementwise,
          .skeleton = Skeleton::elementwise,
          .accesses = accesses,
          .flops_d = flops_d,
          .parameters_d = parameters_d};
}

/// A product with a weight matrix of `columns` x d elements: 2 d operations a column. Its output is
/// rows of d, or loose scalars.
constexpr Operation unfused_projection(const Accesses& accesses, double columns,
                                       double writes_scalars = 0) {
  return {.id = OperationId::unfused_projection,
          .skeleton = Skeleton::row_reduction,
          .unit = ExecutionUnit::tensor_cores,
          .accesses = accesses,
          .writes_scalars = writes_scalars,
          .flops_d = 2 * columns,
          .weights_d = columns};
}

/// As unfused_projection with fewer than d columns: of f32, as all parameters that are no wide
/// matrix.
constexpr Operation unfused_narrow_projection(const Accesses& accesses, double columns,
                                              double writes_scalars) {
  Operation product = unfused_projection(accesses, columns, writes_scalars);
  product.weights_d = 0;
  product.parameters_d = columns;
  return product;
}

/// A mix over `sources` rows of which the last was written just before, and those in front of it by
/// earlier layers: no stack is needed where all lie in one buffer.
constexpr Operation unfused_bank_mix(double sources) {
  Operation mix = unfused_mix(sources);
  mix.accesses = {Access{Operand::bank, sources - 1, 0}, Access{Operand::recent, 1, 1}};
  return mix;
}

/// h += lambda o f: 2 r, 1 w; lambda.
constexpr Operation unfused_scaled_add(ScaleShape lambda) {
  const double lambda_d = lambda == ScaleShape::vector ? 1 : 0;
  Operation add = unfused_elementwise(
      {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1}}, 2, lambda_d);
  add.parameters = 1 - lambda_d;
  return add;
}

}  // namespace depthcost::operations
