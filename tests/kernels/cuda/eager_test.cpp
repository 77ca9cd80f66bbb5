// The pieces of eager mode on the device against the reference, over shapes.
#include "tests/kernels/cpu/eager_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::eager_test {
namespace {

template <class T>
class UnfusedOnDevice : public OnDevice {};
using Storage = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(UnfusedOnDevice, Storage);

/// More sources than one launch of unfused_stack takes.
constexpr std::size_t kManySources = 300;

template <template <class> class Problem, class T>
void expect_stacks_match() {
  const auto is_feasible = [](const Levels& l) {
    return 2 * l[0] * l[1] * l[2] * sizeof(T) <= kCaseBytes;
  };
  Levels sources(kSourceLevels.begin() + 1, kSourceLevels.end());
  sources.push_back(kManySources);
  for (const Levels& l :
       covering_cases_on_device({kTokenLevels, kHiddenLevels, sources}, is_feasible)) {
    SCOPED_TRACE("T, d, s:" + text_of(l));
    expect_matches_on_device<Problem<T>>(StackShape{l[0], l[1], l[2]}, {kLargestLogit});
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(UnfusedOnDevice, StackMatchesTheReference) {
  expect_stacks_match<UnfusedStackProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, KeyNormMatchesTheReference) {
  expect_stacks_match<UnfusedKeyNormProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, ScoresMatchTheReference) {
  expect_stacks_match<UnfusedScoresProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, MixMatchesTheReference) {
  expect_stacks_match<UnfusedMixProblem, TypeParam>();
}

template <template <class> class Problem, class T>
void expect_streams_match() {
  const auto is_feasible = [](const Levels& l) {
    return 3 * l[0] * l[1] * l[2] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, {1, 2, 3, 4, 5, 8, 12}}, is_feasible)) {
    SCOPED_TRACE("T, d, m:" + text_of(l));
    expect_matches_on_device<Problem<T>>(MhcShape{l[0], l[1], l[2], 0, 0}, kMhcAccuracy<T>);
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(UnfusedOnDevice, MhcCoefficientsMatchTheReference) {
  expect_streams_match<UnfusedMhcCoefficientsProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, MhcPreMatchesTheReference) {
  expect_streams_match<UnfusedMhcPreProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, MhcPostMatchesTheReference) {
  expect_streams_match<UnfusedMhcPostProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, MhcResidualMatchesTheReference) {
  expect_streams_match<UnfusedMhcResidualProblem, TypeParam>();
}
TYPED_TEST(UnfusedOnDevice, MhcMergeMatchesTheReference) {
  expect_streams_match<UnfusedMhcMergeProblem, TypeParam>();
}

}  // namespace
}  // namespace depthcost::test::eager_test
