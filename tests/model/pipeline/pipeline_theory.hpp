// Closed forms that the model's pipelines are held against: the largest message between stages, and
// on uniform chunks with free links the time of a step and the work in flight.
#pragma once

#include <algorithm>

#include "model/base/units.hpp"
#include "model/pipeline/pipeline_simulation.hpp"

namespace depthcost::test {

/// d-vectors per token of the largest naive transition, which is the last.
///   (C - 1) N_p        C = P V
/// [attnres] Eq. 7, its last term.
constexpr double naive_peak(Count num_stages, Count num_virtual_stages, double blocks_per_chunk) {
  const double C = static_cast<double>(num_stages) * static_cast<double>(num_virtual_stages);
  const double N_p = blocks_per_chunk;
  return (C - 1) * N_p;
}

/// d-vectors per token of the largest cached transition.
///   P N_p for V > 1        (P - 1) N_p for V = 1
/// [attnres] Sec. 4.1 ("only the P N_p incremental blocks"). With V > 1 it is V - 1/P times below
/// naive_peak(), which the paper rounds to V.
constexpr double cached_peak(Count num_stages, Count num_virtual_stages, double blocks_per_chunk) {
  const double P = static_cast<double>(num_stages);
  const Count V = num_virtual_stages;
  const double N_p = blocks_per_chunk;
  return V > 1 ? P * N_p : (P - 1) * N_p;
}

/// A step of 1f1b (V = 1, any M) and interleaved_1f1b (M a multiple of P). t_f and t_b are a whole
/// stage's, all its chunks together, for one micro-batch; t_b is both backward tasks.
///   (M + (P - 1) / V) (t_f + t_b)
/// [interleaved] Sec. 2.2: m (t_f + t_b) without a bubble, and the bubble (p - 1)(t_f + t_b) / v.
constexpr Seconds interleaved_makespan(Count num_stages, Count num_virtual_stages,
                                       Count num_micro_batches, Seconds forward, Seconds backward) {
  const double P = static_cast<double>(num_stages);
  const double V = static_cast<double>(num_virtual_stages);
  const double M = static_cast<double>(num_micro_batches);
  return (M + (P - 1) / V) * (forward + backward);
}

/// A step of zb_h1 with M >= P and no recomputation.
///   M (T_F + T_B + T_W) + (P - 1)(T_F + T_B - min(T_F, T_B, T_W))
/// [zero_bubble] Table 2, whose bubble is (p - 1)(T_F + T_B - T_W): right for T_W <= T_F, T_B, as
/// in its Table 1. The minimum is [ours]: a longer weight task does not fit into the gap.
constexpr Seconds zb_h1_makespan(Count num_stages, Count num_micro_batches,
                                 const ChunkTimes& stage) {
  const double P = static_cast<double>(num_stages);
  const double M = static_cast<double>(num_micro_batches);
  const Seconds T_F = stage.forward;
  const Seconds T_B = stage.backward_input;
  const Seconds T_W = stage.backward_weight;
  return M * (T_F + T_B + T_W) + (P - 1) * (T_F + T_B - std::min({T_F, T_B, T_W}));
}

/// Forward passes of stage p (0-based) in flight at most, 1f1b and zb_h1.
///   min(P - p, M)
/// [interleaved] Sec. 2.2.1 and [zero_bubble] Table 2, whose peak is stage 0's.
constexpr Count one_forward_one_backward_in_flight(Count num_stages, Count num_micro_batches,
                                                   Count stage) {
  return std::min(num_stages - stage, num_micro_batches);
}

/// The same for interleaved_1f1b with V > 1, each pass of one chunk.
///   min(2 (P - p - 1) + (V - 1) P + 1, M V)
/// [ours]: Megatron-LM's warm-up, and the one forward pass that precedes each backward pass.
constexpr Count interleaved_in_flight(Count num_stages, Count num_virtual_stages,
                                      Count num_micro_batches, Count stage) {
  const Count P = num_stages;
  const Count V = num_virtual_stages;
  return std::min(2 * (P - stage - 1) + (V - 1) * P + 1, num_micro_batches * V);
}

}  // namespace depthcost::test
