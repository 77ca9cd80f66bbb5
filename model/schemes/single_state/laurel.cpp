// LAuReL: learned augmented residual layers, with weights, a low-rank path, or earlier activations.
#include <fmt/format.h>

#include <algorithm>

#include "model/base/counted.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

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
    .parameters = [](const SchemeLayer&) { return 2.0; }};

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
    .problem = rank_problem};

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
    .problem = history_problem};

}  // namespace depthcost
