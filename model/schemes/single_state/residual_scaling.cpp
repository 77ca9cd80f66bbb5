// Residual scaling of ZAYA1: the stream and the layer's output are shifted and scaled, channel by
// channel, before they are added. [residual_scaling]
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

/// The stream is f32 as ZAYA1 ships it, whatever the type of other rows.
double stream_row(const SchemeLayer& at) {
  return at.parameters.stream_row_d.value_or(at.parameters.f32_row_d);
}

/// Scale and bias of f, and of the stream behind the first merge.
double vectors(const SchemeLayer& at) { return at.layer == 1 ? 2 : 4; }

///   fused    f and r r, r and x w: 12 d bytes, where the standard residual has 8 d
///   unfused  both terms, the sum and the norm are kernels of their own
Launches scaled_merge(const SchemeLayer& at, Schedule schedule) {
  const double row = stream_row(at);
  if (schedule == fused) return {operations::residual_scaling_rmsnorm(vectors(at), row)};
  const auto shifted = [](const Access& in, double rows) {
    Operation term = operations::unfused_elementwise({in, writes(Operand::recent, rows)}, 2);
    term.weights_d = 2;
    return term;
  };
  Operation norm = operations::rmsnorm();
  norm.accesses = {reads(Operand::hidden_state, row), kWritesInput};
  Launches all{shifted(kReadsOutput, 1)};
  const bool has_scaled_stream = vectors(at) == 4;
  if (has_scaled_stream) all.push_back(shifted(reads(Operand::hidden_state, row), row));
  const Access stream =
      has_scaled_stream ? reads(Operand::recent, row) : reads(Operand::hidden_state, row);
  all.push_back(operations::unfused_elementwise(
      {reads(Operand::recent, 1), stream, writes(Operand::hidden_state, row)}, 1));
  all.push_back(norm);
  return all;
}

/// Backward of r' = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r'), with a stream of w d-vectors.
/// The gradient of the stream is counted as the stream is.
///   fused     r, f, dx, dr' r, r' made again; dr, df w
///   unfused   norm w + 1 r, w w; sum of both parts of dr' 2w r, w w; of f: its share w r,
///             1 w, then 2 r, 1 w; of r 2w r, w w, but not in front of the first layer
/// Behind the last layer nothing else reads r': there is no dr'. Gradients of scales and shifts are
/// reduced where r and f are read. [ours]
BackwardLayer merge_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  const double row = stream_row(at);
  if (schedule == fused) return backward_kernel(row + 2, is_behind_last(at) ? 0 : row, row + 1);
  BackwardLayer all = backward_kernel(row + 1, 0, row);
  if (!is_behind_last(at)) all = all + gradient_sum(row);
  all = all + backward_kernel(0, row, 1) + backward_kernel(1, 1, 1);
  if (vectors(at) < 4) return all;
  return all + backward_kernel(row, row, row);
}

/// r' and f, and of the layer before its r.
SavedLayer merge_saved(const SchemeLayer& at, Schedule) {
  const double row = stream_row(at);
  return {.state = d_vectors(row + 1), .remade = kNormOutput, .before = vectors(at) < 4 ? 0 : row};
}

constexpr BackwardRule kMergeBackward{
    .moves =
        "fused: r, f, dx, dr r; dr, df w, where r and dr are w d-vectors each. unfused: each eager kernel's own",
    .layer = merge_backward,
    .activations = layers_and_output_keep<merge_saved>};

}  // namespace

const SchemeRule schemes::kResidualScaling{
    .id = "residual_scaling",
    .label = "Residual scaling",
    .update = "r_l = (r_{l-1} + b_r) o s_r + (f_{l-1} + b_f) o s_f",
    .file = "single_state/residual_scaling.cpp",
    .source = "[residual_scaling]",
    .moves =
        "unfused: f 1 r, 1 w; r w r, w w; sum w + 1 r, w w; norm w r, 1 w. fused: w + 1 r, w + 1 w. "
        "A row of the stream is w d-vectors: f32 as it ships, 2 in a two-byte model",
    .reference = "scaled_residual.hpp",
    .unmixed = "scales and shifts are of channels: an entry would be a diagonal matrix",
    .kind = {StateKind::single_state, WeightKind::learned_static},
    .keys = {},
    .schedules = kUnfusedAndFused,
    .operations = scaled_merge,
    // The next layer scales both: a stage hands over the stream and the last output.
    .state_d = [](const SchemeLayer& at) { return stream_row(at) + 1; },
    .parameters = [](const SchemeLayer& at) { return vectors(at) * hidden_size(at); },
    .output =
        [](const SchemeLayer& last, Schedule schedule) {
          return scaled_merge({last.parameters, last.num_layers + 1, last.num_layers}, schedule);
        },
    .has_stream_type = true,
    .backward = &kMergeBackward};

}  // namespace depthcost
