// Residual scaling of ZAYA1: the stream and the layer's output are shifted and scaled, channel by
// channel, before they are added. [residual_scaling]
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

/// The stream is f32, where every other row has two bytes an element.
constexpr double kStream_d = operations::kWideRow_d;

/// Scale and bias of f, and of the stream behind the first merge.
double vectors(const SchemeLayer& at) { return at.layer == 1 ? 2 : 4; }

///   fused    f and r r, r and x w: 12 d bytes, where the standard residual has 8 d
///   unfused  both terms, the sum and the norm are kernels of their own
Launches scaled_merge(const SchemeLayer& at, Schedule schedule) {
  if (schedule == fused) return {operations::residual_scaling_rmsnorm(vectors(at))};
  const auto shifted = [](const Access& in, double rows) {
    Operation term = operations::unfused_elementwise({in, writes(Operand::recent, rows)}, 2);
    term.weights_d = 2;
    return term;
  };
  Operation norm = operations::rmsnorm();
  norm.accesses = {reads(Operand::hidden_state, kStream_d), kWritesInput};
  Launches all{shifted(kReadsOutput, 1)};
  const bool has_scaled_stream = vectors(at) == 4;
  if (has_scaled_stream) all.push_back(shifted(reads(Operand::hidden_state, kStream_d), kStream_d));
  const Access stream = has_scaled_stream ? reads(Operand::recent, kStream_d)
                                          : reads(Operand::hidden_state, kStream_d);
  all.push_back(operations::unfused_elementwise(
      {reads(Operand::recent, 1), stream, writes(Operand::hidden_state, kStream_d)}, 1));
  all.push_back(norm);
  return all;
}

/// Backward of r' = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r'). The gradient of the f32 stream
/// is counted as the stream is, as two vectors of two bytes an element: an assumption where
/// gradients have four.
///   fused     r, f, dx, dr' r, r' made again; dr, df w
///   unfused   norm 3 r, 2 w; sum of both parts of dr' 4 r, 2 w; of f: its share 2 r, 1 w, then 2
///   r,
///             1 w; of r 4 r, 2 w, but not in front of the first layer
/// Behind the last layer nothing else reads r': there is no dr'. Gradients of scales and shifts are
/// reduced where r and f are read. [ours]
BackwardLayer merge_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  if (schedule == fused)
    return backward_kernel(kStream_d + 2, is_behind_last(at) ? 0 : kStream_d, kStream_d + 1);
  BackwardLayer all = backward_kernel(kStream_d + 1, 0, kStream_d);
  if (!is_behind_last(at)) all = all + gradient_sum(kStream_d);
  all = all + backward_kernel(0, kStream_d, 1) + backward_kernel(1, 1, 1);
  if (vectors(at) < 4) return all;
  return all + backward_kernel(kStream_d, kStream_d, kStream_d);
}

/// r' and f, and of the layer before its r.
SavedLayer merge_saved(const SchemeLayer& at, Schedule) {
  return {.state = d_vectors(kStream_d + 1),
          .remade = kNormOutput,
          .before = vectors(at) < 4 ? 0 : kStream_d};
}

constexpr BackwardRule kMergeBackward{.layer = merge_backward,
                                      .activations = layers_and_output_keep<merge_saved>};

}  // namespace

const SchemeRule schemes::kResidualScaling{
    .id = "residual_scaling",
    .label = "Residual scaling",
    .update = "r_l = (r_{l-1} + b_r) o s_r + (f_{l-1} + b_f) o s_f",
    .file = "single_state/residual_scaling.cpp",
    .source = "[residual_scaling]",
    .moves =
        "unfused: f 1 r, 1 w; r 2 r, 2 w; sum 3 r, 2 w; norm 2 r, 1 w. fused: 3 r, 3 w, since the "
        "stream is f32 and counts as two vectors of a two-byte model",
    .reference = "scaled_residual.hpp",
    .unmixed = "scales and shifts are of channels: an entry would be a diagonal matrix",
    .kind = {StateKind::single_state, WeightKind::learned_static},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = scaled_merge,
    // The next layer scales both: a stage hands over the stream and the last output.
    .state_d = [](const SchemeLayer&) { return kStream_d + 1; },
    .parameters = [](const SchemeLayer& at) { return vectors(at) * hidden_size(at); },
    .output =
        [](const SchemeLayer& last, Schedule schedule) {
          return scaled_merge({last.parameters, last.num_layers + 1, last.num_layers}, schedule);
        },
    .backward = &kMergeBackward};

}  // namespace depthcost
