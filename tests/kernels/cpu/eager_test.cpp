// The pieces of eager mode on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/eager_problems.hpp"

namespace depthcost::test::eager_test {
namespace {

/// At least one source.
const Levels kStackLevels(kSourceLevels.begin() + 1, kSourceLevels.end());

template <template <class> class Problem, class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) {
    return 2 * l[0] * l[1] * l[2] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases({kTokenLevels, kHiddenLevels, kStackLevels}, is_feasible)) {
    SCOPED_TRACE("T, d, s:" + text_of(l));
    expect_matches<Problem<T>>(StackShape{l[0], l[1], l[2]}, kLargestLogit);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(UnfusedStackOnCpu, CopiesFloat) { expect_all_match<UnfusedStackProblem, float>(); }
TEST(UnfusedStackOnCpu, CopiesBf16) { expect_all_match<UnfusedStackProblem, Bf16>(); }
TEST(UnfusedKeyNormOnCpu, MatchesTheReferenceInFloat) {
  expect_all_match<UnfusedKeyNormProblem, float>();
}
TEST(UnfusedKeyNormOnCpu, MatchesTheReferenceInBf16) {
  expect_all_match<UnfusedKeyNormProblem, Bf16>();
}
TEST(UnfusedScoresOnCpu, MatchTheReferenceInFloat) {
  expect_all_match<UnfusedScoresProblem, float>();
}
TEST(UnfusedScoresOnCpu, MatchTheReferenceInBf16) {
  expect_all_match<UnfusedScoresProblem, Bf16>();
}
TEST(UnfusedMixOnCpu, MatchesTheReferenceInFloat) { expect_all_match<UnfusedMixProblem, float>(); }
TEST(UnfusedMixOnCpu, MatchesTheReferenceInBf16) { expect_all_match<UnfusedMixProblem, Bf16>(); }

template <template <class> class Problem, class T>
void expect_all_mhc_match() {
  const auto is_feasible = [](const Levels& l) {
    return 3 * l[0] * l[1] * l[2] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kStreamLevels}, is_feasible)) {
    SCOPED_TRACE("T, d, m:" + text_of(l));
    expect_matches<Problem<T>>(MhcShape{l[0], l[1], l[2], 0, 0});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(UnfusedMhcCoefficientsOnCpu, MatchTheReferenceInFloat) {
  expect_all_mhc_match<UnfusedMhcCoefficientsProblem, float>();
}
TEST(UnfusedMhcCoefficientsOnCpu, MatchTheReferenceInBf16) {
  expect_all_mhc_match<UnfusedMhcCoefficientsProblem, Bf16>();
}
TEST(UnfusedMhcPreOnCpu, MatchesTheReferenceInFloat) {
  expect_all_mhc_match<UnfusedMhcPreProblem, float>();
}
TEST(UnfusedMhcPreOnCpu, MatchesTheReferenceInBf16) {
  expect_all_mhc_match<UnfusedMhcPreProblem, Bf16>();
}
TEST(UnfusedMhcPostOnCpu, MatchesTheReferenceInFloat) {
  expect_all_mhc_match<UnfusedMhcPostProblem, float>();
}
TEST(UnfusedMhcPostOnCpu, MatchesTheReferenceInBf16) {
  expect_all_mhc_match<UnfusedMhcPostProblem, Bf16>();
}
TEST(UnfusedMhcResidualOnCpu, MatchesTheReferenceInFloat) {
  expect_all_mhc_match<UnfusedMhcResidualProblem, float>();
}
TEST(UnfusedMhcResidualOnCpu, MatchesTheReferenceInBf16) {
  expect_all_mhc_match<UnfusedMhcResidualProblem, Bf16>();
}
TEST(UnfusedMhcMergeOnCpu, MatchesTheReferenceInFloat) {
  expect_all_mhc_match<UnfusedMhcMergeProblem, float>();
}
TEST(UnfusedMhcMergeOnCpu, MatchesTheReferenceInBf16) {
  expect_all_mhc_match<UnfusedMhcMergeProblem, Bf16>();
}

TEST(UnfusedOnCpu, IsRepeatable) {
  const StackShape stack{65, 1031, 9};
  expect_repeatable<UnfusedStackProblem<Bf16>>(stack);
  expect_repeatable<UnfusedKeyNormProblem<Bf16>>(stack);
  expect_repeatable<UnfusedScoresProblem<float>>(stack);
  expect_repeatable<UnfusedMixProblem<Bf16>>(stack);
  const MhcShape streams{65, 1031, 4, 0, 0};
  expect_repeatable<UnfusedMhcCoefficientsProblem<Bf16>>(streams);
  expect_repeatable<UnfusedMhcPreProblem<float>>(streams);
  expect_repeatable<UnfusedMhcPostProblem<Bf16>>(streams);
  expect_repeatable<UnfusedMhcResidualProblem<float>>(streams);
  expect_repeatable<UnfusedMhcMergeProblem<Bf16>>(streams);
}

TEST(UnfusedOnCpu, WritesNothingIfAnArgumentIsWrong) {
  const StackShape stack{3, 8, 2};
  expect_refused<UnfusedStackProblem<Bf16>>(stack, [](auto& op) { op.sources = nullptr; });
  expect_refused<UnfusedKeyNormProblem<float>>(stack, [](auto& op) { ++op.stack; });
  expect_refused<UnfusedScoresProblem<float>>(stack, [](auto& op) { op.query = nullptr; });
  expect_refused<UnfusedMixProblem<Bf16>>(stack, [](auto& op) { ++op.stack; });
  const MhcShape streams{3, 8, 2, 0, 0};
  const auto without_streams = [](auto& op) { op.streams = nullptr; };
  expect_refused<UnfusedMhcCoefficientsProblem<Bf16>>(streams, without_streams);
  expect_refused<UnfusedMhcPreProblem<float>>(streams, without_streams);
  expect_refused<UnfusedMhcPostProblem<Bf16>>(streams, [](auto& op) { op.post = nullptr; });
  expect_refused<UnfusedMhcResidualProblem<float>>(streams, without_streams);
  expect_refused<UnfusedMhcMergeProblem<Bf16>>(streams, [](auto& op) { ++op.spread; });
}

}  // namespace
}  // namespace depthcost::test::eager_test
