// What each operation moves and how it is launched: what a cost model has to know of a variant.
// Traffic is that of memory: what a scalar variant reads again comes from L2. Operands are named by
// their roles in the ledger.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/bf16.hpp"
#include "kernels/cuda/plan.hpp"
#include "kernels/cuda/tile.hpp"
#include "kernels/operations.hpp"

namespace depthcost::cuda {

/// How the threads of a kernel cooperate.
enum class Skeleton { elementwise, row_reduction, cluster_reduction };

/// d-vectors per token.
struct OperandTraffic {
  std::string_view operand;
  double reads_d = 0;
  double writes_d = 0;
};

struct Descriptor {
  std::string_view operation;
  std::string_view variant;
  Skeleton skeleton = Skeleton::row_reduction;
  std::array<OperandTraffic, 5> operands{};
  double reads_scalars = 0;  // per token
  double writes_scalars = 0;
  unsigned launches = 1;
  std::size_t bytes_in_flight_per_cta = 0;  // of loads, before the first is used
};

/// Device and alignment as they are where a kernel gets its fast path.
template <class T>
constexpr std::size_t vectors_of(std::size_t hidden_size) {
  constexpr std::size_t kElements = 16 / sizeof(T);
  return hidden_size % kElements == 0 ? hidden_size / kElements : 0;
}

constexpr std::string_view name(RowVariant variant) {
  switch (variant) {
    case RowVariant::scalar:
      return "scalar";
    case RowVariant::streamed:
      return "streamed";
    case RowVariant::registers:
      return "registers";
    case RowVariant::rows_per_warp:
      return "rows_per_warp";
  }
  return "";
}
constexpr std::string_view name(AttentionVariant variant) {
  switch (variant) {
    case AttentionVariant::scalar:
      return "scalar";
    case AttentionVariant::split_row:
      return "split_row";
    case AttentionVariant::row_ring:
      return "row_ring";
    case AttentionVariant::split_heads:
      return "split_heads";
  }
  return "";
}
constexpr std::string_view name(TileVariant variant) {
  return variant == TileVariant::scalar ? "scalar" : "cluster_tile";
}

constexpr double count(std::size_t value) { return static_cast<double>(value); }

/// Of a row that stays in registers, `rows` of it read at once.
constexpr std::size_t bytes_in_flight(const RowPlan& plan, std::size_t rows) {
  return std::size_t{plan.slices_per_thread} * plan.threads_per_row * plan.rows_per_cta * rows * 16;
}

template <class T>
constexpr Descriptor descriptor(const ResidualAdd<T>&) {
  return {.operation = "residual_add",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}}},
          .bytes_in_flight_per_cta = std::size_t{256} * 4 * 2 * 16};
}

template <class T>
constexpr Descriptor descriptor(const ResidualAddRmsNorm<T>& op) {
  const RowPlan plan = row_plan(vectors_of<T>(op.hidden_size));
  return {.operation = "residual_add_rmsnorm",
          .variant = name(plan.variant),
          .operands = {{{"layer_output", 1, 0}, {"hidden_state", 1, 1}, {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = bytes_in_flight(plan, 2)};
}

/// b without f is the buffer of the layer's output itself.
struct NewestTraffic {
  OperandTraffic partial_sum{"partial_sum", 0, 0};
  OperandTraffic layer_output{"layer_output", 0, 0};
};
constexpr NewestTraffic newest_traffic(bool has_partial_sum, bool has_layer_output) {
  NewestTraffic newest;
  newest.layer_output.reads_d = has_partial_sum || has_layer_output ? 1 : 0;
  newest.partial_sum.reads_d = has_layer_output ? 1 : 0;
  return newest;
}

constexpr Skeleton skeleton_of(unsigned cluster_size) {
  return cluster_size > 1 ? Skeleton::cluster_reduction : Skeleton::row_reduction;
}

template <class T>
constexpr AttentionPlan plan_of(const AttnResSinglePass<T>& op, const DeviceLimits& device) {
  const std::size_t vectors = vectors_of<T>(op.hidden_size);
  if (op.variant.is_plain()) return single_pass_plan(op.num_tokens, vectors, device);
  return heads_plan(op.num_tokens, vectors, op.variant.num_heads, op.variant.num_key_parts(),
                    device)
      .attention;
}

/// Rows of the bank in the window.
template <class T>
constexpr std::size_t num_bank_reads(const AttnResSinglePass<T>& op) {
  return op.num_bank_sources - (op.variant.first_recent_row - 1);
}

/// A whole ring; or all rows that registers hold at once.
template <class T>
constexpr std::size_t bytes_in_flight(const AttnResSinglePass<T>& op, const AttentionPlan& plan,
                                      const DeviceLimits& device) {
  const std::size_t row_bytes = op.hidden_size * sizeof(T);
  if (plan.variant == AttentionVariant::row_ring)
    return ring_plan(plan.threads, row_bytes, op.hidden_size * sizeof(float), 0, device).num_slots *
           row_bytes;
  const std::size_t newest = op.layer_output != nullptr ? 2 : op.partial_sum != nullptr ? 1 : 0;
  const std::size_t query = op.variant.token_queries != nullptr ? 1 : 0;
  const std::size_t bank = plan.variant == AttentionVariant::split_heads
                               ? std::min<std::size_t>(num_bank_reads(op), kHeadRows)
                               : num_bank_reads(op);
  return (bank + newest + query) * row_bytes / plan.cluster_size;
}

template <class T>
constexpr Descriptor descriptor(const AttnResSinglePass<T>& op, const DeviceLimits& device = {}) {
  const AttentionPlan plan = plan_of(op, device);
  const bool adds = op.layer_output != nullptr;
  NewestTraffic newest = newest_traffic(op.partial_sum != nullptr, adds);
  newest.partial_sum.writes_d = adds && op.store == SumStore::partial_sum ? 1 : 0;
  const double bank_writes = adds && op.store == SumStore::bank_row ? 1 : 0;
  const double query_reads = op.variant.token_queries != nullptr ? 1 : 0;
  return {.operation = "attnres_single_pass",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"bank", count(num_bank_reads(op)), bank_writes},
                        newest.partial_sum,
                        newest.layer_output,
                        {"recent", query_reads, 0},
                        {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = bytes_in_flight(op, plan, device)};
}

/// Vectors that the tensor cores can take: none of float.
template <class T>
constexpr std::size_t tile_vectors_of(std::size_t hidden_size) {
  return sizeof(T) == 2 ? vectors_of<T>(hidden_size) : 0;
}

/// `vectors` on their way to each thread of a tile; else an element.
constexpr std::size_t bytes_in_flight(const TilePlan& plan, std::size_t vectors) {
  return plan.threads * (plan.variant == TileVariant::cluster_tile ? vectors * 16 : sizeof(float));
}

template <class T, class O>
constexpr Descriptor descriptor(const AttnResPhase1<T, O>& op, const DeviceLimits& device = {}) {
  const bool closes = op.layer_output != nullptr;
  const TilePlan plan = phase1_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size),
                                    op.num_bank_sources + (closes ? 1 : 0), device);
  const NewestTraffic newest = newest_traffic(op.partial_sum != nullptr, closes);
  const double stored = count(op.num_queries) - 1;
  return {.operation = "attnres_phase1",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"bank", count(op.num_bank_sources), closes ? 1.0 : 0.0},
                        newest.partial_sum,
                        newest.layer_output,
                        {"layer_input", 0, 1},
                        {"phase1_output", 0, stored}}},
          .writes_scalars = 2 * stored,
          .bytes_in_flight_per_cta = bytes_in_flight(plan, 8)};
}

template <class T, class O>
constexpr Descriptor descriptor(const AttnResPhase2<T, O>& op, const DeviceLimits& device = {}) {
  const bool adds = op.layer_output != nullptr;
  NewestTraffic newest = newest_traffic(true, adds);
  newest.partial_sum.writes_d = adds ? 1 : 0;
  const bool has_rows = op.num_further_sources > 0;
  const AttentionPlan plan =
      split_row_plan(op.num_tokens, vectors_of<T>(op.hidden_size), has_rows ? 1 : kRingSlices,
                     has_rows ? kSplitRowThreads : kPhase2Threads, device);
  const std::size_t row_bytes = (op.num_further_sources + (adds ? 2 : 1)) * sizeof(T) + sizeof(O);
  return {.operation = "attnres_phase2",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"phase1_output", 1, 0},
                        {"bank", count(op.num_further_sources), 0},
                        newest.partial_sum,
                        newest.layer_output,
                        {"layer_input", 0, 1}}},
          .reads_scalars = 2,
          .bytes_in_flight_per_cta = op.hidden_size * row_bytes / plan.cluster_size};
}

/// H_post and H_res.
constexpr double stored_coefficients(std::size_t m) { return count(m * m + m); }

/// Of the tile: the streams stay on chip between phi and the mix, and are read once.
template <class T>
constexpr Descriptor descriptor(const MhcPre<T>& op, const DeviceLimits& device = {}) {
  const TilePlan plan =
      mhc_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size), op.num_streams, device);
  return {.operation = "mhc_pre",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"recent", count(op.num_streams), 0}, {"layer_input", 0, 1}}},
          .writes_scalars = stored_coefficients(op.num_streams),
          .bytes_in_flight_per_cta = bytes_in_flight(plan, op.num_streams)};
}

template <class T>
constexpr Descriptor descriptor(const MhcPost<T>& op) {
  const double m = count(op.num_streams);
  return {.operation = "mhc_post",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"layer_output", 1, 0}, {"streams", m, m}}},
          .reads_scalars = stored_coefficients(op.num_streams),
          .bytes_in_flight_per_cta =
              std::size_t{token_plan(vectors_of<T>(op.hidden_size)).threads_per_token} *
              (op.num_streams + 1) * 16};
}

template <class T>
constexpr Descriptor descriptor(const MhcBoundary<T>& op, const DeviceLimits& device = {}) {
  const double m = count(op.post.num_streams);
  const TilePlan plan = mhc_plan(op.post.num_tokens, tile_vectors_of<T>(op.post.hidden_size),
                                 op.post.num_streams, device);
  return {.operation = "mhc_boundary",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"layer_output", 1, 0}, {"streams", m, m}, {"layer_input", 0, 1}}},
          .reads_scalars = stored_coefficients(op.post.num_streams),
          .writes_scalars = stored_coefficients(op.post.num_streams),
          .bytes_in_flight_per_cta = bytes_in_flight(plan, op.post.num_streams + 1)};
}

}  // namespace depthcost::cuda
