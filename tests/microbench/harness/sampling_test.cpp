// Disturbed samples are repeated; a kernel's share of its ceiling does not follow the machine.
#include "microbench/harness/sampling.hpp"

#include <gtest/gtest.h>

#include "microbench/harness/pairs.hpp"

namespace depthcost::bench::sampling_test {
namespace {

/// Takes samples of these unrests, one after the other.
Sample calmest_of(std::vector<double> unrests, int& taken) {
  taken = 0;
  return calmest([&] {
    const double disturbed_share = unrests.at(static_cast<std::size_t>(taken));
    return Sample{static_cast<double>(taken++), disturbed_share};
  });
}

TEST(Calmest, IsTheFirstSampleThatNothingDisturbed) {
  int taken = 0;
  EXPECT_EQ(calmest_of({3, 0, 0}, taken).seconds, 1);
  EXPECT_EQ(taken, 2);
}

TEST(Calmest, IsTheLeastDisturbedOfAllTries) {
  int taken = 0;
  EXPECT_EQ(calmest_of({3, 2, 1, 2, 3, 0}, taken).seconds, 2);
  EXPECT_EQ(taken, kMostTries);
}

TEST(Calmest, TriesAsOftenAsItIsAsked) {
  int taken = 0;
  for (const auto& [tries, expected] :
       {std::pair{"2", 2}, std::pair{"0", 1}, std::pair{"9", kMostTries}}) {
    ::setenv("DEPTHCOST_TRIES", tries, 1);
    calmest_of({3, 2, 1, 2, 3, 0}, taken);
    EXPECT_EQ(taken, expected) << tries;
  }
  ::unsetenv("DEPTHCOST_TRIES");
}

TEST(Pair, HasTheShareOfTheCeilingAroundIt) {
  const Pair pair = pair_of({.seconds = 2e-3}, 0.98e-3, 1.02e-3);
  EXPECT_DOUBLE_EQ(pair.of_ceiling, 0.5);
  EXPECT_EQ(pair.disturbed_share, 0);
}

TEST(Pair, IsTheSameOnAMachineThatIsHalfAsFast) {
  EXPECT_DOUBLE_EQ(pair_of({.seconds = 4e-3}, 2e-3, 2e-3).of_ceiling,
                   pair_of({.seconds = 2e-3}, 1e-3, 1e-3).of_ceiling);
}

TEST(Pair, IsDisturbedWhereItsCeilingChanges) {
  EXPECT_GT(pair_of({.seconds = 2e-3}, 1e-3, 1.06e-3).disturbed_share, 0);
  EXPECT_GT(pair_of({.seconds = 2e-3}, 1.06e-3, 1e-3).disturbed_share, 0);
  EXPECT_EQ(pair_of({.seconds = 2e-3}, 1e-3, 1.04e-3).disturbed_share, 0);
  EXPECT_EQ(pair_of({.seconds = 2e-3, .disturbed_share = 2}, 1e-3, 1e-3).disturbed_share, 2);
}

}  // namespace
}  // namespace depthcost::bench::sampling_test
