// LAuReL: learned augmented residual layers, with weights, a low-rank path, or earlier activations.
#include <fmt/format.h>

#include <algorithm>

#include "model/base/counted.hpp"
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;
using operations::ScaleShape;

constexpr std::string_view kLaurelSource = "Menghani et al., LAuReL, arXiv:2411.07501";
constexpr SchemeKey kRank{"rank", &SchemeParameters::rank,
                          "arXiv:2411.07501: r = 4 costs 0.012 % of the parameters"};
constexpr SchemeKey kHistory{"history", &SchemeParameters::history,
                             "[ours] as many as streams of mHC"};
constexpr std::array kRankOnly{kRank};
constexpr std::array kRankAndHistory{kRank, kHistory};

double rank(const SchemeLayer& at) { return static_cast<double>(at.parameters.rank); }
double low_rank_parameters(const SchemeLayer& at) { return 2 * rank(at) * hidden_size(at); }

Launches weighted(const SchemeLayer&, Schedule schedule) {
  if (schedule == fused) return {operations::scaled_add_rmsnorm(ScaleShape::scalar)};
  Operation add = operations::unfused_scaled_add(ScaleShape::scalar);
  add.flops_d += 1;  // beta h
  add.parameters += 1;
  return {add, operations::rmsnorm()};
}

/// h += f + B (A h): A h is r scalars a token, which B's kernel adds as it reads h and f.
Launches low_rank(const SchemeLayer& at, Schedule schedule) {
  const double r = rank(at);
  if (schedule == fused)
    return {operations::row_update({kReadsOutput, kUpdatesHidden, kWritesInput}, 4 * r + 2, 2 * r)};
  Operation expand = operations::unfused_elementwise({kReadsOutput, kUpdatesHidden}, 2 * r + 2, r);
  expand.reads_scalars = r;
  return {operations::unfused_narrow_projection({kReadsHidden}, r, r), expand,
          operations::rmsnorm()};
}

/// h_{l-2} .. h_{l-1-k}, as far as there are any: h_0 is the embedding.
double earlier_states(const SchemeLayer& at) {
  return static_cast<double>(std::min(at.parameters.history, at.layer - 1));
}

/// h += f + sum_i gamma_i B A h_{l-1-i}: k earlier states beside h and f. The state of layer l - 1
/// is needed again, so that the new one goes to a row of its own.
Launches with_history(const SchemeLayer& at, Schedule schedule) {
  const double k = earlier_states(at);
  const double r = rank(at);
  if (schedule == fused) {
    Operation scan = operations::row_update(
        {kReadsOutput, kReadsHidden, Access{Operand::bank, k, 1}, kWritesInput},
        (4 * r + 2) * k + 2, 2 * r);
    scan.parameters = k;
    return {scan};
  }
  Operation down = operations::unfused_narrow_projection({reads(Operand::bank, k)}, r, k * r);
  down.flops_d *= k;
  Operation expand = operations::unfused_elementwise(
      {kReadsOutput, kReadsHidden, writes(Operand::bank, 1)}, (2 * r + 2) * k + 2, r);
  expand.reads_scalars = k * r;
  expand.parameters = k;
  Launches all{expand, operations::rmsnorm()};
  if (k > 0) all.insert(all.begin(), down);
  return all;
}

/// Backward of h' = beta h + alpha f; x = norm(h'), g the gradient of h'.
///   fused     h, f, dx, dh' r, h' made again; dh = beta g, df = alpha g w
///   unfused   norm 2 r, 1 w; sum 2 r, 1 w; h, f, g r, dh, df w
/// The gradients of beta and alpha, <g, h> and <g, f>, are reduced where these are read. [ours]
BackwardLayer weighted_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == unfused) return norm_backward() + gradient_sum() + backward_kernel(2, 1, 2);
  return backward_kernel(3, 1, 2);
}

/// h' and f.
SavedLayer weighted_saved(const SchemeLayer&, Schedule) {
  return {.state = kNormInput + d_vectors(1), .remade = kNormOutput, .before = 1};
}

/// Backward of h' = h + f + B A h; x = norm(h'). With g the gradient of h': df = g, dh = g + A^T
/// B^T g, where B^T g is r scalars; those of A and B are sums over tokens.
///   fused     h, h', dx, dh' r; df, dh w
///   unfused   norm 2 r, 1 w; sum 2 r, 1 w; g r for B^T g, and for B; dh w; h r for A; sum 2 r, 1 w
/// [ours]
BackwardLayer low_rank_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == fused) return backward_kernel(3, 1, 2);
  return norm_backward() + gradient_sum() + projection_backward(0, 1) + projection_backward(1, 0) +
         gradient_sum();
}

/// h', and the r scalars A h.
SavedLayer low_rank_saved(const SchemeLayer& at, Schedule) {
  return {.state = kNormInput, .remade = kNormOutput + loose_scalars(rank(at)), .before = 1};
}

/// Earlier states whose gradient has a sum already: layer l + 1 reads all of them but the k-th.
double earlier_sums(const SchemeLayer& at) {
  if (is_last_layer(at)) return 0;
  return std::min(earlier_states(at), static_cast<double>(at.parameters.history - 1));
}

/// With h_{l-1}, which layer l + 1 reads as an earlier state.
double history_sums(const SchemeLayer& at) {
  return earlier_sums(at) + (is_last_layer(at) ? 0 : 1);
}

/// As low_rank_backward; every earlier state has a gradient gamma_i A^T B^T g.
///   fused     h', k earlier states, dx, dh' r; df and k gradients w, and that of h where it is a
///             sum and no longer g
///   unfused   norm 2 r, 1 w; sum 2 r, 1 w; g r for B^T g, and for B; k w; k r for A
/// and what adding to the sums costs. [ours]
BackwardLayer history_backward(const SchemeLayer& at, Schedule schedule,
                               GradientAccumulation mode) {
  const double k = earlier_states(at);
  const double sum_of_h = is_last_layer(at) ? 0 : 1;
  if (schedule == fused) {
    const BackwardLayer scan =
        backward_kernel(k + 2, 1, k + 1) + accumulated(mode, history_sums(at));
    if (mode == GradientAccumulation::autograd) return scan;
    return scan + BackwardLayer{{.gradient_writes_d = sum_of_h}, 0};
  }
  const BackwardLayer add = norm_backward() + gradient_sum() +
                            accumulated(GradientAccumulation::autograd, history_sums(at));
  if (k == 0) return add;
  return add + projection_backward(0, 1) + projection_backward(k, 0);
}

/// With the gradient of h that a sum makes a row of its own.
double history_accumulation_d(const SchemeLayer& last, GradientAccumulation mode) {
  const double rows =
      mode == GradientAccumulation::autograd ? 0 : static_cast<double>(last.num_layers - 1);
  return accumulated_d<history_sums>(last, mode) + rows;
}

/// h', which the layers to come read too, and the k r scalars A h.
SavedLayer history_saved(const SchemeLayer& at, Schedule) {
  const double k = earlier_states(at);
  return {.state = kNormInput,
          .remade = kNormOutput + loose_scalars(k * rank(at)),
          .rows = 1,
          .received = k + 1};
}

constexpr BackwardRule kWeightedBackward{
    .moves =
        "fused: h, f, dx, dh r; dh, df w. unfused: norm 2 r, 1 w; sum 2 r, 1 w; h, f, g r; dh, df w",
    .layer = weighted_backward,
    .activations = layers_keep<weighted_saved>};
constexpr BackwardRule kLowRankBackward{
    .moves =
        "fused: h before and behind, dx, dh r; dh, df w. unfused: norm 2 r, 1 w; sum 2 r, 1 w; g r twice, h r, dh w; sum 2 r, 1 w",
    .layer = low_rank_backward,
    .activations = layers_keep<low_rank_saved>};
constexpr BackwardRule kHistoryBackward{
    .moves =
        "fused: k + 3 r, k + 1 w; behind it k sums r, dh w. unfused: norm 2 r, 1 w; sum 2 r, 1 w; g r twice, k r, k w",
    .layer = history_backward,
    .activations = layers_keep<history_saved>,
    .accumulation_d = history_accumulation_d};

std::optional<ParameterProblem> rank_problem(const SchemeLayer& last) {
  if (last.parameters.rank <= last.parameters.hidden_size) return std::nullopt;
  return ParameterProblem{"rank", fmt::format("more than d = {}", last.parameters.hidden_size)};
}

std::optional<ParameterProblem> history_problem(const SchemeLayer& last) {
  if (last.parameters.history <= last.num_layers) return rank_problem(last);
  return ParameterProblem{"history", "more than " + counted(last.num_layers, "layer", "layers")};
}

}  // namespace

const SchemeRule schemes::kLaurelRw{
    .id = "laurel_rw",
    .label = "LAuReL-RW",
    .update = "h_l = beta_l h_{l-1} + alpha_l f_{l-1}(h_{l-1})",
    .file = "single_state/laurel.cpp",
    .source = kLaurelSource,
    .moves = "unfused: scaled add 2 r, 1 w; norm 1 r, 1 w. fused: 2 r, 2 w",
    .reference = "scaled_residual.hpp",
    .kind = {StateKind::single_state, WeightKind::learned_static},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = weighted,
    .state_d = one_state,
    .parameters = [](const SchemeLayer&) { return 2.0; },
    .backward = &kWeightedBackward};

const SchemeRule schemes::kLaurelLr{
    .id = "laurel_lr",
    .label = "LAuReL-LR",
    .update = "h_l = h_{l-1} + B_l A_l h_{l-1} + f_{l-1}(h_{l-1}), A_l r x d",
    .file = "single_state/laurel.cpp",
    .source = kLaurelSource,
    .moves =
        "unfused: A h 1 r, r scalars w; B and sum 2 r, r scalars r, 1 w; norm 1 r, 1 w. fused: "
        "2 r, 2 w",
    .reference = "without_kernels/laurel.hpp",
    .unmixed = "B A acts on the features: an entry would be a d x d matrix",
    .kind = {StateKind::single_state, WeightKind::learned_static},
    .keys = kRankOnly,
    .schedules = kUnfusedAndFused,
    .operations = low_rank,
    .state_d = one_state,
    .parameters = low_rank_parameters,
    .problem = rank_problem,
    .backward = &kLowRankBackward};

const SchemeRule schemes::kLaurelPa{
    .id = "laurel_pa",
    .label = "LAuReL-PA",
    .update = "h_l = h_{l-1} + sum_{i=1}^{k} gamma_i B A h_{l-1-i} + f_{l-1}(h_{l-1})",
    .file = "single_state/laurel.cpp",
    .source = kLaurelSource,
    .moves =
        "unfused: A h k r, k r scalars w; B and sum 2 r, k r scalars r, 1 w; norm 1 r, 1 w. fused: "
        "k + 2 r, 2 w; fewer than k in the first layers",
    .reference = "without_kernels/laurel.hpp",
    .unmixed = "its low-rank maps act on the features: entries would be matrices",
    .kind = {StateKind::cross_layer, WeightKind::learned_static},
    .keys = kRankAndHistory,
    .schedules = kUnfusedAndFused,
    .operations = with_history,
    .state_d =
        [](const SchemeLayer& at) {
          return earlier_states({at.parameters, at.layer + 1, at.num_layers}) + 1;
        },
    .parameters =
        [](const SchemeLayer& at) { return low_rank_parameters(at) + earlier_states(at); },
    .problem = history_problem,
    .backward = &kHistoryBackward};

}  // namespace depthcost
