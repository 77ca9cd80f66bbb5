// The standard residual: h_l = h_{l-1} + f_{l-1}(h_{l-1}).
#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::string_view kStandardTable1 =
    "model/schemes/single_state/standard.cpp: standard_table1";

constexpr std::array kStandardCountings{Counting{unfused, Convention::paper},
                                        Counting{unfused, Convention::kernel},
                                        Counting{fused, Convention::kernel}};

Launches standard_launches(const SchemeLayer&, Schedule schedule) {
  if (schedule == fused) return {operations::residual_add_rmsnorm()};
  return {operations::residual_add(), operations::rmsnorm()};
}

/// Residual merge: reads 2d, writes d. [attnres] Table 1, row "Standard".
Traffic standard_table1(const SchemeLayer&, Counting) { return {.reads_d = 2, .writes_d = 1}; }

LedgerFormula standard_formula(Counting counting) {
  if (counting.convention == Convention::paper)
    return table1_formula(kStandardTable1, "2 r, 1 w", "Standard");
  if (counting.schedule == fused)
    return operation_formula("add and norm: 2 r, 2 w", "residual", "residual_add_rmsnorm");
  return operation_formula(
      "add: 2 r, 1 w; norm: 1 r, 1 w", "residual",
      "residual_add; model/operations/eager_operations.hpp: operations::rmsnorm");
}

/// Backward of h += f; x = norm(h). The gradient of f is that of h.
///   fused     h, dx, dh r, dh w in one kernel
///   unfused   h, dx r, dn w; then dh, dn r, dh w
/// [ours]
BackwardLayer standard_backward_layer(const SchemeLayer& at, Schedule schedule,
                                      GradientAccumulation) {
  if (at.layer > at.num_layers) return {};
  if (schedule == fused)
    return {{.activation_reads_d = 2, .gradient_reads_d = 1, .gradient_writes_d = 1}, 1};
  return {{.activation_reads_d = 2, .gradient_reads_d = 2, .gradient_writes_d = 2}, 2};
}

/// h_l and the normalised input of every layer. A sum's own backward pass reads nothing, and h_l
/// follows from no fewer vectors than itself.
ChunkActivations standard_activations(const SchemeLayer&, const ChunkOfLayers& chunk,
                                      const ActivationPlan& plan) {
  const double num_layers = static_cast<double>(chunk.num_layers);
  if (chunk.num_layers == 0) return {};
  if (plan.policy == ActivationPolicy::recompute)
    return {.kept = num_layers * kNormInput,
            .for_weights = saved_vectors(chunk.num_layers),
            .working = kNormOutput};
  return placed_activations(plan.policy, chunk.num_layers, num_layers * (kNormInput + kNormOutput),
                            kNormInput + kNormOutput, {});
}

constexpr BackwardRule kStandardBackward{.layer = standard_backward_layer,
                                         .activations = standard_activations};

}  // namespace

const SchemeRule schemes::kStandard{.id = "standard",
                                    .label = "Standard",
                                    .update = "h_l = h_{l-1} + f_{l-1}(h_{l-1})",
                                    .file = "single_state/standard.cpp",
                                    .source = "[attnres] Table 5",
                                    .reference = "residual.hpp",
                                    .kind = {StateKind::single_state, WeightKind::fixed},
                                    .pattern = DepthPattern::alike,
                                    .schedules = kUnfusedAndFused,
                                    .countings = kStandardCountings,
                                    .operations = standard_launches,
                                    .state_d = one_state,
                                    .parameters = [](const SchemeLayer&) { return 0.0; },
                                    .counted = standard_table1,
                                    .formula = standard_formula,
                                    .backward = &kStandardBackward};

}  // namespace depthcost
