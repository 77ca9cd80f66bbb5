// A clock is stable once its last three rates agree.
#include "microbench/cuda/warm_up.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace depthcost::bench::warm_up_test {
namespace {

TEST(WarmUp, EndsWhenTheClockHasStoppedRising) {
  std::vector<double> rates;
  for (const double mhz : {345.0, 1200.0, 1960.0, 1975.0}) {
    rates.push_back(mhz);
    EXPECT_FALSE(is_stable(rates)) << mhz;
  }
  rates.push_back(1970);
  EXPECT_TRUE(is_stable(rates));
  rates.push_back(1700);
  EXPECT_FALSE(is_stable(rates));
}

}  // namespace
}  // namespace depthcost::bench::warm_up_test
