// Scaled and gated residuals on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/scaled_residual_problems.hpp"

#include <bit>
#include <cmath>

#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::scaled_residual_test {
namespace {

template <class T>
void expect_scaled_match() {
  const auto is_feasible = [](const Levels& l) {
    return 3 * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases({kTokenLevels, kHiddenLevels, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, vector:" + text_of(l));
    expect_matches<ScaledAddRmsNormProblem<T>>(ScaledShape{l[0], l[1], l[2]});
    expect_matches<HighwayRmsNormProblem<T>>(ResidualShape{l[0], l[1]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ScaledAndGatedAddOnCpu, MatchTheReferenceInFloat) { expect_scaled_match<float>(); }
TEST(ScaledAndGatedAddOnCpu, MatchTheReferenceInBf16) { expect_scaled_match<Bf16>(); }

/// With beta = lambda = 1 the sum is that of residual_add_rmsnorm, bit by bit.
TEST(ScaledAddOnCpu, WithoutScalesIsThePlainResidual) {
  ScaledAddRmsNormProblem<Bf16> scaled({33, 1031, 0});
  scaled.op.hidden_scale = scaled.scales.data()[0] = 1;
  cpu::run(scaled.op);
  ResidualAddRmsNormProblem<Bf16> plain({33, 1031});
  cpu::run(plain.op);
  for_each_output(scaled.plain, plain, [](const auto& a, const auto& b, const std::string& what) {
    EXPECT_TRUE(a.same_bits(b)) << what;
  });
}

TEST(HighwayOnCpu, KeepsLogitsThatAreNoNumbers) {
  for (const std::uint32_t logit :
       {0x7FC00000U, 0x7FC00001U, 0x7F800001U, 0xFFC00000U, 0xFFFFFFFFU}) {
    HighwayRmsNormProblem<float> problem(ResidualShape{1, 100});
    problem.gate_logits.data()[70] = std::bit_cast<float>(logit);
    cpu::run(problem.op);
    for (std::size_t i = 0; i < 100; ++i)
      EXPECT_EQ(std::isnan(problem.op.hidden_state[i]), i == 70) << logit << ' ' << i;
  }
}

/// A gate that is shut passes h, one that is open f, whatever the other one is; and in between none
/// of the two loses its digits beside a large one.
TEST(HighwayOnCpu, HasGatesThatOpenAndShut) {
  for (const float logit : {-1000.0F, -100.0F, -20.0F, 20.0F, 100.0F, 1000.0F}) {
    SCOPED_TRACE("logit " + std::to_string(logit));
    const auto change = [&](const HighwayRmsNormProblem<float>& problem) {
      std::fill_n(problem.gate_logits.data(), problem.gate_logits.count(), logit);
      const Tensor<float>& passed =
          logit > 0 ? problem.plain.add.hidden_state : problem.plain.add.layer_output;
      for (std::size_t i = 0; i < passed.count(); ++i) passed.data()[i] *= 1e6F;
    };
    expect_matches_after<HighwayRmsNormProblem<float>>(ResidualShape{3, 100}, 0, change);
  }
}

TEST(ScaledAndGatedAddOnCpu, AreRepeatable) {
  expect_repeatable<ScaledAddRmsNormProblem<Bf16>>(ScaledShape{301, 2304, 1});
  expect_repeatable<HighwayRmsNormProblem<float>>(ResidualShape{65, 1031});
}

TEST(ScaledAndGatedAddOnCpu, WriteNothingIfAnArgumentIsWrong) {
  expect_refused<ScaledAddRmsNormProblem<float>>(ScaledShape{3, 8, 1},
                                                 [](auto& op) { op.num_scales = 2; });
  expect_refused<HighwayRmsNormProblem<Bf16>>(ResidualShape{3, 8},
                                              [](auto& op) { op.gate_logits = nullptr; });
}

}  // namespace
}  // namespace depthcost::test::scaled_residual_test
