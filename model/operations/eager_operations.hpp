// What a framework's eager mode launches, one kernel per mathematical operation: schedule
// `unfused`, convention `kernel`. REFERENCES.md, "schedules".
#pragma once

#include "model/operations/attnres_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"

namespace depthcost::operations {

inline constexpr OperationId kUnfusedRmsnorm{"unfused_rmsnorm"};

/// x = norm(h) as a kernel of its own. 1 r, 1 w; the gain.
constexpr Operation rmsnorm() {
  return {.id = kUnfusedRmsnorm,
          .accesses = {Access{Operand::recent, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .parameters_d = kGain_d};
}

inline constexpr OperationId kUnfusedElementwise{"unfused_elementwise"};

/// A framework's elementwise kernel over rows.
constexpr Operation unfused_elementwise(const Accesses& accesses, double flops_d,
                                        double parameters_d = 0) {
  return {.id = kUnfusedElementwise,
          .skeleton = Skeleton::elementwise,
          .accesses = accesses,
          .flops_d = flops_d,
          .parameters_d = parameters_d};
}

inline constexpr OperationId kUnfusedProjection{"unfused_projection"};

/// A product with a weight matrix of `columns` x d elements: 2 d operations a column. Its output is
/// rows of d, or loose scalars.
constexpr Operation unfused_projection(const Accesses& accesses, double columns,
                                       double writes_scalars = 0) {
  return {.id = kUnfusedProjection,
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
  return {.id = kResidualAdd,
          .skeleton = Skeleton::elementwise,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::partial_sum, 1, 1}}};
}

inline constexpr OperationId kUnfusedStack{"unfused_stack"};

/// torch.stack of s sources: s r, s w.
constexpr Operation unfused_stack(double s) {
  return {.id = kUnfusedStack,
          .skeleton = Skeleton::elementwise,
          .sources = static_cast<Count>(s),
          .accesses = {Access{Operand::bank, s, 0}, Access{Operand::recent, 0, s}}};
}

inline constexpr OperationId kUnfusedKeyNorm{"unfused_key_norm"};

/// K = RMSNorm(V): s r, s w.
constexpr Operation unfused_key_norm(double s) {
  return {.id = kUnfusedKeyNorm,
          .sources = static_cast<Count>(s),
          .accesses = {Access{Operand::recent, s, s}},
          .flops_d = kFlopsPerKey * s};
}

inline constexpr OperationId kUnfusedScores{"unfused_scores"};

/// logits = w . K: s r, s scalars w; the query.
constexpr Operation unfused_scores(double s) {
  return {.id = kUnfusedScores,
          .sources = static_cast<Count>(s),
          .queries = 1,
          .accesses = {Access{Operand::recent, s, 0}},
          .writes_scalars = s,
          .flops_d = kFlopsPerPair / 2 * s,
          .parameters_d = kQuery_d};
}

inline constexpr OperationId kUnfusedMix{"unfused_mix"};

/// h = softmax(logits) . V: s r and s scalars r, 1 w.
constexpr Operation unfused_mix(double s) {
  return {.id = kUnfusedMix,
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

inline constexpr OperationId kUnfusedMhcCoefficients{"unfused_mhc_coefficients"};

/// phi . vec(X): m r, m^2 + 2m scalars w; phi and the biases.
constexpr Operation unfused_mhc_coefficients(double m) {
  return {.id = kUnfusedMhcCoefficients,
          .unit = ExecutionUnit::tensor_cores,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}},
          .writes_scalars = mhc_coefficients(m),
          .flops_d = mhc_projection_flops_d(m),
          .parameters_d = mhc_phi_d(m),
          .parameters = mhc_coefficients(m)};
}

inline constexpr OperationId kUnfusedMhcPre{"unfused_mhc_pre"};

/// H_pre X: m r, 1 w.
constexpr Operation unfused_mhc_pre(double m) {
  return {.id = kUnfusedMhcPre,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::recent, 0, 1}},
          .reads_scalars = m,
          .flops_d = 2 * m};
}

inline constexpr OperationId kUnfusedMhcPost{"unfused_mhc_post"};

/// H_post f: 1 r, m w.
constexpr Operation unfused_mhc_post(double m) {
  return {.id = kUnfusedMhcPost,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::recent, 0, m}},
          .reads_scalars = m,
          .flops_d = 2 * m};
}

inline constexpr OperationId kUnfusedMhcResidual{"unfused_mhc_residual"};

/// H_res X: m r, m w.
constexpr Operation unfused_mhc_residual(double m) {
  return {.id = kUnfusedMhcResidual,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::streams, m, 0}, Access{Operand::recent, 0, m}},
          .reads_scalars = m * m,
          .flops_d = 2 * m * m};
}

inline constexpr OperationId kUnfusedMhcMerge{"unfused_mhc_merge"};

/// Their sum: 2m r, m w.
constexpr Operation unfused_mhc_merge(double m) {
  return {.id = kUnfusedMhcMerge,
          .skeleton = Skeleton::elementwise,
          .streams = static_cast<Count>(m),
          .accesses = {Access{Operand::recent, 2 * m, 0}, Access{Operand::streams, 0, m}}};
}

inline constexpr std::array kEagerEntries{
    CatalogueEntry{.name = kUnfusedRmsnorm.text,
                   .operation = [](const CallCounts&) { return rmsnorm(); }},
    CatalogueEntry{
        .name = kUnfusedStack.text,
        .sources = "sources",
        .operation = [](const CallCounts& c) { return unfused_stack(as_double(c.num_sources)); }},
    CatalogueEntry{
        .name = kUnfusedKeyNorm.text,
        .sources = "sources",
        .operation =
            [](const CallCounts& c) { return unfused_key_norm(as_double(c.num_sources)); }},
    CatalogueEntry{
        .name = kUnfusedScores.text,
        .sources = "sources",
        .operation = [](const CallCounts& c) { return unfused_scores(as_double(c.num_sources)); }},
    CatalogueEntry{
        .name = kUnfusedMix.text,
        .sources = "sources",
        .operation = [](const CallCounts& c) { return unfused_mix(as_double(c.num_sources)); }},
    CatalogueEntry{
        .name = kUnfusedMhcCoefficients.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return unfused_mhc_coefficients(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kUnfusedMhcPre.text,
        .has_streams = true,
        .operation = [](const CallCounts& c) { return unfused_mhc_pre(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kUnfusedMhcPost.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return unfused_mhc_post(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kUnfusedMhcResidual.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return unfused_mhc_residual(as_double(c.num_streams)); }},
    CatalogueEntry{
        .name = kUnfusedMhcMerge.text,
        .has_streams = true,
        .operation =
            [](const CallCounts& c) { return unfused_mhc_merge(as_double(c.num_streams)); }},
};

}  // namespace depthcost::operations
