// What a framework's eager mode launches, one kernel per mathematical operation: schedule
// `unfused`, convention `kernel`. REFERENCES.md, "schedules".
#pragma once

#include "model/operations/attnres_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"

namespace depthcost::operations {

/// x = norm(h) as a kernel of its own. 1 r, 1 w; the gain.
constexpr Operation rmsnorm() {
  return {.id = OperationId::unfused_rmsnorm,
          .accesses = {Access{Operand::recent, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .parameters_d = kGain_d};
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

/// unfused_projection with fewer than d columns. Its weights are f32, like all parameters but wide
/// matrices.
constexpr Operation unfused_narrow_projection(const Accesses& accesses, double columns,
                                              double writes_scalars) {
  Operation product = unfused_projection(accesses, columns, writes_scalars);
  product.weights_d = 0;
  product.parameters_d = columns;
  return product;
}

/// h += lambda o f: 2 r, 1 w; lambda.
constexpr Operation unfused_scaled_add(ScaleShape lambda) {
  const double lambda_d = lambda == ScaleShape::vector ? 1 : 0;
  Operation add = unfused_elementwise(
      {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1}}, 2, lambda_d);
  add.parameters = 1 - lambda_d;
  return add;
}

/// b += f as its own kernel. 2 r, 1 w.
constexpr Operation unfused_partial_sum() {
  return {.id = OperationId::residual_add,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::partial_sum, 1, 1}}};
}

/// torch.stack of s sources: s r, s w.
constexpr Operation unfused_stack(double s) {
  return {.id = OperationId::unfused_stack,
          .skeleton = Skeleton::elementwise,
          .sources = static_cast<Count>(s),
          .accesses = {Access{Operand::bank, s, 0}, Access{Operand::recent, 0, s}}};
}

/// K = RMSNorm(V): s r, s w.
constexpr Operation unfused_key_norm(double s) {
  return {.id = OperationId::unfused_key_norm,
          .sources = static_cast<Count>(s),
          .accesses = {Access{Operand::recent, s, s}},
          .flops_d = kFlopsPerKey * s};
}

/// logits = w . K: s r, s scalars w; the query.
constexpr Operation unfused_scores(double s) {
  return {.id = OperationId::unfused_scores,
          .sources = static_cast<Count>(s),
          .queries = 1,
          .accesses = {Access{Operand::recent, s, 0}},
          .writes_scalars = s,
          .flops_d = kFlopsPerPair / 2 * s,
          .parameters_d = kQuery_d};
}

/// h = softmax(logits) . V: s r and s scalars r, 1 w.
constexpr Operation unfused_mix(double s) {
  return {.id = OperationId::unfused_mix,
          .skeleton = Skeleton::elementwise,
          .sources = static_cast<Count>(s),
          .queries = 1,
          .accesses = {Access{Operand::recent, s, 1}},
          .reads_scalars = s,
          .flops_d = kFlopsPerPair / 2 * s};
}

/// A mix over `sources` rows of which the last was written just before, and those in front of it by
/// earlier layers: no stack is needed where all lie in one buffer.
constexpr Operation unfused_bank_mix(double sources) {
  Operation mix = unfused_mix(sources);
  mix.accesses = {Access{Operand::bank, sources - 1, 0}, Access{Operand::recent, 1, 1}};
  return mix;
}

/// phi . vec(X): m r, m^2 + 2m scalars w; phi and the biases.
constexpr Operation unfused_mhc_coefficients(double m) {
  return {.id = OperationId::unfused_mhc_coefficients,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}},
          .writes_scalars = mhc_coefficients(m),
          .flops_d = mhc_projection_flops_d(m),
          .parameters_d = mhc_phi_d(m),
          .parameters = mhc_coefficients(m)};
}

/// H_pre X: m r, 1 w.
constexpr Operation unfused_mhc_pre(double m) {
  return {.id = OperationId::unfused_mhc_pre,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::recent, 0, 1}},
          .reads_scalars = m,
          .flops_d = 2 * m};
}

/// H_post f: 1 r, m w.
constexpr Operation unfused_mhc_post(double m) {
  return {.id = OperationId::unfused_mhc_post,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::recent, 0, m}},
          .reads_scalars = m,
          .flops_d = 2 * m};
}

/// H_res X: m r, m w.
constexpr Operation unfused_mhc_residual(double m) {
  return {.id = OperationId::unfused_mhc_residual,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::recent, 0, m}},
          .reads_scalars = m * m,
          .flops_d = 2 * m * m};
}

/// Their sum: 2m r, m w.
constexpr Operation unfused_mhc_merge(double m) {
  return {.id = OperationId::unfused_mhc_merge,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::recent, 2 * m, 0}, Access{Operand::streams, 0, m}}};
}

}  // namespace depthcost::operations
