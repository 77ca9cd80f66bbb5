// The variants of what a framework launches one by one.
#pragma once

#include "kernels/cuda/mhc/mhc_variants.hpp"
#include "kernels/operations/eager.hpp"

namespace depthcost::cuda {

template <class T>
constexpr Descriptor descriptor(const UnfusedRmsNorm<T>& op) {
  const RowPlan plan = row_plan(vectors_of<T>(op.hidden_size));
  return {.operation = "unfused_rmsnorm",
          .variant = name(plan.variant),
          .operands = {{{"recent", 1, 0}, {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = bytes_in_flight(plan, 1)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedStack<T>& op) {
  const double s = count(op.num_sources);
  return {.operation = "unfused_stack",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"bank", s, 0}, {"recent", 0, s}}},
          .bytes_in_flight_per_cta = std::size_t{kEagerThreads} * kStackVectors * 16};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedKeyNorm<T>& op) {
  const RowPlan plan = row_plan(vectors_of<T>(op.hidden_size));
  const double s = count(op.num_sources);
  return {.operation = "unfused_key_norm",
          .variant = name(plan.variant),
          .operands = {{{"recent", s, s}}},
          .bytes_in_flight_per_cta = bytes_in_flight(plan, 1)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedScores<T>& op) {
  const double s = count(op.num_sources);
  return {.operation = "unfused_scores",
          .variant = "vectors",
          .operands = {{{"recent", s, 0}}},
          .writes_scalars = s,
          .bytes_in_flight_per_cta = std::size_t{kEagerThreads} * kScoreVectors * 16};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedMix<T>& op) {
  const double s = count(op.num_sources);
  return {.operation = "unfused_mix",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"recent", s, 1}}},
          .reads_scalars = s,
          .bytes_in_flight_per_cta = std::size_t{kEagerThreads} * kMixVectors * 16};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedMhcCoefficients<T>& op,
                                const DeviceLimits& device = {}) {
  const TilePlan plan =
      mhc_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size), op.num_streams, device);
  return {.operation = "unfused_mhc_coefficients",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"streams", count(op.num_streams), 0}}},
          .writes_scalars = stored_coefficients(op.num_streams) + count(op.num_streams),
          .bytes_in_flight_per_cta = mhc_bytes_in_flight(plan, op.num_streams, false)};
}

/// Bytes on their way to a CTA of the kernels that mix `num_rows` streams of a token.
template <class T>
constexpr std::size_t mixed_bytes_in_flight(std::size_t hidden_size, std::size_t num_rows) {
  const TokenPlan plan = token_plan(vectors_of<T>(hidden_size));
  return std::size_t{plan.threads_per_token} * plan.tokens_per_cta * num_rows * 16;
}

template <class T>
constexpr Descriptor descriptor(const UnfusedMhcPre<T>& op) {
  const double m = count(op.num_streams);
  return {.operation = "unfused_mhc_pre",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"streams", m, 0}, {"recent", 0, 1}}},
          .reads_scalars = m,
          .bytes_in_flight_per_cta = mixed_bytes_in_flight<T>(op.hidden_size, op.num_streams)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedMhcPost<T>& op) {
  const double m = count(op.num_streams);
  return {.operation = "unfused_mhc_post",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"layer_output", 1, 0}, {"recent", 0, m}}},
          .reads_scalars = m,
          .bytes_in_flight_per_cta = mixed_bytes_in_flight<T>(op.hidden_size, 1)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedMhcResidual<T>& op) {
  const double m = count(op.num_streams);
  return {.operation = "unfused_mhc_residual",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"streams", m, 0}, {"recent", 0, m}}},
          .reads_scalars = m * m,
          .bytes_in_flight_per_cta = mixed_bytes_in_flight<T>(op.hidden_size, op.num_streams)};
}

template <class T>
constexpr Descriptor descriptor(const UnfusedMhcMerge<T>& op) {
  const double m = count(op.num_streams);
  return {.operation = "unfused_mhc_merge",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"recent", 2 * m, 0}, {"streams", 0, m}}},
          .bytes_in_flight_per_cta = std::size_t{kAddThreads} * kAddVectors * 2 * 16};
}

}  // namespace depthcost::cuda
