// Lines through the times of chains are exact, and chains that are not linear are noticed.
#include "microbench/harness/slope.hpp"

#include <gtest/gtest.h>

namespace depthcost::bench::slope_test {
namespace {

std::vector<ChainTime> chain_times(double intercept, double slope) {
  std::vector<ChainTime> times;
  for (const std::size_t length : kChainLengths)
    times.push_back({static_cast<double>(length), intercept + slope * static_cast<double>(length)});
  return times;
}

TEST(TheilSen, FindsALine) {
  const auto times = chain_times(7e-6, 1.5e-6);
  const Line line = theil_sen(times);
  EXPECT_NEAR(line.slope, 1.5e-6, 1e-15);
  EXPECT_NEAR(line.intercept, 7e-6, 1e-13);
  EXPECT_LT(worst_deviation(times, line), 1e-9);
}

TEST(TheilSen, IsNotMovedByOneOddTimeAsTheMeanIs) {
  auto times = chain_times(7e-6, 1.5e-6);
  times[1].seconds *= 1.5;
  const Line line = theil_sen(times);
  EXPECT_NEAR(line.slope, 1.5e-6, 0.15e-6);
  EXPECT_GT(worst_deviation(times, line), kLinearWithin);
}

TEST(TheilSen, TakesTheMiddleOfTwoMedians) {
  // Slopes 1, 2, 3, in pairs: (0,1) 1, (1,2) 3, (0,2) 2.
  const std::vector<ChainTime> times{{0, 0}, {1, 1}, {2, 4}};
  EXPECT_EQ(theil_sen(times).slope, 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

TEST(Chains, ThatSpeedUpAreNotLinear) {
  // A clock that rises by a tenth between the shortest and the longest chain.
  auto times = chain_times(0, 1.5e-6);
  times[3].seconds /= 1.1;
  times[2].seconds /= 1.05;
  EXPECT_GT(worst_deviation(times, theil_sen(times)), kLinearWithin);
}

/// A graph whose launch takes the host longer than the device was kept busy for: the host's time
/// for the nodes beyond is in every longer chain, and falls away when the device is busy for
/// longer.
TEST(SlopeDistance, TellsAChainThatWaitsForTheHost) {
  constexpr double kKernel = 1e-6;
  constexpr double kHost = 1.5e-6;  // to launch a node
  const auto line_after = [&](double delay) {
    std::vector<ChainTime> times;
    for (const std::size_t length : kChainLengths) {
      const auto n = static_cast<double>(length);
      times.push_back({n, std::max(n * kKernel, n * kHost - delay)});
    }
    return theil_sen(times);
  };
  EXPECT_GT(slope_distance(line_after(800e-6), line_after(100e-6)), kLinearWithin);
  EXPECT_LT(slope_distance(line_after(1600e-6), line_after(800e-6)), 1e-9);
}

}  // namespace
}  // namespace depthcost::bench::slope_test
