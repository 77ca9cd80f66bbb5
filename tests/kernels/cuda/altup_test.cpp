// AltUp with LAuReL on the device against the reference, over shapes.
#include "tests/kernels/cpu/altup_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::altup_test {
namespace {

class AltupOnDevice : public OnDevice {};

template <template <class> class Problem, class T>
void expect_all_match(const Levels& copies) {
  const auto is_feasible = [](const Levels& l) { return l[1] * l[2] <= 40'000; };
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, {1, 7, 64, 72, 1031, 2048, 2560, 5120}, copies}, is_feasible)) {
    SCOPED_TRACE("T, d, A or rank:" + text_of(l));
    expect_matches_on_device<Problem<T>>(AltupShape{l[0], l[1], l[2]});
    if (testing::Test::HasFailure()) return;
  }
}
template <template <class> class Problem>
void expect_both_match(const Levels& copies) {
  expect_all_match<Problem, float>(copies);
  expect_all_match<Problem, Bf16>(copies);
  // The emulation runs few of the cases above; these are of every kind.
  for (const AltupShape& shape : {AltupShape{0, 64, 4}, AltupShape{1, 1, 1}, AltupShape{5, 72, 4},
                                  AltupShape{6, 2560, 3}, AltupShape{3, 35, 5}}) {
    SCOPED_TRACE(shape.hidden_size);
    expect_matches_on_device<Problem<float>>(shape);
    expect_matches_on_device<Problem<Bf16>>(shape);
  }
}

const Levels kCopies{1, 2, 4, 5, 8, 15};

TEST_F(AltupOnDevice, PredictsAsTheReference) { expect_both_match<AltupPredictProblem>(kCopies); }
TEST_F(AltupOnDevice, BranchesAsTheReference) {
  expect_both_match<AltupLaurelProblem>({1, 3, 64, 65});
}
TEST_F(AltupOnDevice, JoinsInTheMiddleAsTheReference) {
  expect_both_match<AltupMiddleProblem>(kCopies);
}
TEST_F(AltupOnDevice, CorrectsAsTheReference) { expect_both_match<AltupCorrectProblem>(kCopies); }

TEST_F(AltupOnDevice, RefusesMoreCopiesThanItHasRoomFor) {
  AltupPredictProblem<float> predict({3, 8, 16});
  EXPECT_THROW(run_on_device(predict.op), std::invalid_argument);
  AltupCorrectProblem<float> correct({3, 8, 16});
  EXPECT_THROW(run_on_device(correct.op), std::invalid_argument);
}

}  // namespace
}  // namespace depthcost::test::altup_test
