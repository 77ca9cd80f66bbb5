// Launches of hyper-connections beside mHC that need one scan. REFERENCES.md, "family".
#pragma once

#include "model/operations/mhc_operations.hpp"

namespace depthcost::operations {

/// Static hyper-connections: H_i = sum_j A_r[j][i] H_j + beta_i f, x = norm(sum_i A_m[i] H_i). The
/// coefficients are parameters, so x is mixed as the streams are made: m + 1 r, m + 1 w.
constexpr Operation hc_boundary(double m) {
  return {.id = OperationId::hc_boundary,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = 2 * (m * m + 2 * m),
          .parameters_d = kGain_d,
          .parameters = m * m + 2 * m};
}

/// Single-Pass mHC: X = B X + C f, x = norm(A X) with the A that the boundary before left, and new
/// (A, B, C) from X. One scan: m + 1 r, m + 1 w, and the coefficients read and written.
constexpr Operation single_pass_mhc(double m) {
  return {.id = OperationId::single_pass_mhc,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m},
                       Access{Operand::layer_input, 0, 1}},
          .reads_scalars = mhc_coefficients(m),
          .writes_scalars = mhc_coefficients(m),
          .flops_d = mhc_projection_flops_d(m) + 2 * (m * m + 2 * m),
          .parameters_d = mhc_phi_d(m) + kGain_d,
          .parameters = mhc_coefficients(m)};
}

}  // namespace depthcost::operations
