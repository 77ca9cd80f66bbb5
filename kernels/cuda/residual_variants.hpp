// The variants of standard, scaled and gated residuals.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/residual.hpp"

namespace depthcost::cuda {

template <class T>
constexpr Descriptor descriptor(const ResidualAdd<T>&) {
  return {.operation = "residual_add",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}}},
          .bytes_in_flight_per_cta = std::size_t{kAddThreads} * kAddVectors * 2 * 16};
}

template <class T>
constexpr Descriptor descriptor(const ResidualAddRmsNorm<T>& op) {
  const RowPlan plan = row_plan(vectors_of<T>(op.hidden_size));
  return {.operation = "residual_add_rmsnorm",
          .variant = name(plan.variant),
          .operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = bytes_in_flight(plan, 2)};
}

template <class T>
constexpr Descriptor descriptor(const ScaledAddRmsNorm<T>& op) {
  Descriptor it = combined_row("scaled_add_rmsnorm", vectors_of<T>(op.hidden_size), 2);
  it.operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"layer_input", 0, 1}}};
  return it;
}

template <class T>
constexpr Descriptor descriptor(const HighwayRmsNorm<T>& op) {
  Descriptor it = combined_row("highway_rmsnorm", vectors_of<T>(op.hidden_size), 3);
  it.operands = {
      {{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"recent", 1, 0}, {"layer_input", 0, 1}}};
  return it;
}

}  // namespace depthcost::cuda
