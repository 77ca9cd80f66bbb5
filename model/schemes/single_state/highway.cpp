// Highway networks: a learned gate between the state and the layer's output.
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

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

/// Backward of h' = (1 - g) o h + g o f; x = norm(h'), g = sigmoid(z), z = W h + b. With u the
/// gradient of h': df = g o u, dz = g (1 - g) o (f - h) o u, dh = (1 - g) o u + W^T dz.
///   fused     h, f, z, dx, dh' r, h' made again; dh, df, dz w; then the gate's product adds to dh
///   unfused   norm 2 r, 1 w; sum 2 r, 1 w; mix h, f, z, u r, dh, df, dz w; the gate's products,
///             and the sum of both parts of dh
/// The gate's weights take h and dz once more. [ours]
BackwardLayer gated_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == fused) return backward_kernel(4, 1, 3) + projection_backward_into(1, 1);
  return norm_backward() + gradient_sum() + backward_kernel(3, 1, 3) + projection_backward(1, 1) +
         gradient_sum();
}

/// h' and f. The gate's logits z follow from h, the norm's output from h'.
SavedLayer gated_saved(const SchemeLayer&, Schedule) {
  return {.state = kNormInput + d_vectors(1), .remade = kNormOutput + d_vectors(1), .before = 1};
}

constexpr BackwardRule kGatedBackward{
    .moves =
        "fused: h, f, z, dx, dh r; dh, df, dz w; the gate's product 4 r, 1 w. unfused: norm 2 r, 1 w; sum 2 r, 1 w; mix h, f, z, u r; dh, df, dz w; the product; sum 2 r, 1 w",
    .layer = gated_backward,
    .activations = layers_keep<gated_saved>};

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
    .parameters =
        [](const SchemeLayer& at) {
          const double d = hidden_size(at);
          return d * d + d;
        },
    .backward = &kGatedBackward};

}  // namespace depthcost
