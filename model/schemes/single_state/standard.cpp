// The standard residual: h_l = h_{l-1} + f_{l-1}(h_{l-1}).
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

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

BackwardLayer standard_backward_layer(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  return add_and_norm_backward(schedule);
}

constexpr std::string_view kStandardBackwardKernels[]{"residual_add_rmsnorm_backward"};

GradientRule standard_gradients(Schedule schedule, GradientAccumulation) {
  GradientRule rule{
      .equations =
          "dh = df = dh' + (g o dx - n (g o dx . n) / d) / r, dg = sum_t dx o n, n = h' / r",
      .kernels = {}};
  if (schedule != unfused) rule.kernels = kStandardBackwardKernels;
  return rule;
}

constexpr BackwardRule kStandardBackward{
    .moves = "fused: h, dx, dh r; dh w. unfused: norm h, dx r, 1 w; sum 2 r, 1 w",
    .layer = standard_backward_layer,
    .activations = layers_keep<add_and_norm_saved>,
    .gradients = standard_gradients};

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
