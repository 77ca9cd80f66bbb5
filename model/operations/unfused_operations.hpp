// What a framework's eager mode launches, one kernel per mathematical operation: schedule
// `unfused`, convention `kernel`. REFERENCES.md, "schedules".
#pragma once

#include "model/operations/operation.hpp"

namespace depthcost::operations {

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
          .accesses = {Access{Operand::recent, s, 1}},
          .reads_scalars = s,
          .flops_d = kFlopsPerPair / 2 * s};
}

// The five rows of [attnres] Table 1, "mHC".

/// phi . vec(X): m r, m^2 + 2m scalars w; phi and the biases.
constexpr Operation unfused_mhc_coefficients(double m) {
  return {.id = OperationId::unfused_mhc_coefficients,
          .unit = ExecutionUnit::tensor_cores,
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
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::recent, 0, 1}},
          .reads_scalars = m,
          .flops_d = 2 * m};
}

/// H_post f: 1 r, m w.
constexpr Operation unfused_mhc_post(double m) {
  return {.id = OperationId::unfused_mhc_post,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::recent, 0, m}},
          .reads_scalars = m,
          .flops_d = 2 * m};
}

/// H_res X: m r, m w.
constexpr Operation unfused_mhc_residual(double m) {
  return {.id = OperationId::unfused_mhc_residual,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::recent, 0, m}},
          .reads_scalars = m * m,
          .flops_d = 2 * m * m};
}

/// Their sum: 2m r, m w.
constexpr Operation unfused_mhc_merge(double m) {
  return {.id = OperationId::unfused_mhc_merge,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::recent, 2 * m, 0}, Access{Operand::streams, 0, m}}};
}

}  // namespace depthcost::operations
