// AltUp with LAuReL on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/altup_problems.hpp"
#include "tests/kernels/cpu/laurel_accuracy.hpp"

namespace depthcost::test::altup_test {
namespace {

template <template <class> class Problem, class T>
void expect_all_match(const Levels& copies) {
  const auto is_feasible = [](const Levels& l) { return l[1] * l[2] <= 40'000; };
  for (const Levels& l : covering_cases(
           {{0, 1, 3, 17, 33, 65, 101}, {1, 7, 64, 72, 1031, 2048, 2560}, copies}, is_feasible)) {
    SCOPED_TRACE("T, d, A or rank:" + text_of(l));
    expect_matches<Problem<T>>(AltupShape{l[0], l[1], l[2]});
    if (testing::Test::HasFailure()) return;
  }
}
template <template <class> class Problem>
void expect_both_match(const Levels& copies) {
  expect_all_match<Problem, float>(copies);
  expect_all_match<Problem, Bf16>(copies);
}

const Levels kCopies{1, 2, 4, 5, 8};

TEST(AltupOnCpu, PredictsAsTheReference) { expect_both_match<AltupPredictProblem>(kCopies); }
TEST(AltupOnCpu, BranchesAsTheReference) {
  expect_both_match<AltupLaurelProblem>({1, 3, 64, 65, 130});
}
TEST(AltupOnCpu, JoinsInTheMiddleAsTheReference) { expect_both_match<AltupMiddleProblem>(kCopies); }
TEST(AltupOnCpu, CorrectsAsTheReference) { expect_both_match<AltupCorrectProblem>(kCopies); }

/// Outputs that bypass the caches.
TEST(AltupOnCpu, WritesLargeOutputsAsTheReference) {
  const AltupShape shape{1100, 2048, 4};
  expect_matches<AltupPredictProblem<Bf16>>(shape);
  expect_matches<AltupMiddleProblem<Bf16>>(shape);
}

template <template <class> class Problem>
void expect_all_repeatable() {
  expect_repeatable<Problem<float>>(AltupShape{65, 1031, 4});
  expect_repeatable<Problem<Bf16>>(AltupShape{101, 2048, 4});
}

TEST(AltupOnCpu, IsRepeatable) {
  expect_all_repeatable<AltupPredictProblem>();
  expect_all_repeatable<AltupLaurelProblem>();
  expect_all_repeatable<AltupMiddleProblem>();
  expect_all_repeatable<AltupCorrectProblem>();
}

TEST(AltupOnCpu, WritesNothingIfAnArgumentIsWrong) {
  const AltupShape shape{3, 8, 2};
  expect_refused<AltupPredictProblem<float>>(shape, [](auto& op) { op.num_copies = 0; });
  expect_refused<AltupPredictProblem<float>>(shape, [](auto& op) { op.norm.gain = nullptr; });
  expect_refused<AltupPredictProblem<float>>(shape, [](auto& op) { op.output = op.copies; });
  expect_refused<AltupLaurelProblem<float>>(shape, [](auto& op) { op.rank = 0; });
  expect_refused<AltupLaurelProblem<float>>(shape, [](auto& op) { op.up = nullptr; });
  expect_refused<AltupMiddleProblem<float>>(shape, [](auto& op) { op.output = op.laurel; });
  expect_refused<AltupMiddleProblem<float>>(shape, [](auto& op) { op.output_norm = {}; });
  expect_refused<AltupCorrectProblem<float>>(shape, [](auto& op) { op.router.matrix = nullptr; });
  expect_refused<AltupCorrectProblem<float>>(shape, [](auto& op) { op.middle = op.copies; });
}

}  // namespace
}  // namespace depthcost::test::altup_test
