// Manifold-constrained hyper-connections (mHC), m residual streams. [mhc] arXiv:2512.24880v2.
#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/streams.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::string_view kMhcTable1 = "model/schemes/multi_state/mhc.cpp: mhc_table1";

constexpr std::array kMhcSchedules{unfused, fused, two_pass, one_pass};
constexpr std::array kMhcCountings{
    Counting{unfused, Convention::paper}, Counting{unfused, Convention::kernel},
    Counting{fused, Convention::kernel}, Counting{two_pass, Convention::kernel},
    Counting{one_pass, Convention::kernel}};

Launches mhc_launches(const SchemeLayer& at, Schedule schedule) {
  const double m = num_streams(at);
  if (schedule == two_pass) return {operations::mhc_boundary(m, m)};
  if (schedule == one_pass) return {operations::mhc_boundary(m, 0)};
  if (schedule == fused) return {operations::mhc_post(m), operations::mhc_pre(m)};
  Launches all{operations::unfused_mhc_coefficients(m)};
  for (const Operation& piece : merge_pieces(m)) all.push_back(piece);
  return all;
}

/// Reads (5m+1) d + m^2 + 2m, writes (3m+1) d + m^2 + 2m: five kernels, no fusion.
/// [attnres] Table 1, row "mHC"; the same row as [mhc] Table 2.
Traffic mhc_table1(const SchemeLayer& at, Counting) {
  const double m = num_streams(at);
  return {.reads_d = 5 * m + 1,
          .writes_d = 3 * m + 1,
          .reads_scalars = m * m + 2 * m,
          .writes_scalars = m * m + 2 * m};
}

LedgerFormula mhc_formula(Counting counting) {
  if (counting.convention == Convention::paper)
    return table1_formula(kMhcTable1, "(5m + 1) r, (3m + 1) w, m^2 + 2m scalars r and w", "mHC");
  if (counting.schedule == fused)
    return operation_formula("post: m + 1 r, m w; pre with norm: 2m r, 1 w", "mhc",
                             "mhc_post, mhc_pre");
  if (counting.schedule == two_pass)
    return operation_formula("boundary: 2m + 1 r, m + 1 w", "mhc", "mhc_boundary");
  if (counting.schedule == one_pass)
    return operation_formula("boundary: m + 1 r, m + 1 w", "mhc", "mhc_boundary");
  return {"the five rows of Table 1, (8m + 2) d, and the norm: 1 r, 1 w", "[mhc] Table 2",
          "model/operations/eager_operations.hpp: operations::unfused_mhc_*"};
}

double mhc_parameters(const SchemeLayer& at) {
  const double m = num_streams(at);
  return projection_parameters(m, hidden_size(at), m * m + 2 * m);
}

BackwardLayer mhc_backward_layer(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  return dynamic_streams_backward(num_streams(at), schedule);
}

constexpr std::string_view kMhcBackwardKernels[]{"mhc_post_backward", "mhc_pre_backward"};
constexpr std::string_view kMhcBoundaryBackward[]{"mhc_boundary_backward"};

GradientRule mhc_gradients(Schedule schedule, GradientAccumulation) {
  GradientRule rule{
      .equations =
          "dX = H_res^T dX', df = sum_i H_post[i] dX'_i; dX_j += H_pre[j] du + (phi^T dz - n "
          "((phi^T dz) . n) / (m d))_j / R, dphi = sum_t dz n^T, n = vec(X) / R",
      .kernels = {}};
  if (schedule == fused) rule.kernels = kMhcBackwardKernels;
  if (schedule == two_pass) rule.kernels = kMhcBoundaryBackward;
  return rule;
}

BackwardLayer least_mhc_backward(const SchemeLayer& at) {
  return least_streams_backward(num_streams(at));
}

constexpr OtherBackwardCount kOtherMhcBackward[]{
    {.name = "TileKernels, post, pre and projection",
     .source = "signatures in deepseek-ai/TileKernels tile_kernels/mhc",
     .layer = tile_kernels_backward},
    {.name = "the least", .source = "[ours] REFERENCES.md, backward", .layer = least_mhc_backward}};

constexpr std::array kMhcBackwardBounds{one_pass};

constexpr BackwardRule kMhcBackward{
    .moves =
        "fused: 5m + 2 r, 2m + 1 w. two_pass: 4m + 2 r, m + 1 w. one_pass: 3m + 2 r, m + 1 w, the least that is possible. unfused: 9m + 4 r, 5m + 2 w",
    .layer = mhc_backward_layer,
    .activations = dynamic_streams_keep<mhc_scalars>,
    .recompute_layers = best_stream_recomputation,
    .gradients = mhc_gradients,
    .others = kOtherMhcBackward,
    .bounds = kMhcBackwardBounds};

/// The norm of the plain mean of all streams: m r, 1 w.
Launches mean_exit(const SchemeLayer& last, Schedule schedule) {
  const double m = num_streams(last);
  if (schedule != unfused)
    return {operations::row_update({reads(Operand::recent, m), kWritesInput}, m)};
  return {
      operations::unfused_elementwise({reads(Operand::recent, m), writes(Operand::recent, 1)}, m),
      operations::rmsnorm()};
}

/// The exit: the mean and dx r; every stream has the same gradient, which the boundary before it
/// reads as m rows.
///   fused     1 kernel: 2 r, m w        unfused   norm 2 r, 1 w; 1 r, m w
/// [ours]
BackwardLayer mean_exit_backward(const SchemeLayer& at, Schedule schedule,
                                 GradientAccumulation mode) {
  if (!is_behind_last(at)) return mhc_backward_layer(at, schedule, mode);
  const double m = num_streams(at);
  if (schedule == unfused) return norm_backward() + backward_kernel(0, 1, m);
  return backward_kernel(2, 0, m);
}

/// Behind the layers the exit keeps the mean, which is its norm's input, and the normalised output.
ChunkActivations mean_exit_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                const ActivationPlan& plan) {
  const auto exit_saved = [](const SchemeLayer& at, Schedule schedule) {
    return is_behind_last(at) ? add_and_norm_saved(at, schedule) : SavedLayer{.inputs = 0};
  };
  const ChunkActivations layers = dynamic_streams_keep<mhc_scalars>(last, chunk, plan);
  const ChunkActivations exit = saved_by_chunk(last, chunk, plan, exit_saved);
  return {.kept = layers.kept + exit.kept,
          .for_weights = layers.for_weights + exit.for_weights,
          .offloaded = layers.offloaded + exit.offloaded,
          .working = larger(layers.working, exit.working)};
}

constexpr BackwardRule kMeanExitBackward{.moves = "as mhc; the exit 2 r, m w",
                                         .layer = mean_exit_backward,
                                         .activations = mean_exit_keep,
                                         .recompute_layers = best_stream_recomputation,
                                         .gradients = mhc_gradients,
                                         .others = kOtherMhcBackward,
                                         .bounds = kMhcBackwardBounds};

double layer_parameters(const SchemeLayer& at) {
  return at.layer > at.num_layers ? 0 : mhc_parameters(at);
}

}  // namespace

const SchemeRule schemes::kMhcMeanExit{
    .id = "mhc_mean_exit",
    .label = "mHC, mean exit",
    .update = "as mHC; behind the last layer (1/m) sum_i X_i",
    .file = "multi_state/mhc.cpp",
    .source = "[mhc_mean_exit]",
    .moves = "as mhc; the exit m r, 1 w, which mhc leaves out as its paper does",
    .reference = "mhc.hpp",
    .unmixed = "its matrix is that of mhc: ask for that",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .pattern = DepthPattern::alike,
    .keys = kStreamsOnly,
    .schedules = kMhcSchedules,
    .countings = kMhcCountings,
    .shipped = fused,
    .operations = mhc_launches,
    .state_d = stream_states,
    .parameters = layer_parameters,
    .output = mean_exit,
    .problem = streams_problem,
    .counted = mhc_table1,
    .counted_output = [](const SchemeLayer&, Counting) { return Traffic{}; },
    .formula = mhc_formula,
    .backward = &kMeanExitBackward};

const SchemeRule schemes::kMhc{
    .id = "mhc",
    .label = "mHC",
    .update = "H_l = H_{l-1} A_l + f_{l-1}(H_{l-1} alpha_{l-1}) beta_{l-1}^T",
    .file = "multi_state/mhc.cpp",
    .source = "[attnres] Table 5; [mhc] Eq. 3-9",
    .reference = "mhc.hpp",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .pattern = DepthPattern::alike,
    .keys = kStreamsOnly,
    .schedules = kMhcSchedules,
    .countings = kMhcCountings,
    .shipped = fused,
    .measured_training =
        "DeepSeek measured +6.7 % of a training step: four streams, its own models and cluster, after "
        "overlap with other work (arXiv:2512.24880; arXiv:2606.19348, Sec. 3.5.2).",
    .operations = mhc_launches,
    .state_d = stream_states,
    .parameters = mhc_parameters,
    .problem = streams_problem,
    .counted = mhc_table1,
    .formula = mhc_formula,
    .backward = &kMhcBackward};

}  // namespace depthcost
