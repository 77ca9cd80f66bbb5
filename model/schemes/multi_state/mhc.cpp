// Manifold-constrained hyper-connections (mHC), m residual streams. [mhc] arXiv:2512.24880v2.
#include <algorithm>
#include <cassert>

#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/mhc_recomputation.hpp"
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

/// phi, m^2 + 2m biases and 3 scales. [mhc] Eq. 7-8.
///   m d (m^2 + 2m) + m^2 + 2m + 3
double mhc_parameters(const SchemeLayer& at) {
  const double m = num_streams(at);
  return m * hidden_size(at) * (m * m + 2 * m) + m * m + 2 * m + 3;
}

/// Backward of a boundary, m streams.
///   fused               (6m + 2) r, (3m + 1) w: post, pre and the projection of
///                       deepseek-ai/TileKernels tile_kernels/mhc, read off their signatures
///   two_pass, one_pass  (3m + 2) r, (m + 1) w: dX is carried along, gradients of coefficients wait
///                       for the second visit. [ours], the least that is possible
///   unfused             (9m + 4) r, (5m + 2) w: each kernel's own backward, and autograd's two
///                       additions to the gradient of X, which three kernels read. [ours]
BackwardLayer mhc_backward_layer(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  const double m = num_streams(at);
  if (schedule == fused) return {{3 * m + 2, 3 * m, 3 * m + 1}, 3};
  if (schedule == unfused) return {{4 * m + 4, 5 * m, 5 * m + 2}, 7};
  return {{2 * m + 2, m, m + 1}, 1};
}

/// Every layer saves its m streams, their mix (the norm's input), its normalised input, its
/// output f, and as scalars the m^2 + 2m unactivated coefficients and the streams' norm: f and
/// the streams for the gradients of the coefficients. [mhc] Table 3. Eager code, whose projection
/// is a matrix product of its own, keeps the normalised streams too.
ChunkActivations mhc_activations(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                 const ActivationPlan& plan) {
  if (chunk.num_layers == 0) return {};
  const Count m = last.parameters.num_streams;
  const SavedVectors output = saved_vectors(1);
  const SavedVectors coefficients{.vectors = 0, .scalars = static_cast<double>(m * m + 2 * m + 1)};
  const SavedVectors normalised = saved_vectors(plan.schedule == unfused ? m : 0);
  const SavedVectors remade =
      saved_vectors(m) + normalised + kNormInput + kNormOutput + coefficients;
  const auto num_layers = static_cast<double>(chunk.num_layers);
  if (plan.policy != ActivationPolicy::recompute)
    return placed_activations(plan.policy, chunk.num_layers, num_layers * (remade + output),
                              remade + output, {});
  assert(plan.recompute_layers >= 1);
  const Count at_once = std::min(plan.recompute_layers, chunk.num_layers);
  const Count num_states = (chunk.num_layers + at_once - 1) / at_once;
  return {.kept = saved_vectors(num_states * m) + num_layers * output,
          .for_weights = saved_vectors(chunk.num_layers),
          .working = static_cast<double>(at_once) * remade};
}

constexpr BackwardRule kMhcBackward{
    .layer = mhc_backward_layer,
    .activations = mhc_activations,
    .recompute_layers = [](const SchemeParameters& parameters, Count num_layers) {
      return best_mhc_recomputation(parameters.num_streams, num_layers);
    }};

}  // namespace

namespace {

/// The norm of the plain mean of all streams: m r, 1 w.
Launches mean_exit(const SchemeLayer& last, Schedule schedule) {
  const double m = num_streams(last);
  if (schedule != unfused)
    return {operations::row_update({reads(Operand::recent, m), kWritesInput}, m)};
  return {
      operations::unfused_elementwise({reads(Operand::recent, m), writes(Operand::recent, 1)}, m),
      operations::rmsnorm()};
}

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
    .unmixed = "of mhc's form",
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
    .backward = &kMhcBackward};

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
    .operations = mhc_launches,
    .state_d = stream_states,
    .parameters = mhc_parameters,
    .problem = streams_problem,
    .counted = mhc_table1,
    .formula = mhc_formula,
    .backward = &kMhcBackward};

}  // namespace depthcost
