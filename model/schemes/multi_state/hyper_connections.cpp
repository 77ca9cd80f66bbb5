// Hyper-connections and what became of them beside mHC: m streams that are read, written and mixed.
#include <utility>

#include "model/operations/hyper_connection_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/streams.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::array kOnePassOnly{one_pass};

/// Coefficients are parameters here, and not read token by token.
Launches hc_static(const SchemeLayer& at, Schedule schedule) {
  const double m = num_streams(at);
  if (schedule == fused) return {operations::hc_boundary(m)};
  Launches pieces = merge_pieces(m);
  for (Operation& piece : pieces) piece.parameters += std::exchange(piece.reads_scalars, 0);
  return pieces;
}

/// tanh(LN(h) W), W (d, m + 2), for each of the m streams: m (m + 2) coefficients.
Launches hc_dynamic(const SchemeLayer& at, Schedule schedule) {
  const double m = num_streams(at);
  return dynamic_streams(m, {.outputs = m * (m + 2), .weights_d = m + 2, .uses = m}, schedule);
}

double factorial(double m) {
  double product = 1;
  for (double k = 2; k <= m; ++k) product *= k;
  return product;
}

/// Logits of one row of phi for each stream's pre and post, and for each permutation.
double lite_outputs(double m) { return 2 * m + factorial(m); }

Launches mhc_lite(const SchemeLayer& at, Schedule schedule) {
  const double m = num_streams(at);
  const double outputs = lite_outputs(m);
  return dynamic_streams(m, {.outputs = outputs, .weights_d = m * outputs}, schedule);
}

Launches single_pass_boundary(const SchemeLayer& at, Schedule) {
  return {operations::single_pass_mhc(num_streams(at))};
}

/// unfused: pre X, the gradient of its mix r, m w; norm 2 r, 1 w; post f, dX' r, df w; residual X,
/// dX' r, m w; and the sum of what pre and residual leave for X, 2m r, m w. [ours]
BackwardLayer hc_static_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  const double m = num_streams(at);
  if (schedule == fused) return static_streams_scan(m);
  return backward_kernel(m, 1, m) + norm_backward() + backward_kernel(1, m, 1) +
         backward_kernel(m, m, m) + gradient_sum(m);
}

/// As mHC.
BackwardLayer mapped_backward(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  return dynamic_streams_backward(num_streams(at), schedule);
}

/// m + 2 products of each stream; mean and deviation of each.
double hc_scalars(double m) { return m * (m + 2) + 2 * m; }
/// The logits, and the streams' norm.
double lite_scalars(double m) { return lite_outputs(m) + 1; }

constexpr BackwardRule kHcStaticBackward{
    .moves =
        "fused: 2m + 2 r, m + 1 w, the streams behind the layer made again. unfused: pre m + 1 r, m w; norm 2 r, 1 w; post m + 1 r, 1 w; residual 2m r, m w; sum 2m r, m w",
    .layer = hc_static_backward,
    .activations = layers_keep<static_streams_saved>};

template <double (*kScalars)(double)>
constexpr BackwardRule kMappedBackward{
    .moves = "as mhc, which is an assumption; one_pass: its least",
    .layer = mapped_backward,
    .activations = dynamic_streams_keep<kScalars>,
    .recompute_layers = best_stream_recomputation};

/// alpha and beta (m) and A (m x m) of each layer: Table 5's a_m, beta and A_r.
double static_parameters(const SchemeLayer& at) {
  const double m = num_streams(at);
  return m * (m + 2);
}

/// Seven streams have 5,040 permutations already.
std::optional<ParameterProblem> permutations_problem(const SchemeLayer& last) {
  constexpr Count kMost = 6;
  if (last.parameters.num_streams <= kMost) return std::nullopt;
  return ParameterProblem{"num_streams", "m! permutations; more than 6 streams are not sensible"};
}

}  // namespace

const SchemeRule schemes::kHcStatic{
    .id = "hc_static",
    .label = "HC, static",
    .update = "H_l = H_{l-1} A_r + f_{l-1}(H_{l-1} a_m) beta^T, coefficients learned",
    .file = "multi_state/hyper_connections.cpp",
    .source = "[attnres] Table 5; Zhu et al., arXiv:2409.19606",
    .moves = "unfused: (4m + 1) r, (3m + 1) w; norm 1 r, 1 w. fused: m + 1 r, m + 1 w in one scan",
    .reference = "hyper_connections.hpp",
    .kind = {StateKind::multi_state, WeightKind::learned_static},
    .keys = kStreamsOnly,
    .schedules = kUnfusedAndFused,
    .operations = hc_static,
    .state_d = stream_states,
    .parameters = static_parameters,
    .problem = streams_problem,
    .backward = &kHcStaticBackward};

const SchemeRule schemes::kHcDynamic{
    .id = "hc_dynamic",
    .label = "HC, dynamic",
    .update = "H_l = H_{l-1} A_r + f_{l-1}(H_{l-1} a_m) beta^T, coefficients + tanh(LN(h) W)",
    .file = "multi_state/hyper_connections.cpp",
    .source = "[attnres] Table 5; Zhu et al., arXiv:2409.19606; counted in [mhc] Table 2",
    .moves =
        "unfused: (5m + 1) r, (3m + 1) w, m^2 + 2m scalars each; norm 1 r, 1 w. fused: post m "
        "+ 1 r, m w; pre with norm 2m r, 1 w",
    .reference = "stream_mappings.hpp",
    .unmixed = "each token has a matrix of the form of hc_static: ask for that",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .keys = kStreamsOnly,
    .schedules = kUnfusedAndFused,
    .operations = hc_dynamic,
    .state_d = stream_states,
    .parameters =
        [](const SchemeLayer& at) {
          const double m = num_streams(at);
          return static_parameters(at) + hidden_size(at) * (m + 2) + 2;
        },
    .problem = streams_problem,
    .backward = &kMappedBackward<hc_scalars>};

const SchemeRule schemes::kMhcLite{
    .id = "mhc_lite",
    .label = "mHC-lite",
    .update = "as mHC with H_res = sum_p softmax(z)_p P_p over the m! permutations",
    .file = "multi_state/hyper_connections.cpp",
    .source = "arXiv:2601.05732",
    .moves = "as hc_dynamic, with 2m + m! rows of phi",
    .reference = "stream_mappings.hpp",
    .unmixed = "each token has a matrix of the form of mhc: ask for that",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .keys = kStreamsOnly,
    .schedules = kUnfusedAndFused,
    .operations = mhc_lite,
    .state_d = stream_states,
    .parameters =
        [](const SchemeLayer& at) {
          const double m = num_streams(at);
          return projection_parameters(m, hidden_size(at), lite_outputs(m));
        },
    .problem = permutations_problem,
    .backward = &kMappedBackward<lite_scalars>};

const SchemeRule schemes::kSinglePassMhc{
    .id = "single_pass_mhc",
    .label = "Single-Pass mHC",
    .update = "X_{l+1} = B_l X_l + C_l F_l(A_{l-1} X_l), (A_l, B_l, C_l) = H(X_l)",
    .file = "multi_state/hyper_connections.cpp",
    .source = "arXiv:2609.19969 Sec. 2.4.1",
    .moves = "one_pass: m + 1 r, m + 1 w: the delayed A needs no second look at the row",
    .reference = "hyper_connections.hpp",
    .unmixed =
        "each token has a matrix of the form of mhc, with alpha of the layer before: ask for that",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .keys = kStreamsOnly,
    .schedules = kOnePassOnly,
    .operations = single_pass_boundary,
    // Scalars are no d-vectors: A (m), and B and C until the update, are left out.
    .state_d = stream_states,
    .parameters =
        [](const SchemeLayer& at) {
          const double m = num_streams(at);
          return projection_parameters(m, hidden_size(at), m * m + 2 * m);
        },
    .problem = streams_problem,
    .backward = &kMappedBackward<mhc_scalars>};

}  // namespace depthcost
