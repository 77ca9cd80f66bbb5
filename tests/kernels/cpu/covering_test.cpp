// The cases that kernels are tested with contain every feasible pair of levels.
#include "tests/kernels/cpu/covering.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace depthcost::test::covering_test {
namespace {

TEST(CoveringCases, LetEveryFeasiblePairMeet) {
  const auto is_feasible = [](const Levels& l) { return l[0] * l[1] * l[2] <= (1U << 20); };
  const auto cases = covering_cases({kTokenLevels, kHiddenLevels, kSourceLevels}, is_feasible);
  EXPECT_LT(cases.size(), kTokenLevels.size() * kHiddenLevels.size() * 2);
  for (const Levels& levels : cases) EXPECT_TRUE(is_feasible(levels));
  for (const std::size_t tokens : kTokenLevels)
    for (const std::size_t size : kHiddenLevels) {
      const auto meet = [&](const Levels& l) { return l[0] == tokens && l[1] == size; };
      EXPECT_EQ(std::any_of(cases.begin(), cases.end(), meet), is_feasible({tokens, size, 0}))
          << "T " << tokens << ", d " << size;
    }
}

TEST(CoveringCases, AreCutNowhereButUnderTheSanitizer) {
  if (kCaseBytes < kMostCaseBytes)
    GTEST_SKIP() << "AddressSanitizer: cases above " << (kCaseBytes >> 20) << " MiB are left out";
}

}  // namespace
}  // namespace depthcost::test::covering_test
