// Deep Delta Learning: a d x d_v state that each layer erases and writes along one direction.
#include <fmt/format.h>

#include "model/schemes/backward_parts.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::array kDeltaKeys{
    SchemeKey{"value_width", &SchemeParameters::value_width, "arXiv:2601.00417: d_v = 4"}};

double value_width(const SchemeLayer& at) { return static_cast<double>(at.parameters.value_width); }

/// The delta kernel reads the state, f, and what v and beta come from, W_v, w and their biases; the
/// compressor (a depthwise convolution of width 4 and a read-out) makes the layer's input of the
/// new state.
Launches delta_update(const SchemeLayer& at, Schedule schedule) {
  const double d_v = value_width(at);
  // W_v x and w . x, |f| and k, k^T H, then the rank-1 update.
  const double update_flops = 2 * (d_v + 1) + 3 + 2 * d_v + 2 * d_v;
  const double compressor_flops = 2 * 4 * d_v + 2 * d_v;
  const double update_parameters_d = d_v + 1;
  const double compressor_parameters_d = 4 * d_v;
  if (schedule == fused) {
    Operation scan = operations::row_update(
        {kReadsOutput, reads(Operand::recent, 1), Access{Operand::streams, d_v, d_v}, kWritesInput},
        update_flops + compressor_flops, update_parameters_d + compressor_parameters_d);
    scan.parameters = 2 * d_v + 1;
    return {scan};
  }
  Operation update = operations::unfused_elementwise(
      {kReadsOutput, Access{Operand::recent, 2, 1}, Access{Operand::streams, d_v, d_v}},
      update_flops, update_parameters_d);
  update.parameters = d_v + 1;
  Operation compressor =
      operations::unfused_elementwise({reads(Operand::streams, d_v), writes(Operand::recent, 1)},
                                      compressor_flops, compressor_parameters_d);
  compressor.parameters = d_v;
  return {update, compressor, operations::rmsnorm()};
}

/// Backward of the update H' = H + beta k (v - H^T k)^T, k = f / |f|, beta and v of the layer's own
/// input x; y = compressed(H'), which makes the next layer's input.
///   fused     H, f, x, the next dx, dH' r, H' made again; dH, df, and dx's share w
///   unfused   norm 2 r, 1 w; compressor H', dy r, d_v w; sum with dH' 2 d_v r, d_v w; update H, f,
///             x, dH' r, dH, df, dx w; and the sum of both parts of dx
/// What the next boundary has left for the x that is made here is read too, but behind the last
/// layer there is none. The compressor's window of tokens stays on chip, as forward. [ours]
BackwardLayer delta_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  const double d_v = value_width(at);
  const double share = is_last_layer(at) ? 0 : 1;
  if (schedule == fused) return backward_kernel(d_v + 3, d_v + share, d_v + 2);
  const BackwardLayer all = norm_backward() + backward_kernel(d_v, 1, d_v) + gradient_sum(d_v) +
                            backward_kernel(d_v + 2, d_v, d_v + 2);
  return share > 0 ? all + input_gradient_sum() : all;
}

/// H' and f; y and x, with |f|, beta and v as scalars.
SavedLayer delta_saved(const SchemeLayer& at, Schedule schedule) {
  const double d_v = value_width(at);
  return {.state = d_vectors(d_v + 1),
          .remade = kNormOutput + d_vectors(schedule == unfused ? 1 : 0) + loose_scalars(d_v + 2),
          .before = d_v + 1};
}

constexpr BackwardRule kDeltaBackward{
    .moves = "fused: 2 d_v + 4 r, d_v + 2 w. unfused: each eager kernel's own",
    .layer = delta_backward,
    .activations = layers_keep<delta_saved>};

std::optional<ParameterProblem> width_problem(const SchemeLayer& last) {
  const SchemeParameters& p = last.parameters;
  if (p.hidden_size % p.value_width == 0) return std::nullopt;
  return ParameterProblem{"value_width", fmt::format("must divide d = {}", p.hidden_size)};
}

}  // namespace

const SchemeRule schemes::kDeltaLearning{
    .id = "deep_delta",
    .label = "Deep Delta Learning",
    .update =
        "H_l = (I - beta_l k_l k_l^T) H_{l-1} + beta_l k_l v_l^T, H d x d_v, k = f / |f|, beta = 2 "
        "sigmoid(w . x + b), v = W_v x + b_v",
    .file = "multi_state/delta_learning.cpp",
    .source = "[attnres] Table 5; Zhang et al., arXiv:2601.00417",
    .moves =
        "unfused: delta d_v + 3 r, d_v + 1 w; compressor d_v r, 1 w; norm 1 r, 1 w. fused: d_v "
        "+ 2 r, d_v + 1 w",
    .reference = "without_kernels/delta_learning.hpp",
    .unmixed = "I - beta k k^T acts on the features: an entry would be a d x d matrix",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .keys = kDeltaKeys,
    .schedules = kUnfusedAndFused,
    .operations = delta_update,
    .state_d = value_width,
    .parameters =
        [](const SchemeLayer& at) {
          const double d = hidden_size(at);
          const double d_v = value_width(at);
          return 5 * d * d_v + 2 * d_v + d + 1;
        },
    .problem = width_problem,
    .backward = &kDeltaBackward};

}  // namespace depthcost
