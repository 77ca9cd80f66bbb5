// PostNorm, HybridNorm, DeepNorm, KEEL and SiameseNorm: a norm on the stream itself.
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

/// A norm whose output is part of the state, and no layer's input alone.
Operation stream_norm(Operand written) {
  Operation norm = operations::rmsnorm();
  norm.accesses[1].operand = written;
  return norm;
}

/// alpha h + f: alpha is fixed.
Operation scaled_add() {
  return operations::unfused_elementwise({kReadsOutput, kUpdatesHidden}, 2);
}

/// The norm that makes the stream is the next layer's, so that x is h: nothing is written twice.
Launches deep_norm(const SchemeLayer&, Schedule schedule) {
  if (schedule == fused)
    return {operations::row_update({kReadsOutput, kReadsHidden, kWritesInput}, 2)};
  return {scaled_add(), stream_norm(Operand::hidden_state)};
}

/// As deep_norm, with a plain addition.
Launches post_norm(const SchemeLayer&, Schedule schedule) {
  if (schedule == fused)
    return {operations::row_update({kReadsOutput, kReadsHidden, kWritesInput}, 1)};
  return {operations::residual_add(), stream_norm(Operand::hidden_state)};
}

/// Attention reads the stream as it stands, and normalises its queries, keys and values instead.
Launches hybrid_norm(const SchemeLayer& at, Schedule schedule) {
  return at.layer % 2 == 0 ? post_norm(at, schedule) : Launches{operations::residual_add()};
}

/// The stream is normalised, stored, and normalised again for the layer.
Launches keel(const SchemeLayer&, Schedule schedule) {
  if (schedule == fused)
    return {operations::row_update({kReadsOutput, kUpdatesHidden, kWritesInput}, 2,
                                   operations::kGain_d)};
  return {scaled_add(), stream_norm(Operand::hidden_state), operations::rmsnorm()};
}

/// A post-norm and a pre-norm stream side by side; the layer reads their sum.
Launches siamese(const SchemeLayer&, Schedule schedule) {
  if (schedule == fused)
    return {operations::row_update({kReadsOutput, Access{Operand::streams, 2, 2}, kWritesInput}, 3,
                                   operations::kGain_d)};
  const Operation add =
      operations::unfused_elementwise({kReadsOutput, Access{Operand::streams, 1, 1}}, 1);
  const Operation sum = operations::unfused_elementwise(
      {reads(Operand::streams, 1), reads(Operand::recent, 1), kWritesInput}, 1);
  return {add, stream_norm(Operand::streams), add, stream_norm(Operand::recent), sum};
}

/// Backward of s = alpha h + f; h' = Norm(s), which the next layer reads as it is. With u the
/// gradient of s: df = u, dh = alpha u, which is scaled where it is read.
///   fused     h, f, dx, dh' r, s made again; u w
///   unfused   dx, dh' r, 1 w; norm s, its gradient r, u w; with an alpha also u r, dh w
/// [ours]
BackwardLayer post_norm_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == fused) return backward_kernel(3, 1, 1);
  return input_gradient_sum() + stream_norm_backward();
}

BackwardLayer deep_norm_backward(const SchemeLayer& at, Schedule schedule,
                                 GradientAccumulation mode) {
  const BackwardLayer norm = post_norm_backward(at, schedule, mode);
  return schedule == fused ? norm : norm + backward_kernel(0, 1, 1);
}

/// In front of attention h' = h + f is read as it is: dx, dh' r, dh w.
BackwardLayer hybrid_norm_backward(const SchemeLayer& at, Schedule schedule,
                                   GradientAccumulation mode) {
  return at.layer % 2 == 0 ? post_norm_backward(at, schedule, mode) : input_gradient_sum();
}

/// Backward of s = alpha h + f; h' = Norm(s); x = Norm'(h').
///   fused     h, f, dx, dh' r, s and h' made again; u w
///   unfused   both norms, the sum of the gradients of h', and dh = alpha u
/// [ours]
BackwardLayer keel_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == fused) return backward_kernel(3, 1, 1);
  return norm_backward() + gradient_sum() + stream_norm_backward() + backward_kernel(0, 1, 1);
}

/// Backward of h1' = Norm(h1 + y), h2' = h2 + y, x = h1' + Norm'(h2').
///   fused     h1, h2, y, dx, dh1', dh2' r; dh1, dh2 and dy, their sum, w
///   unfused   dh1' + dx; both norms; the sum of the gradients of h2'; dy
/// [ours]
BackwardLayer siamese_backward(const SchemeLayer&, Schedule schedule, GradientAccumulation) {
  if (schedule == fused) return backward_kernel(4, 2, 3);
  return input_gradient_sum() + stream_norm_backward() + norm_backward() + gradient_sum() +
         gradient_sum();
}

/// Eager code saves the norm's input s, a kernel that made h' alone has f, from which s comes
/// again. h' is the layer's input.
SavedLayer post_norm_saved(const SchemeLayer&, Schedule schedule) {
  if (schedule == unfused) return {.state = kNormInput, .remade = kNormOutput};
  return {.state = d_vectors(2), .remade = loose_scalars(1), .before = 1};
}

SavedLayer hybrid_norm_saved(const SchemeLayer& at, Schedule schedule) {
  return at.layer % 2 == 0 ? post_norm_saved(at, schedule) : SavedLayer{.state = d_vectors(1)};
}

/// h' beside s, or f, and x: a statistic for each norm.
SavedLayer keel_saved(const SchemeLayer&, Schedule schedule) {
  if (schedule == unfused)
    return {.state = kNormInput, .remade = kNormInput + kNormOutput + loose_scalars(1)};
  return {.state = d_vectors(2), .remade = kNormOutput + loose_scalars(1), .before = 1};
}

/// Eager code saves both norms' inputs; a kernel that has stored h1' and h2' needs y.
SavedLayer siamese_saved(const SchemeLayer&, Schedule schedule) {
  const SavedVectors remade = kNormOutput + loose_scalars(1);
  if (schedule == unfused) return {.state = d_vectors(2), .remade = remade};
  return {.state = d_vectors(3), .remade = remade, .before = 1};
}

constexpr BackwardRule kPostNormBackward{
    .moves =
        "fused: h, f, dx, dh r; 1 w: alpha is applied where the gradient is read. unfused: sum dx, dh r, 1 w; norm 2 r, 1 w; with an alpha 1 r, 1 w",
    .layer = post_norm_backward,
    .activations = layers_keep<post_norm_saved>};
constexpr BackwardRule kDeepNormBackward{.moves = "as post_norm with an alpha",
                                         .layer = deep_norm_backward,
                                         .activations = layers_keep<post_norm_saved>};
constexpr BackwardRule kHybridNormBackward{
    .moves = "the MLP as post_norm; attention dx, dh r; dh w",
    .layer = hybrid_norm_backward,
    .activations = layers_keep<hybrid_norm_saved>};
constexpr BackwardRule kKeelBackward{
    .moves = "fused: h, f, dx, dh r; 1 w, both norms made again. unfused: each eager kernel's own",
    .layer = keel_backward,
    .activations = layers_keep<keel_saved>};
constexpr BackwardRule kSiameseBackward{
    .moves = "fused: h1, h2, y, dx, dh1, dh2 r; dh1, dh2, dy w. unfused: each eager kernel's own",
    .layer = siamese_backward,
    .activations = layers_keep<siamese_saved>};

double gain(const SchemeLayer& at) { return hidden_size(at); }
double two_gains(const SchemeLayer& at) { return 2 * hidden_size(at); }

}  // namespace

const SchemeRule schemes::kPostNorm{
    .id = "post_norm",
    .label = "PostNorm",
    .update = "h_l = Norm(h_{l-1} + f_{l-1}(h_{l-1}))",
    .file = "single_state/post_norm.cpp",
    .source = "[attnres] Sec. 6; Vaswani et al., arXiv:1706.03762",
    .moves =
        "unfused: add 2 r, 1 w; norm 1 r, 1 w. fused: 2 r, 1 w, the normalised state is the "
        "layer's input",
    .reference = "without_kernels/post_norm.hpp",
    .unmixed = kNormOnStream,
    .kind = {StateKind::single_state, WeightKind::fixed},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = post_norm,
    .state_d = one_state,
    .parameters = gain,
    .backward = &kPostNormBackward};

const SchemeRule schemes::kHybridNorm{
    .id = "hybrid_norm",
    .label = "HybridNorm",
    .update = "h_l = h_{l-1} + f_{l-1} in front of attention, Norm(h_{l-1} + f_{l-1}) of the MLP",
    .file = "single_state/post_norm.cpp",
    .source = "[attnres] Sec. 6; Zhuo et al., arXiv:2503.04598",
    .moves =
        "attention: add 2 r, 1 w, its norms of q, k and v are its own. MLP, unfused: add 2 r, 1 w; "
        "norm 1 r, 1 w. fused: 2 r, 1 w",
    .reference = "without_kernels/post_norm.hpp",
    .unmixed = kNormOnStream,
    .kind = {StateKind::single_state, WeightKind::fixed},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = hybrid_norm,
    .state_d = one_state,
    .parameters = [](const SchemeLayer& at) { return at.layer % 2 == 0 ? hidden_size(at) : 0; },
    .backward = &kHybridNormBackward};

const SchemeRule schemes::kDeepNorm{
    .id = "deepnorm",
    .label = "DeepNorm",
    .update = "h_l = Norm(alpha h_{l-1} + f_{l-1}(h_{l-1})), alpha = (2 L_b)^(1/4)",
    .file = "single_state/post_norm.cpp",
    .source = "[attnres] Table 5; Wang et al., arXiv:2203.00555",
    .moves =
        "unfused: add 2 r, 1 w; norm 1 r, 1 w. fused: 2 r, 1 w, the normalised state is the "
        "layer's input",
    .reference = "without_kernels/post_norm.hpp",
    .unmixed = kNormOnStream,
    .kind = {StateKind::single_state, WeightKind::fixed},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = deep_norm,
    .state_d = one_state,
    .parameters = gain,
    .backward = &kDeepNormBackward};

const SchemeRule schemes::kKeel{
    .id = "keel",
    .label = "KEEL",
    .update = "h_l = Norm(alpha h_{l-1} + f_{l-1}(Norm(h_{l-1})))",
    .file = "single_state/post_norm.cpp",
    .source = "[attnres] Table 5; Chen, Wei, arXiv:2601.19895",
    .moves =
        "unfused: add 2 r, 1 w; norm 1 r, 1 w; inner norm 1 r, 1 w. fused: 2 r, 2 w: 3 d and "
        "the inner norm's output",
    .reference = "without_kernels/post_norm.hpp",
    .unmixed = kNormOnStream,
    .kind = {StateKind::single_state, WeightKind::fixed},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = keel,
    .state_d = one_state,
    .parameters = gain,
    .backward = &kKeelBackward};

const SchemeRule schemes::kSiameseNorm{
    .id = "siamese_norm",
    .label = "SiameseNorm",
    .update =
        "h1_l = Norm(h1_{l-1} + y_{l-1}), h2_l = h2_{l-1} + y_{l-1}; the layer reads h1_l + "
        "Norm(h2_l)",
    .file = "single_state/post_norm.cpp",
    .source = "[attnres] Table 5; Li et al., arXiv:2602.08064",
    .moves =
        "unfused: two adds 2 r, 1 w each; two norms 1 r, 1 w each; sum 2 r, 1 w. fused: 3 r, 3 w",
    .reference = "without_kernels/post_norm.hpp",
    .unmixed = kNormOnStream,
    .kind = {StateKind::multi_state, WeightKind::fixed},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = siamese,
    .state_d = [](const SchemeLayer&) { return 2.0; },
    .parameters = two_gains,
    .backward = &kSiameseBackward};

}  // namespace depthcost
