// The variants of Gated Residual's two passes: which one runs, where things lie in the shared
// memory of a CTA, and what moves.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/gated_residual.hpp"

namespace depthcost::cuda {

/// The variants of the first pass.
enum class GateVariant {
  scalar,        // a CTA per token, element by element: any shape, and storage in float
  split_rows,    // bf16, few tokens: every SM has some rows of D; the update is a launch before it
  cluster_tile,  // bf16, many tokens: a cluster holds the streams of some tokens on chip
};

constexpr std::string_view name(GateVariant variant) {
  switch (variant) {
    case GateVariant::scalar:
      return "scalar";
    case GateVariant::split_rows:
      return "split_rows";
    case GateVariant::cluster_tile:
      return "cluster_tile";
  }
  return "";
}

/// Rows that meet Xn: those of D, and of B but at the exit.
template <class T>
constexpr std::size_t gate_rows(const GatedApplyDown<T>& op) {
  return op.rank + (op.next_inject == nullptr ? 0 : op.num_streams);
}

/// The shared memory of a CTA of cluster_tile: some tokens, a column each, with their streams one
/// behind the other. Sums that ranks send each other take the place of the columns.
struct GateTileLayout {
  static constexpr unsigned kMaxTokens = kGateTiles * kTileColumns;

  unsigned num_tokens = 0;   // of the tile
  unsigned num_columns = 0;  // whole tiles
  unsigned padded_size = 0;  // of a stream
  unsigned owned_rows = 0;   // whose sums a rank adds up
  std::size_t column_bytes = 0;
  std::size_t squares = 0;  // (ranks, tokens, streams)
  std::size_t factors = 0;  // 1 / rms: (tokens, streams)
  std::size_t bytes = 0;

  constexpr GateTileLayout(const TilePlan& plan, std::size_t num_streams, std::size_t num_rows)
      : num_tokens(plan.tokens_per_cluster),
        num_columns(static_cast<unsigned>(round_up(num_tokens, kTileColumns))),
        padded_size(plan.padded_size),
        owned_rows(static_cast<unsigned>(ceil_div(num_rows, plan.cluster_size))),
        column_bytes(bytes_of_column(num_streams * padded_size)) {
    const std::size_t sums =
        std::size_t{plan.cluster_size} * owned_rows * num_columns * sizeof(float);
    squares = std::max(num_columns * column_bytes, sums);
    factors = squares + plan.cluster_size * num_tokens * num_streams * sizeof(float);
    bytes = factors + num_tokens * num_streams * sizeof(float);
  }
};

constexpr TilePlan gate_tile_plan(std::size_t num_tokens, std::size_t vectors,
                                  std::size_t num_streams, std::size_t num_rows,
                                  const DeviceLimits& device) {
  if (num_streams > kGateStreams || num_rows > kGateRows) return {};
  return tile_plan(
      num_tokens, vectors, GateTileLayout::kMaxTokens, device.shared_bytes_per_cta, device,
      [&](const TilePlan& plan) { return GateTileLayout(plan, num_streams, num_rows).bytes; });
}

struct GatePlan {
  GateVariant variant = GateVariant::scalar;
  TilePlan tile;  // of cluster_tile
};

/// Both variants on tensor cores read the rows from L2, once for so many tokens; split_rows reads
/// the streams from there, too, once for each group of rows, but always by every SM. The one that
/// has less for each SM to read runs.
constexpr GatePlan gate_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_streams,
                             std::size_t num_rows, const DeviceLimits& device) {
  if (vectors == 0) return {};
  const TilePlan tile = gate_tile_plan(num_tokens, vectors, num_streams, num_rows, device);
  if (tile.variant == TileVariant::scalar) return {GateVariant::split_rows, {}};
  const std::size_t split_rows = ceil_div(num_tokens, kGateSplitTokens) * num_rows +
                                 num_tokens * ceil_div(num_rows, kGateGroupRows);
  const std::size_t tiled_rows = ceil_div(num_tokens, tile.tokens_per_cluster) * num_rows;
  const std::size_t tiled_sms = std::min<std::size_t>(tile.num_ctas(num_tokens), device.num_sms);
  if (split_rows * tiled_sms < tiled_rows * device.num_sms) return {GateVariant::split_rows, {}};
  return {GateVariant::cluster_tile, tile};
}

template <class T>
constexpr Descriptor descriptor(const GatedApplyDown<T>& op, const DeviceLimits& device = {}) {
  const double n = count(op.num_streams);
  const GatePlan plan = gate_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size), op.num_streams,
                                  gate_rows(op), device);
  const bool splits = plan.variant == GateVariant::split_rows;
  return {.operation = "gated_residual_apply_down",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.tile.cluster_size),
          .operands = {{{"layer_output", 1, 0}, {"streams", n, n}}},
          .reads_scalars = n,
          .writes_scalars = count(gate_rows(op)) + n,
          .launches = splits ? 2U : 1U,
          .bytes_in_flight_per_cta = splits ? std::size_t{kGateSplitThreads} * kHeldSteps * 2 * 16
                                            : bytes_in_flight(plan.tile, op.num_streams + 1)};
}

/// The rows of U that a warp meets stay in its registers.
constexpr bool holds_up_rows(std::size_t vectors, std::size_t num_streams, std::size_t rank) {
  return vectors > 0 && num_streams <= kGateStreams && rank % 8 == 0 && rank <= kHeldColumns;
}

/// Warps of a CTA of the second pass: few where every SM is to have some rows of U, more where
/// tokens are many, since each CTA reads all of their a.
constexpr unsigned gate_mix_warps(std::size_t num_tokens) {
  return num_tokens <= kGateMixTokens ? kGateMixFewWarps : kGateMixWarps;
}

template <class T>
constexpr Descriptor descriptor(const GatedUpMix<T>& op) {
  const double n = count(op.num_streams);
  const bool holds = holds_up_rows(tile_vectors_of<T>(op.hidden_size), op.num_streams, op.rank);
  const std::size_t threads = std::size_t{gate_mix_warps(op.num_tokens)} * kThreadsPerWarp;
  return {.operation = "gated_residual_up_mix",
          .variant = holds ? "held_rows" : "scalar",
          .skeleton = Skeleton::row_reduction,
          .operands = {{{"recent", n, 0}, {"layer_input", 0, 1}}},
          .reads_scalars = count(op.rank) + n,
          .bytes_in_flight_per_cta =
              holds ? threads * kHeldSteps * 2 * 16 : kScalarThreads * sizeof(float)};
}

}  // namespace depthcost::cuda
