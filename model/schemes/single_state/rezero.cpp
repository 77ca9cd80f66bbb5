// ReZero and LayerScale: the layer's output is scaled before it is added.
#include "model/schemes/list.hpp"
#include "model/schemes/states.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;
using operations::ScaleShape;

template <ScaleShape kShape>
Launches scaled(const SchemeLayer&, Schedule schedule) {
  if (schedule == unfused) return {operations::unfused_scaled_add(kShape), operations::rmsnorm()};
  Operation add = operations::scaled_add_rmsnorm(kShape);
  add.flops_d -= 1;  // beta is 1
  return {add};
}

}  // namespace

const SchemeRule schemes::kReZero{
    .id = "rezero",
    .label = "ReZero",
    .update = "h_l = h_{l-1} + alpha_l f_{l-1}(h_{l-1})",
    .file = "single_state/rezero.cpp",
    .source = "[attnres] Table 5; Bachlechner et al., arXiv:2003.04887",
    .moves = "unfused: scaled add 2 r, 1 w; norm 1 r, 1 w. fused: 2 r, 2 w",
    .reference = "scaled_residual.hpp",
    .kind = {StateKind::single_state, WeightKind::learned_static},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = scaled<ScaleShape::scalar>,
    .state_d = one_state,
    .parameters = [](const SchemeLayer&) { return 1.0; }};

const SchemeRule schemes::kLayerScale{
    .id = "layerscale",
    .label = "LayerScale",
    .update = "h_l = h_{l-1} + diag(lambda_l) f_{l-1}(h_{l-1})",
    .file = "single_state/rezero.cpp",
    .source = "[attnres] Table 5; Touvron et al., arXiv:2103.17239",
    .moves = "unfused: scaled add 2 r, 1 w; norm 1 r, 1 w. fused: 2 r, 2 w",
    .reference = "scaled_residual.hpp",
    .kind = {StateKind::single_state, WeightKind::learned_static},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = scaled<ScaleShape::vector>,
    .state_d = one_state,
    .parameters = hidden_size};

}  // namespace depthcost
