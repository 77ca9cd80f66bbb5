// Launches of backward passes that kernels exist for: kernels/operations/backward. Gradients of
// parameters are added up over all tokens and count nothing per token; a second launch adds up the
// slices of tokens. REFERENCES.md, "backward".
#pragma once

#include "model/operations/attnres_operations.hpp"
#include "model/operations/mhc_operations.hpp"

namespace depthcost::operations {

inline constexpr OperationId kResidualAddRmsnormBackward{"residual_add_rmsnorm_backward"};

/// h', dx and dh' r; dh w. 4 d; the gain. Two sums over the row, and two multiply-adds for each of
/// dh and the gain's gradient. [ours]
constexpr Operation residual_add_rmsnorm_backward() {
  return {.id = kResidualAddRmsnormBackward,
          .accesses = {Access{Operand::hidden_state, 1, 0}, Access{Operand::layer_output, 1, 0},
                       Access{Operand::gradients, 1, 1}},
          .flops_d = 10,
          .launches = 2,
          .parameters_d = kGain_d};
}

// A source takes 2 d for dh . v and 8 d for its gradient and its part of dw, beside those of the
// forward pass. [ours]
inline constexpr double kBackwardFlopsPerPair = 10;

inline constexpr OperationId kAttnresSinglePassBackward{"attnres_single_pass_backward"};

/// Sources and dx r once, their gradients r and w: (3n + 1) d. The query, and the gain of the norm.
constexpr Operation single_pass_backward(double bank_rows, double partial_sums) {
  const double n = bank_rows + partial_sums;
  return {.id = kAttnresSinglePassBackward,
          .sources = static_cast<Count>(n),
          .queries = 1,
          .accesses = {Access{Operand::bank, bank_rows, 0},
                       Access{Operand::partial_sum, partial_sums, 0},
                       Access{Operand::layer_output, 1, 0}, Access{Operand::gradients, n, n}},
          .flops_d = (kFlopsPerPair + kFlopsPerKey + kBackwardFlopsPerPair) * n,
          .launches = 2,
          .parameters_d = kQuery_d + kGain_d};
}

inline constexpr OperationId kAttnresPhase1Backward{"attnres_phase1_backward"};

/// The bank and the gradients of S mixes r once, the bank's gradients r and w: (3n + S) d. log l
/// and dh . h of each query.
constexpr Operation phase1_backward(Count bank_rows, Count num_queries) {
  const double n = as_double(bank_rows);
  const double queries = as_double(num_queries);
  return {.id = kAttnresPhase1Backward,
          .unit = ExecutionUnit::tensor_cores,
          .sources = bank_rows,
          .queries = num_queries,
          .accesses = {Access{Operand::bank, n, 0}, Access{Operand::layer_output, queries, 0},
                       Access{Operand::gradients, n, n}},
          .reads_scalars = 2 * queries - 1,
          .flops_d = n * ((kFlopsPerPair + kBackwardFlopsPerPair) * queries + kFlopsPerKey),
          .launches = 2,
          .parameters_d = kQuery_d * queries + kGain_d};
}

inline constexpr OperationId kAttnresPhase2Backward{"attnres_phase2_backward"};

/// The partial sum, the mix and dx r, dh w; the partial sum's gradient r and w: 6 d. log l r, dh .
/// h w.
constexpr Operation phase2_backward() {
  return {.id = kAttnresPhase2Backward,
          .sources = 1,
          .queries = 1,
          .accesses = {Access{Operand::partial_sum, 1, 0}, Access{Operand::hidden_state, 1, 0},
                       Access{Operand::layer_output, 1, 0}, Access{Operand::gradients, 1, 2}},
          .reads_scalars = 1,
          .writes_scalars = 1,
          .flops_d = kFlopsPerPair + kFlopsPerKey + kBackwardFlopsPerPair + 10,
          .launches = 2,
          .parameters_d = kQuery_d + kGain_d};
}

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

inline constexpr std::array kBackwardEntries{
    CatalogueEntry{.name = kResidualAddRmsnormBackward.text,
                   .operation = [](const CallCounts&) { return residual_add_rmsnorm_backward(); }},
    CatalogueEntry{
        .name = kAttnresSinglePassBackward.text,
        .sources = "bank rows, beside the partial sum",
        .operation =
            [](const CallCounts& c) { return single_pass_backward(as_double(c.num_sources), 1); }},
    CatalogueEntry{
        .name = kAttnresPhase1Backward.text,
        .sources = "bank rows",
        .has_queries = true,
        .operation =
            [](const CallCounts& c) { return phase1_backward(c.num_sources, c.num_queries); }},
    CatalogueEntry{.name = kAttnresPhase2Backward.text,
                   .operation = [](const CallCounts&) { return phase2_backward(); }},
    CatalogueEntry{
        .name = kMhcPostBackward.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return mhc_post_backward(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kMhcPreBackward.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return mhc_pre_backward(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kMhcBoundaryBackward.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return mhc_boundary_backward(as_double(c.num_streams)); }},
};

}  // namespace depthcost::operations
