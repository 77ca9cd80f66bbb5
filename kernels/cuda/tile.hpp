// Tiles for tensor cores: how Phase 1 and the coefficients of mHC are shared out over clusters, and
// where things lie in the shared memory of a CTA. Pure functions, as in plan.hpp.
#pragma once

#include "kernels/cuda/plan.hpp"

namespace depthcost::cuda {

/// Phase 1, and the coefficients of mHC.
enum class TileVariant {
  scalar,        // a CTA per token, element by element: any shape, and storage in float
  cluster_tile,  // bf16 on tensor cores: a cluster holds the rows of some tokens on chip
};

/// A tile of tokens whose rows a cluster shares out. `padded_size` is a rank's share of d in whole
/// steps of the projection.
struct TilePlan {
  TileVariant variant = TileVariant::scalar;
  unsigned cluster_size = 1;
  unsigned tokens_per_cluster = 0;
  unsigned padded_size = 0;
  unsigned threads = 256;
  std::size_t shared_bytes = 0;

  constexpr std::size_t num_ctas(std::size_t num_tokens) const {
    return ceil_div(num_tokens, tokens_per_cluster) * cluster_size;
  }
};

/// The plan with `shared_bytes_of(plan)` within the limit that keeps most tokens together, in the
/// smallest cluster; then, while SMs are idle, larger clusters and fewer tokens.
template <class SharedBytesOf>
constexpr TilePlan tile_plan(std::size_t num_tokens, std::size_t vectors, unsigned max_tokens,
                             std::size_t max_shared_bytes, const DeviceLimits& device,
                             const SharedBytesOf& shared_bytes_of) {
  constexpr std::size_t kVectorElements = 8;
  constexpr std::size_t kStep = 32;
  const unsigned max_ranks = device.has_clusters ? kMaxClusterSize : 1;
  const auto plan_with = [&](unsigned tokens, unsigned ranks) {
    TilePlan plan{
        .variant = TileVariant::cluster_tile, .cluster_size = ranks, .tokens_per_cluster = tokens};
    plan.padded_size =
        static_cast<unsigned>(round_up(ceil_div(vectors, ranks) * kVectorElements, kStep));
    plan.shared_bytes = shared_bytes_of(plan);
    return plan;
  };
  for (unsigned tokens = max_tokens; vectors > 0 && tokens > 0; tokens /= 2) {
    for (unsigned ranks = 1; ranks <= max_ranks; ranks *= 2) {
      TilePlan plan = plan_with(tokens, ranks);
      if (plan.shared_bytes > max_shared_bytes) continue;
      const auto idle = [&](const TilePlan& larger) {
        return larger.num_ctas(num_tokens) <= device.num_sms &&
               larger.shared_bytes <= device.shared_bytes_per_cta;
      };
      while (plan.cluster_size < max_ranks && plan.padded_size > kStep &&
             idle(plan_with(plan.tokens_per_cluster, plan.cluster_size * 2)))
        plan = plan_with(plan.tokens_per_cluster, plan.cluster_size * 2);
      while (plan.tokens_per_cluster > 1 &&
             idle(plan_with(plan.tokens_per_cluster / 2, plan.cluster_size)))
        plan = plan_with(plan.tokens_per_cluster / 2, plan.cluster_size);
      return plan;
    }
  }
  return {};
}

// Parameter rows times bf16 columns: projection.cuh.
inline constexpr unsigned kTileRows = 32;        // two tiles of 16
inline constexpr unsigned kTileColumns = 8;      // of one tile
inline constexpr unsigned kProjectionStep = 32;  // elements of the long dimension at a time

/// What is known of a column: its products with the rows, and its sum of squares.
inline constexpr unsigned kValuesPerColumn = kTileRows + 1;

inline constexpr unsigned kTileThreads = 256;
inline constexpr unsigned kTileWarps = kTileThreads / kThreadsPerWarp;

/// Columns of `size` elements of bf16 lie a vector apart, so that eight lanes that take vectors
/// from four columns, at two places 64 bytes apart, meet different banks.
constexpr std::size_t bytes_of_column(std::size_t size) { return size * 2 + 16; }

/// Of Phase 1: some tokens with all their sources, a column each.
struct Phase1Layout {
  static constexpr unsigned kMaxTiles = 8;  // 64 columns: tokens times sources in whole tiles
  static constexpr unsigned kWeightRow = kTileRows + 8;  // four columns' weights meet other banks

  unsigned num_tokens = 0;         // of the tile
  unsigned columns_per_token = 0;  // its sources, rounded up to whole tiles
  unsigned num_columns = 0;
  unsigned padded_size = 0;
  unsigned owned_columns = 0;  // of the tokens that a rank owns, at most
  std::size_t column_bytes = 0;
  std::size_t partial = 0;   // sums of each warp; later query 1's mix, (tokens, padded_size)
  std::size_t received = 0;  // the owned columns' sums of each rank
  std::size_t weights = 0;   // (columns, kWeightRow)
  std::size_t squares = 0;   // of query 1's mix: (ranks, tokens)
  std::size_t bytes = 0;

  constexpr Phase1Layout(const TilePlan& plan, std::size_t num_sources)
      : num_tokens(plan.tokens_per_cluster),
        columns_per_token(static_cast<unsigned>(round_up(num_sources, kTileColumns))),
        num_columns(num_tokens * columns_per_token),
        padded_size(plan.padded_size),
        owned_columns(static_cast<unsigned>(ceil_div(num_tokens, plan.cluster_size)) *
                      columns_per_token),
        column_bytes(bytes_of_column(padded_size)) {
    const std::size_t sums = num_columns * kValuesPerColumn * sizeof(float);
    partial = num_columns * column_bytes;
    received = partial + std::max(kTileWarps * sums, num_tokens * padded_size * sizeof(float));
    weights = received + plan.cluster_size * owned_columns * kValuesPerColumn * sizeof(float);
    squares = weights + num_columns * kWeightRow * sizeof(float);
    bytes = squares + plan.cluster_size * num_tokens * sizeof(float);
  }
};

/// `vectors` of a row in bf16, 0 where they cannot be used.
constexpr TilePlan phase1_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_sources,
                               const DeviceLimits& device) {
  constexpr std::size_t kMaxColumns = Phase1Layout::kMaxTiles * kTileColumns;
  if (num_sources == 0 || num_sources > kMaxColumns) return {};
  const auto max_tokens = static_cast<unsigned>(kMaxColumns / round_up(num_sources, kTileColumns));
  return tile_plan(num_tokens, vectors, max_tokens, device.shared_bytes_per_cta, device,
                   [&](const TilePlan& plan) { return Phase1Layout(plan, num_sources).bytes; });
}

/// Of mHC: some tokens, a column each, with their streams one behind the other.
struct MhcLayout {
  static constexpr unsigned kMaxStreams = 4;  // m m + 2 m rows of phi fit kTileRows
  static constexpr unsigned kMaxTiles = 2;
  static constexpr unsigned kMaxTokens = kMaxTiles * kTileColumns;

  unsigned num_tokens = 0;   // of the tile
  unsigned num_columns = 0;  // whole tiles
  unsigned padded_size = 0;  // of a stream
  std::size_t column_bytes = 0;
  std::size_t coefficients = 0;  // (tokens, kMaxStreams, kMaxStreams + 1): H_res, then H_post
  std::size_t partial = 0;       // sums of each warp
  std::size_t received = 0;      // sums of each rank
  std::size_t squares = 0;       // of x: (ranks, tokens)
  std::size_t bytes = 0;

  constexpr MhcLayout(const TilePlan& plan, std::size_t num_streams)
      : num_tokens(plan.tokens_per_cluster),
        num_columns(static_cast<unsigned>(round_up(num_tokens, kTileColumns))),
        padded_size(plan.padded_size),
        column_bytes(bytes_of_column(num_streams * padded_size)) {
    const std::size_t sums = num_columns * kValuesPerColumn * sizeof(float);
    coefficients = num_columns * column_bytes;
    partial = coefficients + num_tokens * kMaxStreams * (kMaxStreams + 1) * sizeof(float);
    received = partial + kTileWarps * sums;
    squares = received + plan.cluster_size * sums;
    bytes = squares + plan.cluster_size * num_tokens * sizeof(float);
  }
};

constexpr TilePlan mhc_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_streams,
                            const DeviceLimits& device) {
  if (num_streams > MhcLayout::kMaxStreams) return {};
  const auto plan_within = [&](std::size_t shared_bytes) {
    return tile_plan(num_tokens, vectors, MhcLayout::kMaxTokens, shared_bytes, device,
                     [&](const TilePlan& plan) { return MhcLayout(plan, num_streams).bytes; });
  };
  // Two CTAs per SM hide each other's phases; but fetching phi for half as many tokens costs more.
  const TilePlan two = plan_within(device.shared_bytes_per_sm / 2 - kReservedSharedBytes);
  const TilePlan one = plan_within(device.shared_bytes_per_cta);
  return two.tokens_per_cluster >= one.tokens_per_cluster ? two : one;
}

}  // namespace depthcost::cuda
