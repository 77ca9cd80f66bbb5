// A rotation has enough sets of operands and no unused ones, and is refused if it would stay in a
// cache.
#include "microbench/cuda/rotation.hpp"

#include <gtest/gtest.h>

#include "microbench/harness/slope.hpp"

namespace depthcost::bench::rotation_test {
namespace {

constexpr std::size_t kCache = 50'000'000;

TEST(Rotation, PassesFiveCachesBetweenTwoUses) {
  for (const std::size_t bytes : {14'000U, 1'000'000U, 70'000'000U, 400'000'000U}) {
    const Rotation rotation = cold_rotation(bytes, kCache, 1'000'000);
    EXPECT_GE(rotation.num_sets * bytes, 5 * kCache);
    EXPECT_LT((rotation.num_sets - 1) * bytes, 5 * kCache + bytes);
    EXPECT_TRUE(stays_cold(rotation, 1'000'000, kCache));
  }
}

TEST(Rotation, HoldsNoMoreSetsThanAChainUses) {
  const Rotation rotation = cold_rotation(14'000, kCache, kLongestChain);
  EXPECT_EQ(rotation.num_sets, kLongestChain);
  EXPECT_TRUE(stays_cold(rotation, kLongestChain, kCache));
  // One call more would meet the first set again, in the cache.
  EXPECT_FALSE(stays_cold(rotation, kLongestChain + 1, kCache));
}

TEST(Rotation, OfHotChainsIsWarm) {
  EXPECT_FALSE(stays_cold({kHotSets, 14'000}, kLongestChain, kCache));
}

}  // namespace
}  // namespace depthcost::bench::rotation_test
