// The interval of a median holds it as often as it says.
#include "microbench/results/spread.hpp"

#include <gtest/gtest.h>

#include <random>

namespace depthcost::bench::spread_test {
namespace {

TEST(Spread, IsThatOfTheRanksAroundTheMedian) {
  const Spread eight = spread_of({8, 1, 7, 2, 6, 3, 5, 4});
  EXPECT_EQ(eight.low, 2);
  EXPECT_EQ(eight.median, 4.5);
  EXPECT_EQ(eight.high, 7);
  const Spread three = spread_of({3, 1, 2});
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_EQ(spread_of({5}).relative(), 0);
}

TEST(Spread, HoldsTheMedianOfWhatItWasDrawnFrom) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> drawn(0, 0.3);  // its median is 1
  for (const std::size_t count : {5U, 8U, 11U, 20U}) {
    int inside = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(count);
      for (double& value : values) value = drawn(random);
      const Spread spread = spread_of(values);
      if (spread.low <= 1 && 1 <= spread.high) ++inside;
    }
    EXPECT_GE(inside, 0.89 * kTrials) << count;
    EXPECT_LE(inside, 0.985 * kTrials) << count;
  }
}

}  // namespace
}  // namespace depthcost::bench::spread_test
