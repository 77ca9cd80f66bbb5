// Launches of the schemes beside AttnRes and mHC that stream rows as those do: scaled and gated
// residuals, static and single-pass hyper-connections, dense mixing over depth. REFERENCES.md,
// "family".
#pragma once

#include "model/operations/operation.hpp"

namespace depthcost::operations {

/// lambda of h = beta h + lambda o f.
enum class ScaleShape : std::uint8_t {
  scalar,  // ReZero, LAuReL-RW
  vector,  // LayerScale
};

/// h = beta h + lambda o f; x = norm(h). 2 r, 2 w; the gain and lambda. beta is an argument of the
/// call.
constexpr Operation scaled_add_rmsnorm(ScaleShape lambda) {
  const double lambda_d = lambda == ScaleShape::vector ? 1 : 0;
  return {.id = OperationId::scaled_add_rmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = 3,
          .parameters_d = kGain_d + lambda_d,
          .parameters = 1 - lambda_d};
}

/// Of a sigmoid: exponential, sum, quotient. [ours]
inline constexpr double kFlopsPerSigmoid = 3;

/// g = sigmoid(z); h = (1 - g) o h + g o f; x = norm(h). 3 r, 2 w: the gate's GEMM has written its
/// logits z. The gain; W and b of the gate belong to that GEMM.
constexpr Operation highway_rmsnorm() {
  return {.id = OperationId::highway_rmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1},
                       Access{Operand::recent, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .flops_d = kFlopsPerSigmoid + 3,
          .parameters_d = kGain_d};
}

/// Static hyper-connections: H_i = sum_j A_r[j][i] H_j + beta_i f, x = norm(sum_i A_m[i] H_i). The
/// coefficients are parameters, so x is mixed as the streams are made: m + 1 r, m + 1 w.
constexpr Operation hc_boundary(double m) {
  return {.id = OperationId::hc_boundary,
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
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, m, m},
                       Access{Operand::layer_input, 0, 1}},
          .reads_scalars = mhc_coefficients(m),
          .writes_scalars = mhc_coefficients(m),
          .flops_d = mhc_projection_flops_d(m) + 2 * (m * m + 2 * m),
          .parameters_d = mhc_phi_d(m) + kGain_d,
          .parameters = mhc_coefficients(m)};
}

/// What dense mixing moves beside the bank's rows, the layer's output f and x.
struct DenseMixAccess {
  double hidden_reads = 0;   // 1: the last source is h + f, not f
  double bank_writes = 0;    // 1: the last source becomes a row of the bank
  double hidden_writes = 0;  // 1: y replaces the hidden state
};

/// y = sum_j alpha_j v_j over n rows of the bank and a last source from f; x = norm(y). One scan:
/// n + 1 r, 1 w, and what `extra` says. The gain and n + 1 weights.
constexpr Operation dense_mix(Count bank_rows, const DenseMixAccess& extra = {}) {
  const double sources = d_vectors(bank_rows) + 1;
  return {.id = OperationId::dense_mix,
          .sources = bank_rows + 1,
          .accesses = {Access{Operand::bank, d_vectors(bank_rows), extra.bank_writes},
                       Access{Operand::hidden_state, extra.hidden_reads, extra.hidden_writes},
                       Access{Operand::layer_output, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .flops_d = extra.hidden_reads + 2 * sources,
          .parameters_d = kGain_d,
          .parameters = sources};
}

/// DenseFormer behind a Transformer block: its output X_n = h + f goes to the bank, and the mix
/// over X_0 .. X_n is the hidden state from which the next block goes on. n + 2 r, 3 w.
constexpr Operation denseformer_mix(Count bank_rows) {
  return dense_mix(bank_rows, {.hidden_reads = 1, .bank_writes = 1, .hidden_writes = 1});
}

}  // namespace depthcost::operations
