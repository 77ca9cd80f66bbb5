// Both passes of Gated Residual on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/gated_residual_problems.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::gated_residual_test {
namespace {

/// Every size meets every other. The reference takes n d r steps a token.
template <template <class> class Problem, class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) { return l[1] * l[2] * l[3] <= 4'000'000; };
  for (const Levels& l : covering_cases({{0, 1, 3, 17, 33, 65},
                                         {1, 7, 64, 72, 2560},
                                         {1, 2, 4, 8},
                                         {1, 8, 65, 320},
                                         {0, 1},
                                         {0, 1}},
                                        is_feasible)) {
    SCOPED_TRACE("T, d, n, r, in place, exit:" + text_of(l));
    expect_matches<Problem<T>>(GateShape{l[0], l[1], l[2], l[3], l[4], l[5]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GatedResidualOnCpu, UpdatesAndProjectsAsTheReferenceInFloat) {
  expect_all_match<GatedApplyDownProblem, float>();
}
TEST(GatedResidualOnCpu, UpdatesAndProjectsAsTheReferenceInBf16) {
  expect_all_match<GatedApplyDownProblem, Bf16>();
}
TEST(GatedResidualOnCpu, GatesAndMixesAsTheReferenceInFloat) {
  expect_all_match<GatedUpMixProblem, float>();
}
TEST(GatedResidualOnCpu, GatesAndMixesAsTheReferenceInBf16) {
  expect_all_match<GatedUpMixProblem, Bf16>();
}

TEST(GatedResidualOnCpu, IsRepeatable) {
  expect_repeatable<GatedApplyDownProblem<Bf16>>(GateShape{101, 264, 4, 24});
  expect_repeatable<GatedUpMixProblem<Bf16>>(GateShape{101, 264, 4, 24});
}

TEST(GatedResidualOnCpu, WritesNothingIfAnArgumentIsWrong) {
  const GateShape shape{3, 8, 2, 4};
  expect_refused<GatedApplyDownProblem<float>>(shape, [](auto& op) { op.down = nullptr; });
  expect_refused<GatedApplyDownProblem<float>>(shape, [](auto& op) { op.rank = 0; });
  expect_refused<GatedApplyDownProblem<float>>(shape, [](auto& op) { op.next_inject = nullptr; });
  expect_refused<GatedApplyDownProblem<float>>(shape,
                                               [](auto& op) { op.activation = op.inverse_rms; });
  expect_refused<GatedUpMixProblem<float>>(shape, [](auto& op) { op.up = nullptr; });
  expect_refused<GatedUpMixProblem<float>>(shape, [](auto& op) { op.num_streams = 0; });
}

TEST(GatedResidualOnCpu, SaysWhatIsWrong) {
  GatedApplyDownProblem<float> problem(GateShape{3, 8, 2, 4});
  problem.op.next_inject = nullptr;
  try {
    cpu::run(problem.op);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "gated_residual_apply_down: inject_weights and next_inject are not both null "
                 "(only the exit has neither)");
  }
}

}  // namespace
}  // namespace depthcost::test::gated_residual_test
