// As descriptor.hpp, for the operations of family_operations.hpp.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/family_operations.hpp"

namespace depthcost::cuda {

/// Of a row that is formed from `rows` others, which are on their way to each of its slices.
constexpr Descriptor formed_row(std::string_view operation, std::size_t vectors, std::size_t rows) {
  const RowPlan plan = former_plan(vectors);
  return {.operation = operation,
          .variant = name(plan.variant),
          .skeleton = Skeleton::row_reduction,
          .bytes_in_flight_per_cta = bytes_in_flight(plan, rows)};
}

template <class T>
constexpr Descriptor descriptor(const ScaledAddRmsNorm<T>& op) {
  Descriptor it = formed_row("scaled_add_rmsnorm", vectors_of<T>(op.hidden_size), 2);
  it.operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"layer_input", 0, 1}}};
  return it;
}

template <class T>
constexpr Descriptor descriptor(const HighwayRmsNorm<T>& op) {
  Descriptor it = formed_row("highway_rmsnorm", vectors_of<T>(op.hidden_size), 3);
  it.operands = {
      {{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"recent", 1, 0}, {"layer_input", 0, 1}}};
  return it;
}

/// More than four streams do not fit into registers, more than eight not as vectors.
template <class T>
constexpr Descriptor descriptor(const HcBoundary<T>& op) {
  const double m = count(op.num_streams);
  Descriptor it = formed_row("hc_boundary", op.num_streams > 8 ? 0 : vectors_of<T>(op.hidden_size),
                             op.num_streams + 1);
  if (op.num_streams > 4 && it.variant != name(RowVariant::scalar))
    it.variant = name(RowVariant::streamed);
  it.operands = {{{"layer_output", 1, 0}, {"streams", m, m}, {"layer_input", 0, 1}}};
  return it;
}

/// Of the tile, as mhc_boundary's.
template <class T>
constexpr Descriptor descriptor(const SinglePassMhc<T>& op, const DeviceLimits& device = {}) {
  const double m = count(op.num_streams);
  const TilePlan plan =
      mhc_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size), op.num_streams, device);
  return {.operation = "single_pass_mhc",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"layer_output", 1, 0}, {"streams", m, m}, {"layer_input", 0, 1}}},
          .reads_scalars = stored_coefficients(op.num_streams) + m,
          .writes_scalars = stored_coefficients(op.num_streams) + m,
          .bytes_in_flight_per_cta = bytes_in_flight(plan, op.num_streams + 1)};
}

template <class T>
constexpr Descriptor descriptor(const DenseMix<T>& op) {
  Descriptor it = formed_row("dense_mix", vectors_of<T>(op.hidden_size), op.num_bank_sources + 1);
  const double hidden_reads = op.hidden_state != nullptr ? 1 : 0;
  const double hidden_writes = op.mixed != nullptr ? 1 : 0;
  const double bank_writes = op.bank_row != kNoRow ? 1 : 0;
  it.operands = {{{"bank", count(op.num_bank_sources), bank_writes},
                  {"hidden_state", hidden_reads, hidden_writes},
                  {"layer_output", 1, 0},
                  {"layer_input", 0, 1}}};
  return it;
}

}  // namespace depthcost::cuda
