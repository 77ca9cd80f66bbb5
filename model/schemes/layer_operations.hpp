// Which operations run at a layer, by scheme and schedule: the schedules, written as the launches
// that they consist of. Templates, because a walk over all layers must cost no more than its
// arithmetic.
#pragma once

#include "model/operations/eager_operations.hpp"
#include "model/schemes/mechanism.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// Eager AttnRes over `sources` rows, up to the normalised layer input: (6 s + 3) d.
template <class Emit>
constexpr void each_unfused_attnres(Count sources, const Emit& emit) {
  const auto s = static_cast<double>(sources);
  emit(operations::unfused_stack(s));
  emit(operations::unfused_key_norm(s));
  emit(operations::unfused_scores(s));
  emit(operations::unfused_mix(s));
  emit(operations::rmsnorm());
}

/// The launches at layer `layer`, in order; the first two schemes treat all layers alike.
template <class Emit>
constexpr void each_operation(const Standard&, Schedule schedule, Count, const Emit& emit) {
  if (schedule == Schedule::fused) return emit(operations::residual_add_rmsnorm());
  emit(operations::residual_add());
  emit(operations::rmsnorm());
}

template <class Emit>
constexpr void each_operation(const Mhc& scheme, Schedule schedule, Count, const Emit& emit) {
  const auto m = static_cast<double>(scheme.num_streams);
  if (schedule == Schedule::two_pass) return emit(operations::mhc_boundary(m, m));
  if (schedule == Schedule::one_pass) return emit(operations::mhc_boundary(m, 0));
  if (schedule == Schedule::fused) {
    emit(operations::mhc_post(m));
    emit(operations::mhc_pre(m));
    return;
  }
  emit(operations::unfused_mhc_coefficients(m));
  emit(operations::unfused_mhc_pre(m));
  emit(operations::rmsnorm());
  emit(operations::unfused_mhc_post(m));
  emit(operations::unfused_mhc_residual(m));
  emit(operations::unfused_mhc_merge(m));
}

template <class Emit>
void each_operation(const MechanismScheme& scheme, Schedule schedule, Count layer,
                    const Emit& emit) {
  const MechanismLayer at{scheme.parameters, layer, scheme.num_layers};
  for (const Operation& operation : scheme.mechanism->operations(at, schedule)) emit(operation);
}

/// The launches at layer `at`. `schedule` must be one of the scheme's: schedules_of.
template <class Emit>
constexpr void each_operation(const FullAttnRes&, Schedule schedule, const LayerPosition& at,
                              const Emit& emit) {
  if (schedule == Schedule::single_pass) return emit(operations::full_single_pass(at.layer));
  if (schedule == Schedule::two_phase)
    return emit(at.index == 1 ? operations::full_phase1(at) : operations::full_phase2(at));
  each_unfused_attnres(at.layer, emit);
}

template <class Emit>
constexpr void each_operation(const BlockAttnRes&, Schedule schedule, const LayerPosition& at,
                              const Emit& emit) {
  if (schedule == Schedule::single_pass) return emit(operations::block_single_pass(at));
  if (schedule == Schedule::two_phase)
    return emit(at.index == 1 ? operations::block_phase1(at) : operations::block_phase2(at));
  each_unfused_attnres(at.index == 1 ? at.block : at.block + 1, emit);
  if (at.index > 1) emit(operations::unfused_partial_sum());
}

/// The aggregation behind the last layer; schemes without one emit nothing.
template <class Emit>
constexpr void each_output_operation(const Standard&, Schedule, const Emit&) {}
template <class Emit>
constexpr void each_output_operation(const Mhc&, Schedule, const Emit&) {}
template <class Emit>
void each_output_operation(const MechanismScheme& scheme, Schedule schedule, const Emit& emit) {
  if (scheme.mechanism->output == nullptr) return;
  const MechanismLayer last{scheme.parameters, scheme.num_layers, scheme.num_layers};
  for (const Operation& operation : scheme.mechanism->output(last, schedule)) emit(operation);
}
template <class Emit>
constexpr void each_output_operation(const FullAttnRes& scheme, Schedule schedule,
                                     const Emit& emit) {
  const Count sources = scheme.groups.num_layers + 1;
  if (schedule == Schedule::unfused) return each_unfused_attnres(sources, emit);
  emit(operations::full_single_pass(sources));
}
template <class Emit>
constexpr void each_output_operation(const BlockAttnRes& scheme, Schedule schedule,
                                     const Emit& emit) {
  if (schedule == Schedule::unfused)
    return each_unfused_attnres(scheme.blocks.num_blocks + 1, emit);
  emit(operations::block_output(scheme.blocks));
}

}  // namespace depthcost
