// Value Residual: attention layers mix their values with those of the first one.
#include <fmt/format.h>

#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::array kValueKeys{
    SchemeKey{"kv_size", &SchemeParameters::kv_size,
              "[ours] heads of values x head_dim of the model; d where it does not say"}};

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

Count last_mixing_layer(const SchemeLayer& at) {
  return at.num_layers % 2 == 1 ? at.num_layers : at.num_layers - 1;
}

/// Whether V_1 has a gradient that a later layer has left.
double value_sums(const SchemeLayer& at) {
  return mixes_values(at) && at.layer < last_mixing_layer(at) ? value_row(at) : 0;
}

/// Backward of V_n = lambda_1 V_1 + lambda_2 x W_V, v d-vectors a row, beside add and norm.
///   fused     V_1, dV_n r, lambda_1 dV_n w. The product's own backward takes lambda_2;
///             the gradient of lambda_2 is <W_V, dW_V> / lambda_2 and reads no row
///   unfused   V_1, x W_V, dV_n r, both gradients w
/// and adding to the gradient of V_1. At the first layer this is added to what attention has for
/// V_1. [ours]
BackwardLayer values_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation mode) {
  const double v = value_row(at);
  const BackwardLayer add = add_and_norm_backward(schedule);
  if (at.layer == 1 && last_mixing_layer(at) > 1) return add + backward_kernel(v, v, v);
  if (!mixes_values(at)) return add;
  if (schedule == fused) {
    const double has_sum = value_sums(at) > 0 ? 1 : 0;
    const BackwardLayer sum = accumulated(mode, has_sum);
    return add + backward_kernel(2 * v, 0, v) + BackwardLayer{v * sum.traffic, sum.kernels};
  }
  const BackwardLayer mix = add + backward_kernel(3 * v, 0, 2 * v);
  return value_sums(at) > 0 ? mix + gradient_sum(v) : mix;
}

/// h and x; eager code also x W_V. V_1 is the first layer's own, and handed to later chunks.
SavedLayer values_saved(const SchemeLayer& at, Schedule schedule) {
  SavedLayer saved = add_and_norm_saved(at, schedule);
  if (mixes_values(at) && schedule == unfused)
    saved.remade = saved.remade + d_vectors(value_row(at));
  if (at.layer > 1) saved.received = value_row(at);
  return saved;
}

constexpr BackwardRule kValuesBackward{
    .moves =
        "as standard; where it mixes 2 d_kv r, d_kv w and the sum. unfused: 3 d_kv r, 2 d_kv w and the sum",
    .layer = values_backward,
    .activations = layers_keep<values_saved>,
    .accumulation_d = accumulated_d<value_sums>};

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
    .problem = size_problem,
    .backward = &kValuesBackward};

}  // namespace depthcost
