// Tiles for tensor cores: how tokens are shared out over clusters. Pure functions, as in plan.hpp.
#pragma once

#include "kernels/cuda/plan.hpp"

namespace depthcost::cuda {

/// The variants of Phase 1 and of the coefficients of mHC.
enum class TileVariant {
  scalar,        // a CTA per token, element by element: any shape, and storage in float
  cluster_tile,  // bf16 on tensor cores: a cluster holds the rows of some tokens on chip
};

constexpr std::string_view name(TileVariant variant) {
  return variant == TileVariant::scalar ? "scalar" : "cluster_tile";
}

/// A tile of tokens whose rows a cluster shares out. `padded_size` is a rank's share of d in whole
/// steps of the projection.
struct TilePlan {
  TileVariant variant = TileVariant::scalar;
  unsigned cluster_size = 1;
  unsigned tokens_per_cluster = 0;
  unsigned padded_size = 0;
  unsigned threads = kScalarThreads;
  std::size_t shared_bytes = 0;

  constexpr std::size_t num_ctas(std::size_t num_tokens) const {
    return ceil_div(num_tokens, tokens_per_cluster) * cluster_size;
  }
};

/// The plan with `shared_bytes_of(plan)` within the limit that keeps most tokens together, in the
/// smallest cluster; then, while SMs are idle, larger clusters, and fewer tokens up to
/// `ctas_of_fewer_tokens` CTAs.
template <class SharedBytesOf>
constexpr TilePlan tile_plan(std::size_t num_tokens, std::size_t vectors, unsigned max_tokens,
                             std::size_t max_shared_bytes, const DeviceLimits& device,
                             const SharedBytesOf& shared_bytes_of, unsigned ctas_of_fewer_tokens) {
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
      const auto idle = [&](const TilePlan& larger, unsigned most_ctas) {
        return larger.num_ctas(num_tokens) <= most_ctas &&
               larger.shared_bytes <= device.shared_bytes_per_cta;
      };
      while (plan.cluster_size < max_ranks && plan.padded_size > kStep &&
             idle(plan_with(plan.tokens_per_cluster, plan.cluster_size * 2), device.num_sms))
        plan = plan_with(plan.tokens_per_cluster, plan.cluster_size * 2);
      while (plan.tokens_per_cluster > 1 &&
             idle(plan_with(plan.tokens_per_cluster / 2, plan.cluster_size), ctas_of_fewer_tokens))
        plan = plan_with(plan.tokens_per_cluster / 2, plan.cluster_size);
      return plan;
    }
  }
  return {};
}

template <class SharedBytesOf>
constexpr TilePlan tile_plan(std::size_t num_tokens, std::size_t vectors, unsigned max_tokens,
                             std::size_t max_shared_bytes, const DeviceLimits& device,
                             const SharedBytesOf& shared_bytes_of) {
  return tile_plan(num_tokens, vectors, max_tokens, max_shared_bytes, device, shared_bytes_of,
                   device.num_sms);
}

// Parameter rows times bf16 columns: projection.cuh.
inline constexpr unsigned kTileRows = 32;        // two tiles of 16
inline constexpr unsigned kTileColumns = 8;      // of one tile
inline constexpr unsigned kProjectionStep = 32;  // elements of the long dimension at a time

/// Values of a column: its products with the rows, and its sum of squares.
inline constexpr unsigned kValuesPerColumn = kTileRows + 1;

inline constexpr unsigned kTileWarps = kTileThreads / kThreadsPerWarp;

/// Columns of `size` elements of bf16 lie a vector apart, so that eight lanes that take vectors
/// from four columns, at two places 64 bytes apart, meet different banks.
constexpr std::size_t bytes_of_column(std::size_t size) { return size * 2 + 16; }

}  // namespace depthcost::cuda
