// Launches of mHC. REFERENCES.md, "operations".
#pragma once

#include "model/operations/catalogue_entry.hpp"

namespace depthcost::operations {

// mHC: phi, m^2 + 2m rows of m d, is 2 m d (m^2 + 2m) operations a token, the three mixes
// 2 (m^2 + 2m) d. The coefficients that the next post needs, H_post and H_res, wait in memory
// between the two kernels. Each has a bias; their three scales are arguments of the call.
constexpr double mhc_coefficients(double m) { return m * m + 2 * m; }
constexpr double mhc_stored_coefficients(double m) { return m * m + m; }
constexpr double mhc_phi_d(double m) { return m * mhc_coefficients(m); }
constexpr double mhc_projection_flops_d(double m) { return 2 * mhc_phi_d(m); }

inline constexpr OperationId kMhcPost{"mhc_post"};

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f. m + 1 r, m w.
constexpr Operation mhc_post(double m) {
  return {.id = kMhcPost,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m}},
          .reads_scalars = mhc_stored_coefficients(m),
          .flops_d = 2 * (m * m + m)};
}

inline constexpr OperationId kMhcPre{"mhc_pre"};

/// Coefficients, x = sum_j H_pre[j] X_j, norm. The row is read for phi and for the mix:
/// `second_reads` is m, or 0 where it stays on chip.
constexpr Operation mhc_pre(double m, double second_reads) {
  return {.id = kMhcPre,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::recent, m + second_reads, 0},
                       Access{Operand::layer_input, 0, 1}},
          .writes_scalars = mhc_stored_coefficients(m),
          .flops_d = mhc_projection_flops_d(m) + 2 * m,
          .parameters_d = mhc_phi_d(m) + kGain_d,
          .parameters = mhc_coefficients(m)};
}

/// Schedule `fused`: 2m r, 1 w.
constexpr Operation mhc_pre(double m) { return mhc_pre(m, m); }

inline constexpr OperationId kMhcBoundary{"mhc_boundary"};

/// Post, the next pre and its norm. `second_reads` is m where the row is read again for the mix, 0
/// where it stays on chip.
constexpr Operation mhc_boundary(double m, double second_reads) {
  return {
      .id = kMhcBoundary,
      .unit = ExecutionUnit::tensor_cores,
      .streams = static_cast<Count>(m),
      .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m},
                   Access{Operand::recent, second_reads, 0}, Access{Operand::layer_input, 0, 1}},
      .reads_scalars = mhc_stored_coefficients(m),
      .writes_scalars = mhc_stored_coefficients(m),
      .flops_d = mhc_projection_flops_d(m) + 2 * (m * m + 2 * m),
      .parameters_d = mhc_phi_d(m) + kGain_d,
      .parameters = mhc_coefficients(m)};
}

inline constexpr std::array kMhcEntries{
    CatalogueEntry{
        .name = kMhcPre.text,
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_pre(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = "mhc_pre/on_chip",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_pre(as_double(c.num_streams), 0); }},
    CatalogueEntry{
        .name = kMhcPost.text,
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_post(as_double(c.num_streams)); }},
    CatalogueEntry{.name = kMhcBoundary.text,
                   .has_streams = true,
                   .operation =
                       [](const CallCounts& c) {
                         return mhc_boundary(as_double(c.num_streams), as_double(c.num_streams));
                       }},
    CatalogueEntry{
        .name = "mhc_boundary/on_chip",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_boundary(as_double(c.num_streams), 0); }},
};

}  // namespace depthcost::operations
