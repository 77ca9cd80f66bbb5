// Which kernel of attention over depth runs, and how it is cut into CTAs: what fits the device, and
// what keeps it busy. No device needed.
#include "kernels/cuda/attnres/depth_attention_variants.hpp"

#include <gtest/gtest.h>

namespace depthcost::cuda::depth_attention_variants_test {
namespace {

constexpr DeviceLimits kH200{};
constexpr DeviceLimits kA100{.num_sms = 108,
                             .shared_bytes_per_cta = 166912,
                             .shared_bytes_per_sm = 167936,
                             .has_clusters = false};
constexpr std::size_t kSizes[] = {8, 16, 64, 136, 288, 512, 896, 1024, 2048, 4096, 40000};

TEST(RingPlan, FitsAsManyCtasAsItSays) {
  for (std::size_t vectors = 1; vectors <= 960; ++vectors) {
    const auto threads =
        static_cast<unsigned>(whole_warps(ceil_div(vectors, kRowRing.slices)) + kThreadsPerWarp);
    const RingPlan plan = ring_plan(threads, vectors * 16, 0, 0, kH200);
    const std::size_t taken =
        round_up(plan.shared_bytes() + kReservedSharedBytes, kSharedBytesUnit);
    EXPECT_LE(taken * plan.ctas_per_sm, kH200.shared_bytes_per_sm) << vectors;
  }
}

TEST(SplitRowPlan, CoversTheRowOrGivesItUp) {
  for (const DeviceLimits& device : {kH200, kA100})
    for (const std::size_t num_tokens : {1, 2, 17, 64, 8192})
      for (const std::size_t vectors : kSizes) {
        const AttentionPlan plan = split_row_plan(num_tokens, vectors, kSplitRow, device);
        if (plan.kernel == AttentionKernel::scalar) {
          EXPECT_GT(vectors, device.has_clusters ? 4096 : 512);
          continue;
        }
        EXPECT_GE(std::size_t{plan.threads} * plan.cluster_size, vectors);
        EXPECT_LE(plan.threads, 512);
        EXPECT_LE(plan.cluster_size, device.has_clusters ? kMaxClusterSize : 1);
      }
}

TEST(SplitRowPlan, SpreadsOneTokenOverACluster) {
  EXPECT_EQ(split_row_plan(1, 896, kSplitRow, kH200).cluster_size, 8);
  EXPECT_EQ(split_row_plan(64, 896, kSplitRow, kH200).cluster_size, 2);
  EXPECT_EQ(split_row_plan(64, 512, kSplitRow, kH200).cluster_size, 2);
  EXPECT_EQ(split_row_plan(17, 512, kSplitRow, kH200).cluster_size, 4);
  EXPECT_EQ(split_row_plan(8192, 896, kNewestAlone, kH200).cluster_size, 1);
}

TEST(HeadsPlan, TakesWholeVectorsWhoseSumsFit) {
  const auto kernel = [](std::size_t vectors, std::size_t heads, std::size_t key_parts) {
    return heads_plan(8192, vectors, heads, key_parts, kH200).attention.kernel;
  };
  EXPECT_EQ(kernel(896, 16, 1), AttentionKernel::split_heads);
  EXPECT_EQ(kernel(896, 16, 16), AttentionKernel::split_heads);
  EXPECT_EQ(kernel(896, 1, 0), AttentionKernel::split_heads);
  EXPECT_EQ(kernel(896, 896, 0), AttentionKernel::split_heads);
  EXPECT_EQ(kernel(0, 1, 1), AttentionKernel::scalar);
  EXPECT_EQ(kernel(896, 3, 1), AttentionKernel::scalar);         // heads of parts of a vector
  EXPECT_EQ(kernel(3584, 3584, 3584), AttentionKernel::scalar);  // too many sums
  EXPECT_EQ(kernel(5000, 1, 1), AttentionKernel::scalar);        // too long
}

TEST(HeadsPlan, FitsTwoCtasOnAnSmAndCoversTheRow) {
  for (const std::size_t num_tokens : {1, 64, 8192})
    for (const std::size_t vectors : {16, 288, 512, 896, 1792})
      for (const std::size_t heads : {1, 16}) {
        const HeadsPlan plan = heads_plan(num_tokens, vectors, heads, heads, kH200);
        ASSERT_EQ(plan.attention.kernel, AttentionKernel::split_heads);
        EXPECT_GE(std::size_t{plan.attention.threads} * plan.attention.cluster_size, vectors);
        EXPECT_LE(plan.attention.threads, kSplitHeads.threads);
        EXPECT_LE(2 * (plan.shared_bytes() + kReservedSharedBytes), kH200.shared_bytes_per_sm);
      }
}

/// Lanes are a power of two within a warp, and the parts of a row are all of it.
TEST(RowParts, ShareTheRowOut) {
  for (const std::size_t vectors : {1, 8, 56, 896, 4096})
    for (const std::size_t count : {1, 2, 7, 16, 56}) {
      if (vectors % count != 0) continue;
      const RowParts parts = row_parts(vectors, count);
      EXPECT_EQ(std::size_t{parts.count} * parts.vectors, vectors);
      EXPECT_EQ(kThreadsPerWarp % parts.lanes, 0);
      EXPECT_LE(parts.lanes, parts.vectors);
    }
  EXPECT_EQ(row_parts(896, 0).count, 0);
}

TEST(SinglePassPlan, NeedsBulkCopiesAndTokensForTheRing) {
  EXPECT_EQ(single_pass_plan(8192, 896, kH200).kernel, AttentionKernel::row_ring);
  EXPECT_EQ(single_pass_plan(8192, 896, kA100).kernel, AttentionKernel::scalar);
  EXPECT_EQ(single_pass_plan(8192, 288, kA100).kernel, AttentionKernel::split_row);
  EXPECT_EQ(single_pass_plan(100, 896, kH200).kernel, AttentionKernel::split_row);
  EXPECT_EQ(single_pass_plan(8192, 2048, kH200).kernel, AttentionKernel::split_row);
  EXPECT_EQ(single_pass_plan(8192, 0, kH200).kernel, AttentionKernel::scalar);
}

TEST(RingPlan, KeepsMoreThanATokenOfNineSourcesInFlight) {
  for (const unsigned hidden_size : {2304, 4096, 7168}) {
    const AttentionPlan plan = single_pass_plan(8192, hidden_size / 8, kH200);
    const RingPlan ring = ring_plan(plan.threads, hidden_size * 2, hidden_size * 4, 2048, kH200);
    EXPECT_GE(ring.num_slots, 9) << hidden_size;
    EXPECT_LE(ring.shared_bytes(), kH200.shared_bytes_per_cta);
    EXPECT_LE(ring.ctas_per_sm * (ring.shared_bytes() + kReservedSharedBytes),
              kH200.shared_bytes_per_sm);
  }
}

}  // namespace
}  // namespace depthcost::cuda::depth_attention_variants_test
