// Launches of hyper-connections beside mHC that need one scan. REFERENCES.md, "family".
#pragma once

#include "model/operations/mhc_operations.hpp"

namespace depthcost::operations {

inline constexpr OperationId kHcBoundary{"hc_boundary"};

/// Static hyper-connections: H_i = sum_j A_r[j][i] H_j + beta_i f, x = norm(sum_i A_m[i] H_i). The
/// coefficients are parameters, so x is mixed as the streams are made: m + 1 r, m + 1 w.
constexpr Operation hc_boundary(double m) {
  return {.id = kHcBoundary,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = 2 * (m * m + 2 * m),
          .parameters_d = kGain_d,
          .parameters = m * m + 2 * m};
}

inline constexpr OperationId kSinglePassMhc{"single_pass_mhc"};

/// Single-Pass mHC: X = B X + C f, x = norm(A X) with the A that the boundary before left, and new
/// (A, B, C) from X. One scan: m + 1 r, m + 1 w, and the coefficients read and written.
constexpr Operation single_pass_mhc(double m) {
  return {.id = kSinglePassMhc,
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

inline constexpr std::array kHyperConnectionEntries{
    CatalogueEntry{
        .name = kHcBoundary.text,
        .meaning =
            "static hyper-connections: H_i = sum_j A_r[j][i] H_j + beta_i f, x = norm(sum_i A_m[i] H_i)",
        .moves = "m + 1 r, m + 1 w",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return hc_boundary(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kSinglePassMhc.text,
        .meaning = "X = B X + C f, x = norm(A X) with the A of the boundary before, new A, B, C",
        .moves = "m + 1 r, m + 1 w",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return single_pass_mhc(as_double(c.num_streams)); }},
};

}  // namespace depthcost::operations
