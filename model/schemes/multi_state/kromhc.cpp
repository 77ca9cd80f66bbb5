// KromHC: mHC whose residual matrix is a Kronecker product of log2 m doubly stochastic 2 x 2 ones.
#include <bit>
#include <cmath>

#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/streams.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

/// Rows of phi: one for each stream's pre and post, two for each factor. arXiv:2601.21579.
double outputs(const SchemeLayer& at) {
  const auto m = static_cast<std::uint64_t>(at.parameters.num_streams);
  return 2 * num_streams(at) + 2 * static_cast<double>(std::bit_width(m) - 1);
}

Launches krom_hc(const SchemeLayer& at, Schedule schedule) {
  const double m = num_streams(at);
  return dynamic_streams(m, {.outputs = outputs(at), .weights_d = m * outputs(at)}, schedule);
}

BackwardLayer krom_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  return dynamic_streams_backward(num_streams(at), schedule);
}

/// The logits, and the streams' norm.
double krom_scalars(double m) { return 2 * m + 2 * std::log2(m) + 1; }

constexpr BackwardRule kKromBackward{.moves = "as mhc, which is an assumption",
                                     .layer = krom_backward,
                                     .activations = dynamic_streams_keep<krom_scalars>,
                                     .recompute_layers = best_stream_recomputation};

std::optional<ParameterProblem> power_problem(const SchemeLayer& last) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(last.parameters.num_streams)))
    return ParameterProblem{"num_streams", "must be a power of two"};
  return streams_problem(last);
}

}  // namespace

const SchemeRule schemes::kKromHc{
    .id = "kromhc",
    .label = "KromHC",
    .update = "as mHC with H_res = U_1 (x) .. (x) U_log2(m), U_k doubly stochastic 2 x 2",
    .file = "multi_state/kromhc.cpp",
    .source = "Zhou et al., arXiv:2601.21579",
    .moves = "as hc_dynamic, with 2m + 2 log2 m rows of phi",
    .reference = "without_kernels/kromhc.hpp",
    .unmixed = "each token has a matrix of the form of mhc: ask for that",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .keys = kStreamsOnly,
    .schedules = kUnfusedAndFused,
    .operations = krom_hc,
    .state_d = stream_states,
    .parameters =
        [](const SchemeLayer& at) {
          return projection_parameters(num_streams(at), hidden_size(at), outputs(at));
        },
    .problem = power_problem,
    .backward = &kKromBackward};

}  // namespace depthcost
