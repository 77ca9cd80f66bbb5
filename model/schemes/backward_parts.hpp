// Parts of backward rules that several schemes share: the kernels of an eager backward pass, and
// what layers keep for it. REFERENCES.md, "backward".
//
// A fused backward kernel is counted by its floor: every row that a gradient needs is read once,
// every gradient of a row written once, and gradients of parameters are added up over tokens on
// chip. A gradient that equals another one, as that of f equals that of h in h + f, is one row. A
// saved row that the same scan makes again from others that it reads is not read. Eager code runs
// one kernel for each kernel of the forward pass, two for a product (one makes the gradient of its
// input and one that of its weights), and adds the gradients of a row with several readers in
// pairs. A kernel of ours is counted by its row in model/operations.
#pragma once

#include <algorithm>

#include "model/operations/attnres_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/states.hpp"

namespace depthcost::scheme_parts {

/// Rows that one kernel reads and writes.
constexpr BackwardLayer backward_kernel(double activation_reads_d, double gradient_reads_d,
                                        double gradient_writes_d) {
  return {{activation_reads_d, gradient_reads_d, gradient_writes_d}, 1};
}

/// The rows that a kernel of kernels/operations/backward moves, in as many launches beside the one
/// that adds up slices of tokens.
inline BackwardLayer backward_of(const Operation& operation, double kernels) {
  BackwardLayer all{.traffic = {}, .kernels = kernels};
  for (const Access& access : operation.accesses) {
    const bool is_gradient = access.operand == Operand::gradients;
    (is_gradient ? all.traffic.gradient_reads_d : all.traffic.activation_reads_d) += access.reads_d;
    all.traffic.gradient_writes_d += access.writes_d;
  }
  return all;
}

/// The norm in front of a layer: its input and dx r, the gradient of the input w.
constexpr BackwardLayer norm_backward() { return backward_kernel(2, 0, 1); }

/// A norm on the stream: its input and the gradient of its output r.
constexpr BackwardLayer stream_norm_backward() { return backward_kernel(1, 1, 1); }

/// Autograd's sum of two gradients of `rows` rows.
constexpr BackwardLayer gradient_sum(double rows = 1) { return backward_kernel(0, 2 * rows, rows); }

/// The same where one of the two is the dx that arrives.
constexpr BackwardLayer input_gradient_sum() { return backward_kernel(1, 1, 1); }

/// The backward pass of Y = W X, `in` rows X and `out` rows Y: dX = W^T dY, and dW from X and dY.
constexpr BackwardLayer projection_backward(double in, double out) {
  return backward_kernel(0, out, in) + backward_kernel(in, out, 0);
}

/// The same where dX is added to rows that are there.
constexpr BackwardLayer projection_backward_into(double in, double out) {
  return backward_kernel(0, out + in, in) + backward_kernel(in, out, 0);
}

/// What it costs more to add `rows` gradients to sums that are there: accumulation() and its
/// kernels.
constexpr BackwardLayer accumulated(GradientAccumulation mode, double rows) {
  if (mode == GradientAccumulation::autograd) return {rows * gradient_sum().traffic, rows};
  return {{.gradient_reads_d = rows}, 0};
}

/// d-vectors of accumulated() over all layers, `kSums` rows at each.
template <double (*kSums)(const SchemeLayer&)>
double accumulated_d(const SchemeLayer& last, GradientAccumulation mode) {
  double sums = 0;
  for (Count layer = 1; layer <= last.num_layers; ++layer)
    sums += kSums({last.parameters, layer, last.num_layers});
  return total_d(accumulated(mode, sums).traffic);
}

inline bool is_last_layer(const SchemeLayer& at) { return at.layer == at.num_layers; }
inline bool is_behind_last(const SchemeLayer& at) { return at.layer > at.num_layers; }

/// The backward pass of h' = h + f; x = norm(h'). The gradient of f is that of h.
///   fused     h', dx, dh' r, dh w in one kernel
///   unfused   h', dx r, dn w; then dh', dn r, dh w
/// [ours]
inline BackwardLayer add_and_norm_backward(Schedule schedule) {
  if (schedule == unfused) return norm_backward() + gradient_sum();
  return backward_of(operations::residual_add_rmsnorm_backward(), 1);
}

/// What one layer, or the output behind the last one, keeps.
struct SavedLayer {
  SavedVectors state = {};   // comes back by running layers only
  SavedVectors remade = {};  // the residual path makes it again from states
  double rows = 0;           // of the state, rows that later layers read too
  Count inputs = 1;          // normalised inputs, which gradients of weights read
  double before = 0;         // rows of the layer before that its gradients read
  double received = 0;       // rows of all layers before that it reads
};
using SavedOf = SavedLayer(const SchemeLayer& at, Schedule schedule);

constexpr SavedVectors d_vectors(double vectors) { return {.vectors = vectors, .scalars = 0}; }
constexpr SavedVectors loose_scalars(double scalars) { return {.vectors = 0, .scalars = scalars}; }

/// h' and the normalised input. A sum's own backward pass reads nothing, and h' follows from no
/// fewer vectors than itself.
inline SavedLayer add_and_norm_saved(const SchemeLayer&, Schedule) {
  return {.state = kNormInput, .remade = kNormOutput};
}

constexpr SavedVectors larger(const SavedVectors& a, const SavedVectors& b) {
  return {std::max(a.vectors, b.vectors), std::max(a.scalars, b.scalars)};
}

/// The sum over a chunk and, where it stands there, the output. What its first layer reads of the
/// layers before it is kept once.
inline ChunkActivations saved_by_chunk(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                       const ActivationPlan& plan, SavedOf* saved) {
  SavedLayer sum{.inputs = 0};
  SavedVectors largest;
  SavedVectors largest_remade;
  const auto add = [&](Count layer) {
    const SavedLayer each = saved({last.parameters, layer, last.num_layers}, plan.schedule);
    if (layer == chunk.first_layer) {
      sum.state = sum.state + d_vectors(each.before);
      sum.received = each.received;
    }
    sum.state = sum.state +
                (plan.keeps_input_of(layer, chunk.first_layer) ? each.state : d_vectors(each.rows));
    sum.remade = sum.remade + each.remade;
    sum.rows += each.rows;
    sum.inputs += each.inputs;
    largest = larger(largest, each.state + each.remade + d_vectors(-each.rows));
    largest_remade = larger(largest_remade, each.remade);
  };
  for (Count i = 0; i < chunk.num_layers; ++i) add(chunk.first_layer + i);
  if (chunk.output == OutputAggregation::here) add(last.num_layers + 1);
  ChunkActivations all;
  if (plan.policy == ActivationPolicy::recompute)
    all = {.kept = sum.state,
           .for_weights = saved_vectors(sum.inputs),
           .working = plan.layers_at_once() * largest_remade};
  else
    all = placed_activations(plan.policy, sum.inputs, sum.state + sum.remade, largest,
                             d_vectors(sum.rows));
  all.received = d_vectors(sum.received);
  if (plan.policy != ActivationPolicy::offload) all.own_blocks = d_vectors(sum.rows);
  return all;
}

template <SavedOf* kSaved>
ChunkActivations layers_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                             const ActivationPlan& plan) {
  ChunkOfLayers layers = chunk;
  layers.output = OutputAggregation::elsewhere;
  return saved_by_chunk(last, layers, plan, kSaved);
}

/// The same with the output behind the last layer.
template <SavedOf* kSaved>
ChunkActivations layers_and_output_keep(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                        const ActivationPlan& plan) {
  return saved_by_chunk(last, chunk, plan, kSaved);
}

}  // namespace depthcost::scheme_parts
