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
        .meaning = "coefficients by Sinkhorn, x = sum_j H_pre[j] X_j, norm",
        .moves =
            "m r, 1 w on a GPU; 2m r on a CPU, where the streams of the tokens that share phi are more than a cache holds",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_pre(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = "mhc_pre/on_chip",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_pre(as_double(c.num_streams), 0); }},
    CatalogueEntry{
        .name = kMhcPost.text,
        .meaning = "X_i = sum_j H_res[i][j] X_j + H_post[i] f",
        .moves = "m + 1 r, m w",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return mhc_post(as_double(c.num_streams)); }},
    CatalogueEntry{.name = kMhcBoundary.text,
                   .meaning = "post, the next pre and its norm",
                   .moves = "m + 1 r, m + 1 w; 2m + 1 r on a CPU",
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

// Backward passes. Gradients of parameters are added up over all tokens and count nothing per
// token; a second launch adds up the slices of tokens. REFERENCES.md, "backward".

inline constexpr OperationId kMhcPostBackward{"mhc_post_backward"};

/// X, f and dX' r; dX and df w: (3m + 2) d. H_post and H_res r, their gradients w.
constexpr Operation mhc_post_backward(double m) {
  return {.id = kMhcPostBackward,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::layer_output, 1, 0},
                       Access{Operand::gradients, m, m + 1}},
          .reads_scalars = mhc_stored_coefficients(m),
          .writes_scalars = mhc_stored_coefficients(m),
          .flops_d = 4 * (m * m + m)};
}

inline constexpr OperationId kMhcPreBackward{"mhc_pre_backward"};

/// X, dx and dX r, dX w, and X r again for the product that makes dphi, a launch of its own: (4m +
/// 1) d. dH_post and dH_res r; dz of every row of phi w, and r by the product. Three products with
/// phi.
constexpr Operation mhc_pre_backward(double m) {
  return {.id = kMhcPreBackward,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, 2 * m, 0}, Access{Operand::layer_output, 1, 0},
                       Access{Operand::gradients, m, m}},
          .reads_scalars = mhc_stored_coefficients(m) + mhc_coefficients(m),
          .writes_scalars = mhc_coefficients(m),
          .flops_d = 3 * mhc_projection_flops_d(m) + 6 * m + 10,
          .launches = 3,
          .parameters_d = mhc_phi_d(m) + kGain_d,
          .parameters = mhc_coefficients(m)};
}

inline constexpr OperationId kMhcBoundaryBackward{"mhc_boundary_backward"};

/// X, f, X', dx and dX' r; dX and df w, and X' r again for the product that makes dphi: (5m + 3) d.
/// As mhc_pre_backward of X', then mhc_post_backward of X, whose dX' is not stored between them.
constexpr Operation mhc_boundary_backward(double m) {
  const Operation post = mhc_post_backward(m);
  Operation both = mhc_pre_backward(m);
  both.id = kMhcBoundaryBackward;
  both.accesses = {Access{Operand::streams, 3 * m, 0}, Access{Operand::layer_output, 2, 0},
                   Access{Operand::gradients, m, m + 1}};
  both.reads_scalars += post.reads_scalars;
  both.writes_scalars += post.writes_scalars;
  both.flops_d += post.flops_d;
  return both;
}

inline constexpr std::array kMhcBackwardEntries{
    CatalogueEntry{
        .name = kMhcPostBackward.text,
        .meaning = "of the streams, f, H_res and H_post",
        .moves = "2m + 1 r, m + 1 w",
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return mhc_post_backward(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kMhcPreBackward.text,
        .meaning = "coefficients made again; dphi by a product, in order",
        .moves = "3m + 1 r, m w",
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return mhc_pre_backward(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kMhcBoundaryBackward.text,
        .meaning =
            "of `mhc_boundary`: both of mHC in one scan, whose gradients of the streams between them stay on chip",
        .moves = "4m + 2 r, m + 1 w",
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return mhc_boundary_backward(as_double(c.num_streams)); }},
};

}  // namespace depthcost::operations
