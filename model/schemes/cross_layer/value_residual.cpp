// Value Residual: attention layers mix their values with those of the first one.
#include <fmt/format.h>

#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::array kValueKeys{SchemeKey{"kv_size", &SchemeParameters::kv_size,
                                          "[ours] d: as many value heads as query heads"}};

/// A row of values, in d-vectors.
double value_row(const SchemeLayer& at) {
  const Count elements = at.parameters.kv_size;
  return elements == 0 ? 1 : static_cast<double>(elements) / hidden_size(at);
}

/// Odd layers are attention; the first one's values are the V_1 that the others read.
bool mixes_values(const SchemeLayer& at) { return at.layer % 2 == 1 && at.layer > 1; }

Launches with_values(const SchemeLayer& at, Schedule schedule) {
  const double v = value_row(at);
  Launches all = schedule == fused ? Launches{operations::residual_add_rmsnorm()}
                                   : Launches{operations::residual_add(), operations::rmsnorm()};
  if (!mixes_values(at)) return all;
  if (schedule == unfused) {
    all.push_back(operations::unfused_elementwise(
        {reads(Operand::bank, v), Access{Operand::recent, v, v}}, 3 * v));
    return all;
  }
  Operation epilogue = operations::unfused_elementwise({reads(Operand::bank, v)}, 3 * v);
  epilogue.launches = 0;
  all.push_back(epilogue);
  return all;
}

std::optional<ParameterProblem> size_problem(const SchemeLayer& last) {
  const SchemeParameters& p = last.parameters;
  if ((p.kv_size - 1) / kMaxStreams < p.hidden_size) return std::nullopt;
  return ParameterProblem{"kv_size", fmt::format("more than {} d", kMaxStreams)};
}

}  // namespace

const SchemeRule schemes::kValueResidual{
    .id = "value_residual",
    .label = "Value Residual",
    .update = "V_n = lambda_1 V_1 + lambda_2 H_n W_V in attention layers; h_l = h_{l-1} + f_{l-1}",
    .file = "cross_layer/value_residual.cpp",
    .source = "Zhou et al., arXiv:2410.17897",
    .moves =
        "add and norm as standard; attention layers but the first, unfused: 2 d_kv r, d_kv w; "
        "fused into the projection: d_kv r",
    .reference = "without_kernels/value_residual.hpp",
    .unmixed = "mixes values inside attention; its stream is standard's",
    .kind = {StateKind::cross_layer, WeightKind::learned_static},
    .keys = kValueKeys,
    .schedules = kUnfusedAndFused,
    .operations = with_values,
    .state_d = [](const SchemeLayer& at) { return at.layer == 0 ? 1 : 1 + value_row(at); },
    .parameters = [](const SchemeLayer& at) { return mixes_values(at) ? 2.0 : 0.0; },
    .problem = size_problem};

}  // namespace depthcost
