// How tokens are cut into tiles for tensor cores, and that the tiles fit. No device needed.
#include "kernels/cuda/attnres/phase1_variants.hpp"
#include "kernels/cuda/mhc/mhc_variants.hpp"

#include <gtest/gtest.h>

namespace depthcost::cuda::tile_plan_test {
namespace {

constexpr DeviceLimits kH200{};
constexpr DeviceLimits kA100{.num_sms = 108,
                             .shared_bytes_per_cta = 166912,
                             .shared_bytes_per_sm = 167936,
                             .has_clusters = false};
constexpr DeviceLimits kRtxPro6000{
    .num_sms = 188, .shared_bytes_per_cta = 101376, .shared_bytes_per_sm = 102400};

TEST(TilePlan, KeepsManyTokensTogetherAndSpreadsFew) {
  const auto bytes = [](const TilePlan& plan) {
    return std::size_t{plan.tokens_per_cluster} * plan.padded_size * 16;
  };
  const auto plan = [&](std::size_t num_tokens) {
    return tile_plan(num_tokens, 896, 8, 120000, kH200, bytes);
  };
  EXPECT_EQ(plan(8192).tokens_per_cluster, 8);
  EXPECT_LE(plan(8192).shared_bytes, 120000);
  EXPECT_EQ(plan(1).tokens_per_cluster, 1);
  EXPECT_EQ(plan(1).cluster_size, 8);
  EXPECT_EQ(tile_plan(8192, 0, 8, 120000, kH200, bytes).variant, TileVariant::scalar);
  EXPECT_EQ(tile_plan(8192, 1 << 20, 8, 120000, kH200, bytes).variant, TileVariant::scalar);
}

/// What a kernel relies on: a rank's share of d in whole projection steps, within the device.
void expect_fits(const TilePlan& plan, std::size_t vectors, const DeviceLimits& device) {
  if (plan.variant == TileVariant::scalar) return;
  EXPECT_GE(std::size_t{plan.padded_size} * plan.cluster_size, vectors * 8);
  EXPECT_EQ(plan.padded_size % kProjectionStep, 0U);
  EXPECT_LE(plan.shared_bytes, device.shared_bytes_per_cta);
  EXPECT_LE(plan.cluster_size, device.has_clusters ? kMaxClusterSize : 1);
  EXPECT_GE(plan.tokens_per_cluster, 1U);
}

TEST(TilePlan, FitsEveryDeviceInEveryShape) {
  for (const DeviceLimits& device : {kH200, kA100, kRtxPro6000})
    for (const std::size_t num_tokens : {1, 2, 63, 65, 8192})
      for (const std::size_t vectors : {1, 8, 288, 512, 896, 2048, 5000}) {
        for (const std::size_t sources : {1, 2, 8, 9, 40, 64}) {
          const TilePlan plan = phase1_plan(num_tokens, vectors, sources, device);
          expect_fits(plan, vectors, device);
          if (plan.variant == TileVariant::scalar) continue;
          EXPECT_LE(Phase1Layout(plan, sources).num_columns, Phase1Layout::kMaxTiles * 8);
        }
        for (const std::size_t streams : {1, 2, 3, 4})
          expect_fits(mhc_plan(num_tokens, vectors, streams, device), vectors, device);
      }
}

TEST(TilePlan, TakesTensorCoresAtEveryRealShape) {
  for (const std::size_t hidden_size : {2304, 4096, 5120, 7168})
    for (const std::size_t num_tokens : {1, 512, 8192}) {
      for (std::size_t sources = 1; sources <= 9; ++sources)
        EXPECT_EQ(phase1_plan(num_tokens, hidden_size / 8, sources, kH200).variant,
                  TileVariant::cluster_tile)
            << hidden_size << ", sources " << sources;
      EXPECT_EQ(mhc_plan(num_tokens, hidden_size / 8, 4, kH200).variant, TileVariant::cluster_tile)
          << hidden_size;
    }
}

TEST(TilePlan, GivesUpWhatNoTileHolds) {
  EXPECT_EQ(phase1_plan(8, 896, 0, kH200).variant, TileVariant::scalar);
  EXPECT_EQ(phase1_plan(8, 896, 65, kH200).variant, TileVariant::scalar);
  EXPECT_EQ(mhc_plan(8, 896, 5, kH200).variant, TileVariant::scalar);
  EXPECT_EQ(mhc_plan(8, 0, 4, kH200).variant, TileVariant::scalar);
}

TEST(MhcPlan, KeepsMoreTokensTogetherWhereThatTakesLessTime) {
  const auto plan = [](std::size_t num_tokens, std::size_t hidden_size) {
    return mhc_plan(num_tokens, hidden_size / 8, 4, kH200);
  };
  EXPECT_EQ(plan(8192, 7168).tokens_per_cluster, 24);
  EXPECT_EQ(plan(8192, 5120).tokens_per_cluster, 24);
  EXPECT_EQ(plan(8192, 2304).tokens_per_cluster, 24);
  EXPECT_EQ(plan(512, 7168).tokens_per_cluster, 16);  // two waves either way
  // Two CTAs of an SM hide each other's phases.
  EXPECT_EQ(plan(8192, 4096).tokens_per_cluster, 16);
  EXPECT_LE(2 * (plan(8192, 4096).shared_bytes + kReservedSharedBytes), kH200.shared_bytes_per_sm);
}

/// Every cluster reads all of phi, and half of the SMs take from L2 what it gives.
TEST(MhcPlan, DoesNotReadPhiMoreOftenThanL2Allows) {
  for (const std::size_t num_tokens : {16, 32, 64, 128}) {
    const TilePlan plan = mhc_plan(num_tokens, 896, 4, kH200);
    EXPECT_EQ(plan.tokens_per_cluster, num_tokens / 8);
    EXPECT_EQ(plan.cluster_size, 8);
  }
  EXPECT_EQ(mhc_plan(1, 896, 4, kH200).num_ctas(1), 8);
}

/// All streams of a tile are under way at once.
TEST(MhcPlan, HasItsTileInFlight) {
  const TilePlan plan = mhc_plan(8192, 896, 4, kH200);
  EXPECT_EQ(mhc_bytes_in_flight(plan, 4, false), 24U * 4 * 896 * 2);
  EXPECT_EQ(mhc_bytes_in_flight(plan, 4, true), 24U * 4 * 896 * 2 + 4 * 256 * 16);
  EXPECT_EQ(mhc_bytes_in_flight({}, 4, true), kScalarThreads * sizeof(float));
}

}  // namespace
}  // namespace depthcost::cuda::tile_plan_test
