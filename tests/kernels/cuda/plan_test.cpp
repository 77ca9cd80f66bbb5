// How rows are cut into CTAs. No device needed.
#include "kernels/cuda/plan.hpp"

#include <gtest/gtest.h>

namespace depthcost::cuda::plan_test {
namespace {

constexpr std::size_t kSizes[] = {8, 16, 64, 136, 288, 512, 896, 1024, 2048, 4096, 40000};

TEST(RowPlan, CoversTheRowWithAtMost1024Threads) {
  for (const std::size_t vectors : kSizes) {
    const RowPlan plan = row_plan(vectors);
    EXPECT_LE(plan.threads_per_row * plan.rows_per_cta, 1024);
    EXPECT_EQ(plan.threads_per_row % kThreadsPerWarp, 0);
    if (plan.slices_per_thread == 0) continue;
    EXPECT_GE(std::size_t{plan.slices_per_thread} * plan.threads_per_row, vectors);
  }
}

TEST(CombinePlan, KeepsNoMoreThreadsThanItMay) {
  for (std::size_t vectors = 1; vectors <= 5000; ++vectors) {
    const RowPlan plan = combine_plan(vectors);
    if (plan.variant == RowVariant::streamed) {
      EXPECT_EQ(plan.threads_per_row, kCombineStreamedThreads);
      continue;
    }
    EXPECT_LE(plan.threads_per_row * plan.rows_per_cta, kCombineThreads) << vectors;
    EXPECT_GE(std::size_t{plan.slices_per_thread} * plan.threads_per_row, vectors);
  }
  EXPECT_EQ(combine_plan(2048).variant, RowVariant::registers);
  EXPECT_EQ(combine_plan(2049).variant, RowVariant::streamed);
  EXPECT_EQ(row_plan(4096).variant, RowVariant::registers);
  EXPECT_EQ(row_plan(4097).variant, RowVariant::streamed);
}

}  // namespace
}  // namespace depthcost::cuda::plan_test
