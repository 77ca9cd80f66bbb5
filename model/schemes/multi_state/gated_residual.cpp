// Gated Residual of Qwen3.8-Flash-Next: n streams, read through a gate for each element and written
// with a weight for each stream. [gated_residual]
#include "model/operations/gated_residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/streams.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;
using operations::Gate;
using operations::GateSite;
using operations::StreamNorm;

constexpr std::array kGateKeys{kStreams,
                               SchemeKey{"gate_rank", &SchemeParameters::gate_rank,
                                         "[gated_residual] hc_lowrank of the released model"}};
constexpr std::array kGateSchedules{unfused, fused, fused_gate, folded_norm, two_pass, one_pass};
constexpr std::array kGateBounds{one_pass};

Gate gate_of(const SchemeLayer& at) {
  return {.n = num_streams(at),
          .r = static_cast<double>(at.parameters.gate_rank),
          .num_ranks = at.parameters.weight_shards};
}

/// What a framework launches one by one, 62 d at n = 4: lambda f, the addition, the norm, D, SiLU,
/// B, its sigmoid, U, the sigmoid, the product, the mean.
///   (9n + 1) r, (6n + 1) w
Launches eager_launches(const Gate& g) {
  using namespace operations;
  const double n = g.n;
  Operation scaled =
      unfused_elementwise({Access{Operand::layer_output, 1, 0}, Access{Operand::recent, 0, n}}, n);
  scaled.reads_scalars = n;
  const Operation added =
      unfused_elementwise({Access{Operand::recent, n, 0}, Access{Operand::streams, n, n}}, n);
  Launches all{scaled, added, unfused_gated_norm(g), unfused_gate_down(g, g.r),
               unfused_scalar_activation(g.r)};
  if (g.site == GateSite::layer)
    all.insert(all.end(), {unfused_gate_down(g, n), unfused_scalar_activation(n)});
  all.insert(all.end(), {unfused_gate_up(g), unfused_gates(g), unfused_gate_product(g),
                         unfused_stream_mean(g)});
  return all;
}

/// Update and read of one site. Engines carry f and lambda to the next site and add them there.
///   fused        (4n + 1) r, (3n + 1) w: vLLM, more than 48 tokens
///   fused_gate   (3n + 1) r, (2n + 1) w: vLLM, one token
///   folded_norm  (3n + 1) r, (n + 1) w: SGLang PR 40552
///   two_pass     (2n + 1) r, (n + 1) w: nobody ships it
///   one_pass     (n + 1) r, (n + 1) w: a bound
Launches kernels_of(const Gate& g, Schedule schedule) {
  using namespace operations;
  if (schedule == fused_gate)
    return {gate_apply(g, StreamNorm::stored), gate_down_silu(g, StreamNorm::stored),
            gate_up_mix(g, StreamNorm::stored)};
  if (schedule == folded_norm)
    return {gate_apply(g, StreamNorm::folded), gate_down_silu(g, StreamNorm::folded),
            gate_up_mix(g, StreamNorm::folded)};
  if (schedule == two_pass) return {gate_apply_down(g), gate_up_mix(g, StreamNorm::folded)};
  if (schedule == one_pass) return {gate_boundary(g)};
  if (schedule == unfused) return eager_launches(g);
  return {gate_apply(g, StreamNorm::stored), gate_down(g), gate_activation(g), gate_up(g),
          gate_mix(g)};
}

/// With what ranks that share the weights send each other.
Launches gate_launches(const Gate& g, Schedule schedule) {
  Launches all = kernels_of(g, schedule);
  if (g.num_ranks > 1)
    all.insert(all.end(), {operations::gate_all_reduce(g), operations::gate_all_gather(g)});
  return all;
}

Launches layer_launches(const SchemeLayer& at, Schedule schedule) {
  return gate_launches(gate_of(at), schedule);
}

/// The last update, and a read whose result is the model's output.
Launches exit_launches(const SchemeLayer& last, Schedule schedule) {
  Gate gate = gate_of(last);
  gate.site = GateSite::exit;
  return gate_launches(gate, schedule);
}

/// n d (2r + n + 1) a site, n d (2r + 1) at the exit. [gated_residual]
double gate_parameters(const SchemeLayer& at) {
  Gate gate = gate_of(at);
  if (at.layer > at.num_layers) gate.site = GateSite::exit;
  return hidden_size(at) * gate.weights_d();
}

/// Backward of a site. X, dX', du and f are read, dX and df written: (3n + 3) d, where a row stays
/// on chip; gradients of weights by matrix products read dZ and Xn, which are written first: 4n r,
/// 2n w more. [ours], checked against central differences of the update rule.
BackwardLayer gate_backward_layer(const SchemeLayer& at, Schedule schedule, GradientAccumulation) {
  const double n = num_streams(at);
  if (schedule == one_pass) return {{n + 2, n, n + 1}, 1};
  return {{3 * n + 2, 3 * n, 3 * n + 1}, 4};
}

/// Every layer keeps its streams, their norm, the gates' logits, its input and its output; made
/// again from the streams, the streams and the output. r and n scalars beside them.
ChunkActivations gate_activations(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                  const ActivationPlan& plan) {
  if (chunk.num_layers == 0) return {};
  const Count n = last.parameters.num_streams;
  const SavedVectors output = saved_vectors(1);
  const SavedVectors state = saved_vectors(n);
  const SavedVectors remade =
      saved_vectors(2 * n) + kNormInput +
      SavedVectors{.vectors = 0, .scalars = gate_of(last).r + num_streams(last)};
  const auto num_layers = static_cast<double>(chunk.num_layers);
  const SavedVectors layer = state + remade + output;
  if (plan.policy != ActivationPolicy::recompute)
    return placed_activations(plan.policy, chunk.num_layers, num_layers * layer, layer, {});
  if (plan.recomputation == LayerRecomputation::decoder_layer)
    return {.kept = as_double(inputs_of_decoder_layers(chunk)) * state,
            .for_weights = saved_vectors(chunk.num_layers),
            .working = plan.layers_at_once() * (remade + output)};
  return {.kept = num_layers * (state + output),
          .for_weights = saved_vectors(chunk.num_layers),
          .working = remade};
}

constexpr BackwardRule kGateBackward{
    .moves = "one_pass: 2n + 2 r, n + 1 w. Others: 6n + 2 r, 3n + 1 w",
    .layer = gate_backward_layer,
    .activations = gate_activations};

std::optional<ParameterProblem> gate_problem(const SchemeLayer& last) {
  if (const auto problem = streams_problem(last)) return problem;
  const Count most = last.parameters.num_streams * last.parameters.hidden_size;
  if (last.parameters.gate_rank > most)
    return ParameterProblem{"gate_rank", "more than n d = " + std::to_string(most)};
  return std::nullopt;
}

}  // namespace

const SchemeRule schemes::kGatedResidual{
    .id = "gated_residual",
    .label = "Gated Residual",
    .update =
        "X_i += lambda_i f, x = (1/n) sum_i sigmoid(U SiLU(D Xn / n))_i Xn_i, lambda = 2 "
        "sigmoid(B Xn / n)",
    .file = "multi_state/gated_residual.cpp",
    .source = "[gated_residual]",
    .moves =
        "unfused: (9n + 1) r, (6n + 1) w. fused: (4n + 1) r, (3n + 1) w in five launches; "
        "fused_gate (3n + 1) r, (2n + 1) w, folded_norm (3n + 1) r, (n + 1) w in three; "
        "two_pass (2n + 1) r, (n + 1) w; one_pass n + 1 r, n + 1 w, a bound",
    .reference = "gated_residual.hpp",
    .unmixed = "a gate for each element: no mixing coefficient is a scalar of depth",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .pattern = DepthPattern::alike,
    .keys = kGateKeys,
    .schedules = kGateSchedules,
    .shipped = fused,
    .bounds = kGateBounds,
    .operations = layer_launches,
    .state_d = stream_states,
    .parameters = gate_parameters,
    .output = exit_launches,
    .problem = gate_problem,
    .divides_weights = true,
    .backward = &kGateBackward};

}  // namespace depthcost
