// Highway networks: a learned gate between the state and the layer's output.
#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

/// The gate's logits W h + b.
Operation gate(const SchemeLayer& at) {
  Operation product =
      operations::unfused_projection({kReadsHidden, writes(Operand::recent, 1)}, hidden_size(at));
  product.parameters_d = 1;
  return product;
}

Launches gated(const SchemeLayer& at, Schedule schedule) {
  if (schedule == fused) return {gate(at), operations::highway_rmsnorm()};
  const Operation mix = operations::unfused_elementwise(
      {kReadsOutput, kUpdatesHidden, reads(Operand::recent, 1)}, operations::kFlopsPerSigmoid + 3);
  return {gate(at), mix, operations::rmsnorm()};
}

}  // namespace

const SchemeRule schemes::kHighway{
    .id = "highway",
    .label = "Highway",
    .update = "h_l = (1 - g_l) o h_{l-1} + g_l o f_{l-1}(h_{l-1}), g_l = sigmoid(W h_{l-1} + b)",
    .file = "single_state/highway.cpp",
    .source = "[attnres] Table 5; Srivastava et al., arXiv:1505.00387",
    .moves =
        "unfused: gate 1 r, 1 w; mix 3 r, 1 w; norm 1 r, 1 w. fused: gate 1 r, 1 w; mix and "
        "norm 3 r, 2 w",
    .reference = "scaled_residual.hpp",
    .kind = {StateKind::single_state, WeightKind::dynamic},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = gated,
    .state_d = one_state,
    .parameters = [](const SchemeLayer& at) {
      const double d = hidden_size(at);
      return d * d + d;
    }};

}  // namespace depthcost
