// AttnRes on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/attnres_problems.hpp"

namespace depthcost::test::attnres_test {
namespace {

template <class T>
void expect_single_pass_matches() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t rows = l[2] + kSpareRows + 3;
    return l[2] + l[3] > 0 && rows * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels joining{nothing, stored_sum, added_sum, closed_block, forgotten_sum};
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kSourceLevels, joining, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, n, joining, norm:" + text_of(l));
    expect_matches<SinglePassProblem<T>>(SinglePassShape{l[0], l[1], l[2], l[3], l[4]},
                                         kLargestLogit);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AttnResSinglePassOnCpu, MatchesTheReferenceInFloat) { expect_single_pass_matches<float>(); }
TEST(AttnResSinglePassOnCpu, MatchesTheReferenceInBf16) { expect_single_pass_matches<Bf16>(); }

template <class T, class O>
void expect_phase1_matches() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t bytes = (l[2] + kSpareRows + 3) * sizeof(T) + (l[3] - 1) * sizeof(O);
    return l[2] + l[4] > 0 && bytes * l[0] * l[1] <= kCaseBytes;
  };
  for (const Levels& l : covering_cases(
           {kTokenLevels, kHiddenLevels, kSourceLevels, {1, 2, 5, 8, 24}, {0, 1}, {0, 1}},
           is_feasible)) {
    SCOPED_TRACE("T, d, n, S, closes, norm:" + text_of(l));
    expect_matches<Phase1Problem<T, O>>(Phase1Shape{l[0], l[1], l[2], l[3], l[4], l[5]},
                                        kLargestLogit);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AttnResPhase1OnCpu, MatchesTheReferenceInFloat) { expect_phase1_matches<float, float>(); }
TEST(AttnResPhase1OnCpu, MatchesTheReferenceInBf16) { expect_phase1_matches<Bf16, Bf16>(); }
TEST(AttnResPhase1OnCpu, MatchesTheReferenceInBf16WithFloatOutputs) {
  expect_phase1_matches<Bf16, float>();
}

template <class T, class O>
void expect_phase2_matches() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t bytes = (l[2] + 3) * sizeof(T) + sizeof(O);
    return bytes * l[0] * l[1] <= kCaseBytes;
  };
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kSourceLevels, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, k, adds, norm:" + text_of(l));
    expect_matches<Phase2Problem<T, O>>(Phase2Shape{l[0], l[1], l[2], l[3], l[4]}, kLargestLogit);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AttnResPhase2OnCpu, MatchesTheReferenceInFloat) { expect_phase2_matches<float, float>(); }
TEST(AttnResPhase2OnCpu, MatchesTheReferenceInBf16) { expect_phase2_matches<Bf16, Bf16>(); }
TEST(AttnResPhase2OnCpu, MatchesTheReferenceInBf16WithFloatOutputs) {
  expect_phase2_matches<Bf16, float>();
}

TEST(AttnResOnCpu, IsRepeatable) {
  expect_repeatable<SinglePassProblem<float>>(SinglePassShape{64, 2304, 9, added_sum, 1});
  expect_repeatable<SinglePassProblem<Bf16>>(SinglePassShape{65, 7168, 8, closed_block, 1});
  expect_repeatable<SinglePassProblem<Bf16>>(SinglePassShape{65, 1031, 8, added_sum, 0});
  expect_repeatable<Phase1Problem<float, float>>(Phase1Shape{63, 2304, 5, 12, 1, 1});
  expect_repeatable<Phase1Problem<Bf16, Bf16>>(Phase1Shape{65, 1031, 8, 24, 1, 1});
  expect_repeatable<Phase1Problem<Bf16, float>>(Phase1Shape{64, 2304, 9, 3, 0, 0});
  expect_repeatable<Phase2Problem<float, float>>(Phase2Shape{65, 7168, 0, 1, 1});
  expect_repeatable<Phase2Problem<Bf16, Bf16>>(Phase2Shape{65, 1031, 9, 1, 1});
}

}  // namespace
}  // namespace depthcost::test::attnres_test
