// Launches of the standard residual, scaled and gated ones, and of any other rule that updates
// rows in one scan. REFERENCES.md, "operations" and "family".
#pragma once

#include <cstdint>

#include "model/operations/catalogue_entry.hpp"

namespace depthcost::operations {

inline constexpr OperationId kResidualAdd{"residual_add"};

/// h += f. 2 r, 1 w.
constexpr Operation residual_add() {
  return {.id = kResidualAdd,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1}},
          .flops_d = 1};
}

inline constexpr OperationId kResidualAddRmsnorm{"residual_add_rmsnorm"};

/// h += f; x = norm(h). 2 r, 2 w; the norm's gain.
constexpr Operation residual_add_rmsnorm() {
  return {.id = kResidualAddRmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = 1,
          .parameters_d = kGain_d};
}

/// lambda of h = beta h + lambda o f.
enum class ScaleShape : std::uint8_t {
  scalar,  // ReZero, LAuReL-RW
  vector,  // LayerScale
};

inline constexpr OperationId kScaledAddRmsnorm{"scaled_add_rmsnorm"};

/// h = beta h + lambda o f; x = norm(h). 2 r, 2 w; the gain and lambda. beta is an argument of the
/// call.
constexpr Operation scaled_add_rmsnorm(ScaleShape lambda) {
  const double lambda_d = lambda == ScaleShape::vector ? 1 : 0;
  return {.id = kScaledAddRmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = 3,
          .parameters_d = kGain_d + lambda_d,
          .parameters = 1 - lambda_d};
}

/// A sigmoid is an exponential, a sum and a quotient. [ours]
inline constexpr double kFlopsPerSigmoid = 3;

inline constexpr OperationId kHighwayRmsnorm{"highway_rmsnorm"};

/// g = sigmoid(z); h = (1 - g) o h + g o f; x = norm(h). 3 r, 2 w: the gate's GEMM has written its
/// logits z. The gain; W and b of the gate belong to that GEMM.
constexpr Operation highway_rmsnorm() {
  return {.id = kHighwayRmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::hidden_state, 1, 1},
                       Access{Operand::recent, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .flops_d = kFlopsPerSigmoid + 3,
          .parameters_d = kGain_d};
}

inline constexpr OperationId kResidualScalingRmsnorm{"residual_scaling_rmsnorm"};

/// r = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r). 3 r, 3 w, of which 2 each way are r, in f32;
/// where everything is f32, 2 r, 2 w. The gain and `vectors`, scales and shifts: 4, or 2 where r is
/// added as it is.
constexpr Operation residual_scaling_rmsnorm(double vectors, double stream_d) {
  return {.id = kResidualScalingRmsnorm,
          .accesses = {Access{Operand::layer_output, 1, 0},
                       Access{Operand::hidden_state, stream_d, stream_d},
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = vectors + 1,
          .parameters_d = kGain_d + vectors};
}

inline constexpr OperationId kRowUpdate{"row_update"};

/// One scan over rows of a token that ends in a norm: the best that fusion can do.
constexpr Operation row_update(const Accesses& accesses, double flops_d, double parameters_d = 0) {
  return {.id = kRowUpdate,
          .accesses = accesses,
          .flops_d = flops_d,
          .parameters_d = kGain_d + parameters_d};
}

inline constexpr std::array kResidualEntries{
    CatalogueEntry{.name = kResidualAdd.text,
                   .meaning = "h += f",
                   .moves = "2 r, 1 w",
                   .operation = [](const CallCounts&) { return residual_add(); }},
    CatalogueEntry{.name = kResidualAddRmsnorm.text,
                   .meaning = "h += f; x = norm(h)",
                   .moves = "2 r, 2 w",
                   .operation = [](const CallCounts&) { return residual_add_rmsnorm(); }},
    CatalogueEntry{
        .name = kScaledAddRmsnorm.text,
        .meaning = "h = beta h + lambda o f; x = norm(h): ReZero, LayerScale, LAuReL-RW",
        .moves = "2 r, 2 w",
        .operation = [](const CallCounts&) { return scaled_add_rmsnorm(ScaleShape::vector); }},
    CatalogueEntry{
        .name = "scaled_add_rmsnorm/scalar",
        .operation = [](const CallCounts&) { return scaled_add_rmsnorm(ScaleShape::scalar); }},
    CatalogueEntry{.name = kHighwayRmsnorm.text,
                   .meaning = "h = (1 - sigmoid(z)) o h + sigmoid(z) o f; x = norm(h)",
                   .moves = "3 r, 2 w",
                   .operation = [](const CallCounts&) { return highway_rmsnorm(); }},
    CatalogueEntry{
        .name = kResidualScalingRmsnorm.text,
        .meaning =
            "r = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r), r in f32: ZAYA1's residual scaling",
        .moves = "3 r, 3 w, of which r 2 each way; in f32 2 r, 2 w",
        .operation = [](const CallCounts&) { return residual_scaling_rmsnorm(4, 2); }},
    CatalogueEntry{.name = "residual_scaling_rmsnorm/one_type",
                   .operation = [](const CallCounts&) { return residual_scaling_rmsnorm(4, 1); }},
};

// Backward passes. Gradients of parameters are added up over all tokens and count nothing per
// token; a second launch adds up the slices of tokens. REFERENCES.md, "backward".

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

inline constexpr std::array kResidualBackwardEntries{
    CatalogueEntry{.name = kResidualAddRmsnormBackward.text,
                   .meaning = "of h += f; x = norm(h)",
                   .moves = "3 r, 1 w",
                   .operation = [](const CallCounts&) { return residual_add_rmsnorm_backward(); }},
};

}  // namespace depthcost::operations
