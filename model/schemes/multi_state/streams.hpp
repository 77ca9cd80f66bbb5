// Hyper-connections whose coefficients come from the streams: mHC's launches with something else in
// place of phi.
#pragma once

#include <cassert>

#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/backward_parts.hpp"
#include "model/schemes/multi_state/mhc_recomputation.hpp"

namespace depthcost::scheme_parts {

inline constexpr std::array kStreamsOnly{kStreams};

inline double num_streams(const SchemeLayer& at) {
  return static_cast<double>(at.parameters.num_streams);
}

/// What [mhc] Table 2 counts for a boundary behind its coefficients, and the norm.
inline Launches merge_pieces(double m) {
  return {operations::unfused_mhc_pre(m), operations::rmsnorm(), operations::unfused_mhc_post(m),
          operations::unfused_mhc_residual(m), operations::unfused_mhc_merge(m)};
}

/// What stands in place of phi: coefficients a token, weights in units of d, and how often a token
/// uses each.
struct StreamProjection {
  double outputs = 0;
  double weights_d = 0;
  double uses = 1;
};

/// Weights of the projection to `outputs` coefficients, their biases, and 3 scales. [mhc] Eq. 7-8.
///   m d outputs + outputs + 3
constexpr double projection_parameters(double m, double d, double outputs) {
  return m * d * outputs + outputs + 3;
}

/// What a boundary of mHC keeps a token: m^2 + 2m unactivated coefficients and the streams' norm.
constexpr double mhc_scalars(double m) { return m * m + 2 * m + 1; }

inline Operation projected(Operation operation, double m, const StreamProjection& by) {
  operation.flops_d += 2 * by.weights_d * by.uses - operations::mhc_projection_flops_d(m);
  operation.parameters_d += by.weights_d - operations::mhc_phi_d(m);
  operation.parameters += by.outputs - operations::mhc_coefficients(m);
  return operation;
}

inline Operation other_pre(double m, const StreamProjection& by) {
  Operation pre = projected(operations::mhc_pre(m), m, by);
  pre.id = operations::kRowUpdate;
  return pre;
}

inline Operation other_coefficients(double m, const StreamProjection& by) {
  Operation coefficients = projected(operations::unfused_mhc_coefficients(m), m, by);
  coefficients.id = operations::kUnfusedProjection;
  return coefficients;
}

inline Launches dynamic_streams(double m, const StreamProjection& by, Schedule schedule) {
  if (schedule == fused) return {operations::mhc_post(m), other_pre(m, by)};
  Launches all{other_coefficients(m, by)};
  for (const Operation& piece : merge_pieces(m)) all.push_back(piece);
  return all;
}

/// The least of a boundary's backward pass: X before and behind the layer, f, dx, dX' r; dX, df w.
/// dX' is carried along, gradients of coefficients wait for the second visit.
///   (3m + 2) r, (m + 1) w
/// [ours]
constexpr BackwardLayer least_streams_backward(double m) {
  return backward_kernel(2 * m + 2, m, m + 1);
}

/// Post, pre and the projection of deepseek-ai/TileKernels tile_kernels/mhc, read off their
/// signatures.
///   (6m + 2) r, (3m + 1) w
inline BackwardLayer tile_kernels_backward(const SchemeLayer& at) {
  const double m = num_streams(at);
  return {{3 * m + 2, 3 * m, 3 * m + 1}, 3};
}

/// Backward of a boundary, m streams whose coefficients come from the streams; other maps in place
/// of phi are taken to need the same rows.
///   fused     (5m + 2) r, (2m + 1) w: mhc_pre_backward, its product for dphi, mhc_post_backward
///   two_pass  (4m + 2) r, (m + 1) w: mhc_boundary_backward and its product
///   one_pass  least_streams_backward()
///   unfused   (9m + 4) r, (5m + 2) w: each kernel's own backward, and autograd's two additions to
///             the gradient of X, which three kernels read. [ours]
inline BackwardLayer dynamic_streams_backward(double m, Schedule schedule) {
  if (schedule == fused)
    return backward_of(operations::mhc_pre_backward(m), 2) +
           backward_of(operations::mhc_post_backward(m), 1);
  if (schedule == two_pass) return backward_of(operations::mhc_boundary_backward(m), 2);
  if (schedule == unfused) return {{4 * m + 4, 5 * m, 5 * m + 2}, 7};
  return least_streams_backward(m);
}

/// Every layer saves its m streams, their mix (the norm's input), its normalised input, its
/// output f, and scalars that the coefficients come from: f and the streams for the gradients of
/// the coefficients. [mhc] Table 3. Eager code, whose projection is a matrix product of its own,
/// keeps the normalised streams too.
template <double (*kScalars)(double num_streams)>
ChunkActivations dynamic_streams_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                      const ActivationPlan& plan) {
  if (chunk.num_layers == 0) return {};
  const Count m = last.parameters.num_streams;
  const SavedVectors output = saved_vectors(1);
  const SavedVectors normalised = saved_vectors(plan.schedule == unfused ? m : 0);
  const SavedVectors remade = saved_vectors(m) + normalised + kNormInput + kNormOutput +
                              loose_scalars(kScalars(num_streams(last)));
  const auto num_layers = static_cast<double>(chunk.num_layers);
  if (plan.policy != ActivationPolicy::recompute)
    return placed_activations(plan.policy, chunk.num_layers, num_layers * (remade + output),
                              remade + output, {});
  assert(plan.recompute_layers >= 1);
  const Count at_once = std::min(plan.recompute_layers, chunk.num_layers);
  const Count num_states = divided_up(chunk.num_layers, at_once);
  const Count of_decoder_layers = inputs_of_decoder_layers(chunk) * m;
  // Where layers run again, outputs need not be kept; but they may be fewer than states.
  if (plan.recomputation == LayerRecomputation::decoder_layer &&
      of_decoder_layers < num_states * m + chunk.num_layers)
    return {.kept = saved_vectors(of_decoder_layers),
            .for_weights = saved_vectors(chunk.num_layers),
            .working = plan.layers_at_once() * (remade + output)};
  return {.kept = saved_vectors(num_states * m) + num_layers * output,
          .for_weights = saved_vectors(chunk.num_layers),
          .working = static_cast<double>(at_once) * remade};
}

inline Count best_stream_recomputation(const SchemeParameters& parameters, Count num_layers) {
  return best_mhc_recomputation(parameters.num_streams, num_layers);
}

/// What a boundary of streams with static coefficients keeps: X and f; X' follows from them. Eager
/// code saves the mix, which is the norm's input.
inline SavedLayer static_streams_saved(const SchemeLayer& at, Schedule schedule) {
  return {.state = d_vectors(num_streams(at) + 1),
          .remade = kNormOutput + d_vectors(schedule == unfused ? 1 : 0)};
}

/// Backward of X' = mixed X + beta f; x = norm(a . X') with static coefficients, in one scan: X, f,
/// dx, dX' r, X' made again; dX, df w. The gradients of the coefficients are reduced there.
///   (2m + 2) r, (m + 1) w
/// [ours]
constexpr BackwardLayer static_streams_scan(double m) { return backward_kernel(m + 2, m, m + 1); }

}  // namespace depthcost::scheme_parts
