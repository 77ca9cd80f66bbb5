// Both passes of Gated Residual on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/gated_residual_problems.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::gated_residual_test {
namespace {

template <class T>
void expect_match(const GateShape& shape) {
  expect_matches<GatedApplyDownProblem<T>>(shape);
  expect_matches_after<GatedUpMixProblem<T>>(shape, 0, round_activations<T>);
}

/// Every size meets every other. The reference takes n d r steps a token. Matrix units take n d and
/// r that are multiples of 32.
template <class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) { return l[1] * l[2] * l[3] <= 4'000'000; };
  for (const Levels& l : covering_cases({{0, 1, 3, 17, 33, 65, 131},
                                         {1, 7, 64, 72, 2560},
                                         {1, 2, 4, 8},
                                         {1, 8, 32, 65, 320},
                                         {0, 1},
                                         {0, 1}},
                                        is_feasible)) {
    SCOPED_TRACE("T, d, n, r, in place, exit:" + text_of(l));
    expect_match<T>(GateShape{l[0], l[1], l[2], l[3], l[4], l[5]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GatedResidualOnCpu, MatchesTheReferenceInFloat) { expect_all_match<float>(); }
TEST(GatedResidualOnCpu, MatchesTheReferenceInBf16) { expect_all_match<Bf16>(); }

TEST(GatedResidualOnCpu, NormalisesByTheStreamsThatItStores) {
  for (const GateShape& shape : {GateShape{19, 2560, 4, 8}, GateShape{5, 72, 3, 8}}) {
    GatedApplyDownProblem<Bf16> problem(shape);
    cpu::run(problem.op);
    expect_factors_of_stored_streams(problem.op);
  }
}

/// What is not representable in bf16 is lost where matrix units take a, and nothing else: the gates
/// move by less than 2^-9 of what their terms add up to, times the largest slope of the sigmoid.
TEST(GatedResidualOnCpu, LosesNoMoreThanTheRoundingOfItsActivations) {
  const GateShape shape{65, 64, 4, 320};
  GatedUpMixProblem<Bf16> exact(shape);
  GatedUpMixProblem<Bf16> rounded(shape);
  round_activations(rounded);
  cpu::run(exact.op);
  cpu::run(rounded.op);
  SquaredError error;
  for (std::size_t i = 0; i < exact.output.count(); ++i)
    error.add(reference::to_double(exact.output.data()[i]),
              reference::to_double(rounded.output.data()[i]));
  EXPECT_LE(error.relative(), 0x1p-9);
}

TEST(GatedResidualOnCpu, IsRepeatable) {
  for (const std::size_t rank : {24U, 32U}) {
    expect_repeatable<GatedApplyDownProblem<Bf16>>(GateShape{701, 264, 4, rank});
    expect_repeatable<GatedUpMixProblem<Bf16>>(GateShape{701, 264, 4, rank});
    expect_repeatable<GatedApplyDownProblem<float>>(GateShape{701, 264, 4, rank});
  }
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
