// Launches of Gated Residual: n streams of width d, a gate for each element by two matrices of rank
// r, and an injection weight for each stream. REFERENCES.md, [gated_residual].
//   Xn_i = RMSNorm(X_i) (1 + g_i)      a = SiLU(D Xn / n)      G = sigmoid(U a)
//   x = sum_i G_i Xn_i / n             lambda = 2 sigmoid(B Xn / n)
//   X_i += lambda_i f                  one update later than its lambda
// Weights have the model's type. Elementwise operations are 12 n d a token in all.
//
// R tensor ranks may share the weights. Each has d/R columns of every stream: of D, B and the gain,
// and of U's results. Streams are whole on each rank, since their norms and updates are. Partial
// sums of D Xn and B Xn meet in an all-reduce, columns of x in an all-gather.
#pragma once

#include "model/operations/eager_operations.hpp"

namespace depthcost::operations {

/// A site reads the streams, and injects what its layer makes of them. The exit injects nothing.
enum class GateSite { layer, exit };

struct Gate {
  double n = 4;    // streams
  double r = 320;  // rank of D and U
  GateSite site = GateSite::layer;
  Count num_ranks = 1;  // that share the weights

  /// The share of one rank.
  constexpr double share() const { return 1 / as_double(num_ranks); }

  // Rows of d of each weight.
  constexpr double gain_d() const { return n; }
  constexpr double down_d() const { return n * r; }
  constexpr double up_d() const { return n * r; }
  constexpr double inject_d() const { return site == GateSite::layer ? n * n : 0; }
  /// n (2r + n + 1); n (2r + 1) at the exit.
  constexpr double weights_d() const { return gain_d() + down_d() + up_d() + inject_d(); }
  /// lambda of a layer.
  constexpr double weights_of_streams() const { return site == GateSite::layer ? n : 0; }
};

inline constexpr OperationId kGateApply{"gated_residual_apply"};
inline constexpr OperationId kGateDown{"gated_residual_down"};
inline constexpr OperationId kGateDownSilu{"gated_residual_down_silu"};
inline constexpr OperationId kGateUp{"gated_residual_up"};
inline constexpr OperationId kGateMix{"gated_residual_mix"};
inline constexpr OperationId kGateUpMix{"gated_residual_up_mix"};
inline constexpr OperationId kGateApplyDown{"gated_residual_apply_down"};
inline constexpr OperationId kGateBoundary{"gated_residual_boundary"};
inline constexpr OperationId kUnfusedGatedNorm{"unfused_gated_norm"};
inline constexpr OperationId kUnfusedGateDown{"unfused_gate_down"};
inline constexpr OperationId kUnfusedGateUp{"unfused_gate_up"};
inline constexpr OperationId kUnfusedActivation{"unfused_activation"};
inline constexpr OperationId kUnfusedGateProduct{"unfused_gate_product"};
inline constexpr OperationId kUnfusedStreamMean{"unfused_stream_mean"};
inline constexpr OperationId kGateAllReduce{"gated_residual_all_reduce"};
inline constexpr OperationId kGateAllGather{"gated_residual_all_gather"};

/// Whether the updated streams are stored normalised, too, or only their sums of squares are.
enum class StreamNorm { stored, folded };

/// X += lambda f and its norm: n + 1 r, n w; and n w where Xn is stored.
constexpr Operation gate_apply(const Gate& g, StreamNorm norm) {
  const double n = g.n;
  const bool is_stored = norm == StreamNorm::stored;
  return {.id = kGateApply,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, n, n},
                       Access{Operand::recent, 0, is_stored ? n * g.share() : 0}},
          .reads_scalars = n,
          .writes_scalars = is_stored ? 0 : n,
          .flops_d = 6 * n,
          .weights_d = is_stored ? g.gain_d() * g.share() : 0};
}

/// D Xn and B Xn in one product: n r; r + n scalars w.
constexpr Operation gate_down(const Gate& g) {
  const double n = g.n;
  const double outputs = g.r + g.weights_of_streams();
  return {.id = kGateDown,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::recent, n * g.share(), 0}},
          .writes_scalars = outputs,
          .flops_d = 2 * (g.down_d() + g.inject_d()) * g.share(),
          .weights_d = (g.down_d() + g.inject_d()) * g.share(),
          .product = {.outputs = outputs}};
}

/// The same in a kernel of its own that ends in SiLU and sigmoid. With the norm and its gain folded
/// into D and B, sums of squares are read.
constexpr Operation gate_down_silu(const Gate& g, StreamNorm norm) {
  Operation down = gate_down(g);
  down.id = kGateDownSilu;
  down.reads_scalars = norm == StreamNorm::folded ? g.n : 0;
  return down;
}

/// SiLU of the r, sigmoid of the n: scalars alone.
constexpr Operation gate_activation(const Gate& g) {
  const double count = g.r + g.weights_of_streams();
  return {.id = kUnfusedElementwise,
          .skeleton = Skeleton::elementwise,
          .reads_scalars = count,
          .writes_scalars = count};
}

/// The logits of all gates, U a: n w.
constexpr Operation gate_up(const Gate& g) {
  const double n = g.n;
  return {.id = kGateUp,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::recent, 0, n * g.share()}},
          .reads_scalars = g.r,
          .flops_d = 2 * g.up_d() * g.share(),
          .weights_d = g.up_d() * g.share(),
          .product = {.outputs_d = n * g.share()}};
}

/// x = sum_i sigmoid(logits_i) Xn_i / n: 2n r, 1 w.
constexpr Operation gate_mix(const Gate& g) {
  const double n = g.n;
  return {.id = kGateMix,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::recent, 2 * n * g.share(), 0},
                       Access{Operand::layer_input, 0, g.share()}},
          .flops_d = 6 * n * g.share()};
}

/// Both in one kernel, whose logits stay on chip: n r, 1 w. It reads Xn where that is stored, else
/// X with n factors and the gain.
constexpr Operation gate_up_mix(const Gate& g, StreamNorm norm) {
  const double n = g.n;
  const bool is_folded = norm == StreamNorm::folded;
  return {.id = kGateUpMix,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::recent, n * g.share(), 0},
                       Access{Operand::layer_input, 0, g.share()}},
          .reads_scalars = g.r + (is_folded ? n : 0),
          .flops_d = (2 * g.up_d() + 6 * n) * g.share(),
          .weights_d = (g.up_d() + (is_folded ? g.gain_d() : 0)) * g.share(),
          .product = {.outputs_d = n * g.share()}};
}

/// Update, norm, D and B in one scan: n + 1 r, n w.
constexpr Operation gate_apply_down(const Gate& g) {
  const double n = g.n;
  return {.id = kGateApplyDown,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, n, n}},
          .reads_scalars = n,
          .writes_scalars = g.r + g.weights_of_streams() + n,
          .flops_d = 6 * n + 2 * (g.down_d() + g.inject_d()) * g.share(),
          .weights_d = (g.gain_d() + g.down_d() + g.inject_d()) * g.share(),
          .product = {.outputs = g.r + g.weights_of_streams()}};
}

/// Everything while a token's streams stay on chip: n + 1 r, n + 1 w. A bound: every few tokens
/// read all weights from L2.
constexpr Operation gate_boundary(const Gate& g) {
  const double n = g.n;
  return {.id = kGateBoundary,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(n),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, n, n},
                       Access{Operand::layer_input, 0, g.share()}},
          .reads_scalars = n,
          .writes_scalars = g.weights_of_streams(),
          .flops_d = 12 * n + 2 * (g.down_d() + g.inject_d() + g.up_d()) * g.share(),
          .weights_d = g.weights_d() * g.share()};
}

// What a framework launches one by one, beside lambda f and its addition.

/// Xn of the updated streams: n r, n w; the gain. A rank needs its columns alone.
constexpr Operation unfused_gated_norm(const Gate& g) {
  return {.id = kUnfusedGatedNorm,
          .accesses = {Access{Operand::recent, g.n, g.n * g.share()}},
          .flops_d = 4 * g.n,
          .weights_d = g.gain_d() * g.share()};
}

/// D Xn or B Xn, as many scalars as it has `outputs`: n r.
constexpr Operation unfused_gate_down(const Gate& g, double outputs) {
  Operation product = unfused_projection({Access{Operand::recent, g.n * g.share(), 0}},
                                         g.n * outputs * g.share(), outputs);
  product.id = kUnfusedGateDown;
  return product;
}

/// As gate_up.
constexpr Operation unfused_gate_up(const Gate& g) {
  Operation up = gate_up(g);
  up.id = kUnfusedGateUp;
  return up;
}

/// The sigmoid of all logits: n r, n w.
constexpr Operation unfused_gates(const Gate& g) {
  const double own = g.n * g.share();
  Operation gates = unfused_elementwise({Access{Operand::recent, own, own}}, 4 * own);
  gates.id = kUnfusedActivation;
  return gates;
}

/// SiLU or sigmoid of `count` scalars.
constexpr Operation unfused_scalar_activation(double count) {
  Operation small = unfused_elementwise({}, 0);
  small.id = kUnfusedActivation;
  small.reads_scalars = small.writes_scalars = count;
  return small;
}

/// G o Xn: 2n r, n w.
constexpr Operation unfused_gate_product(const Gate& g) {
  const double own = g.n * g.share();
  Operation product = unfused_elementwise({Access{Operand::recent, 2 * own, own}}, own);
  product.id = kUnfusedGateProduct;
  return product;
}

/// Their mean over the streams: n r, 1 w.
constexpr Operation unfused_stream_mean(const Gate& g) {
  const double own = g.n * g.share();
  Operation mean = unfused_elementwise(
      {Access{Operand::recent, own, 0}, Access{Operand::layer_input, 0, g.share()}}, own);
  mean.id = kUnfusedStreamMean;
  return mean;
}

/// Partial sums of D Xn and B Xn.
constexpr Operation gate_all_reduce(const Gate& g) {
  return {.id = kGateAllReduce,
          .exchange = {TransferKind::all_reduce, g.num_ranks, 0, g.r + g.weights_of_streams()}};
}

/// The columns of x.
constexpr Operation gate_all_gather(const Gate& g) {
  return {.id = kGateAllGather, .exchange = {TransferKind::all_gather, g.num_ranks, 1, 0}};
}

/// As the released model has it: r = 320. unfused_gate_down is D, unfused_activation the sigmoid of
/// the gates.
inline constexpr std::array kGatedResidualEntries{
    CatalogueEntry{
        .name = kGateApplyDown.text,
        .meaning = "Gated Residual, first pass: X += lambda f, norms, D and B",
        .moves = "n + 1 r, n w",
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return gate_apply_down({.n = as_double(c.num_streams)}); }},
    CatalogueEntry{.name = kGateUpMix.text,
                   .meaning = "second pass: gates by U, x = (1/n) sum_i G_i o Xn_i",
                   .moves = "n r, 1 w",
                   .has_streams = true,
                   .operation =
                       [](const CallCounts& c) {
                         return gate_up_mix({.n = as_double(c.num_streams)}, StreamNorm::folded);
                       }},
    CatalogueEntry{.name = kUnfusedGatedNorm.text,
                   .has_streams = true,
                   .operation =
                       [](const CallCounts& c) {
                         return unfused_gated_norm({.n = as_double(c.num_streams)});
                       }},
    CatalogueEntry{.name = kUnfusedGateDown.text,
                   .has_streams = true,
                   .operation =
                       [](const CallCounts& c) {
                         return unfused_gate_down({.n = as_double(c.num_streams)}, Gate{}.r);
                       }},
    CatalogueEntry{
        .name = kUnfusedGateUp.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return unfused_gate_up({.n = as_double(c.num_streams)}); }},
    CatalogueEntry{
        .name = kUnfusedActivation.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return unfused_gates({.n = as_double(c.num_streams)}); }},
    CatalogueEntry{.name = kUnfusedGateProduct.text,
                   .has_streams = true,
                   .operation =
                       [](const CallCounts& c) {
                         return unfused_gate_product({.n = as_double(c.num_streams)});
                       }},
    CatalogueEntry{.name = kUnfusedStreamMean.text,
                   .has_streams = true,
                   .operation =
                       [](const CallCounts& c) {
                         return unfused_stream_mean({.n = as_double(c.num_streams)});
                       }},
};

}  // namespace depthcost::operations
