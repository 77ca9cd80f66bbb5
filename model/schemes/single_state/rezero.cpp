// ReZero and LayerScale: the layer's output is scaled before it is added.
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

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

/// Backward of h' = h + lambda o f; x = norm(h'), g the gradient of h'. That of h is g.
///   fused     h', f, dx, dh' r; dh = g, df = lambda o g w
///   unfused   norm 2 r, 1 w; sum 2 r, 1 w; f, g r, df w
/// The gradient of lambda, sum f o g over tokens, is reduced in the kernel that reads f. [ours]
BackwardLayer scaled_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == unfused) return norm_backward() + gradient_sum() + backward_kernel(1, 1, 1);
  return backward_kernel(3, 1, 2);
}

/// h', and f for the gradient of lambda.
SavedLayer scaled_saved(const SchemeLayer&, Schedule) {
  return {.state = kNormInput + d_vectors(1), .remade = kNormOutput};
}

constexpr BackwardRule kScaledBackward{
    .moves = "fused: h, f, dx, dh r; dh, df w. unfused: norm 2 r, 1 w; sum 2 r, 1 w; f, g r, df w",
    .layer = scaled_backward,
    .activations = layers_keep<scaled_saved>};

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
    .parameters = [](const SchemeLayer&) { return 1.0; },
    .backward = &kScaledBackward};

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
    .parameters = hidden_size,
    .backward = &kScaledBackward};

}  // namespace depthcost
