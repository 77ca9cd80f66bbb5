// Scaled and gated residuals on the CPU where their scales and gates are extreme.
#include "tests/kernels/cpu/row_problems.hpp"

#include <bit>
#include <cmath>

#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::scaled_residual_test {
namespace {

/// With beta = lambda = 1 the sum is that of residual_add_rmsnorm, bit by bit.
TEST(ScaledAddOnCpu, WithoutScalesIsThePlainResidual) {
  ScaledAddRmsNormProblem<Bf16> scaled({33, 1031});
  scaled.op.hidden_scale = scaled.tensors.parameters("scales").data()[0] = 1;
  cpu::run(scaled.op);
  ResidualAddRmsNormProblem<Bf16> plain({33, 1031});
  cpu::run(plain.op);
  for (const char* output : {"hidden_state", "output"})
    EXPECT_TRUE(scaled.tensors.rows(output).same_bits(plain.tensors.rows(output))) << output;
}

TEST(HighwayOnCpu, KeepsLogitsThatAreNoNumbers) {
  for (const std::uint32_t logit :
       {0x7FC00000U, 0x7FC00001U, 0x7F800001U, 0xFFC00000U, 0xFFFFFFFFU}) {
    HighwayRmsNormProblem<float> problem({1, 100});
    problem.tensors.rows("gate_logits").data()[70] = std::bit_cast<float>(logit);
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
    const auto change = [&](HighwayRmsNormProblem<float>& problem) {
      const Tensor<float>& logits = problem.tensors.rows("gate_logits");
      std::fill_n(logits.data(), logits.count(), logit);
      const Tensor<float>& passed =
          problem.tensors.rows(logit > 0 ? "hidden_state" : "layer_output");
      for (std::size_t i = 0; i < passed.count(); ++i) passed.data()[i] *= 1e6F;
    };
    expect_matches_after<HighwayRmsNormProblem<float>>(RowShape{3, 100}, 0, change);
  }
}

/// Every sum is what bf16's rounding of h leaves of two terms that cancel.
TEST(HighwayOnCpu, KeepsWhatIsLeftOfTermsThatCancel) {
  const auto cancel = [](HighwayRmsNormProblem<Bf16>& problem) {
    const Tensor<Bf16>& z = problem.tensors.rows("gate_logits");
    const Tensor<Bf16>& h = problem.tensors.rows("hidden_state");
    const Tensor<Bf16>& f = problem.tensors.rows("layer_output");
    for (std::size_t i = 0; i < h.count(); ++i) {
      z.data()[i] = Bf16(static_cast<float>(z.data()[i]) / 8);
      h.data()[i] =
          Bf16(-std::exp(static_cast<float>(z.data()[i])) * static_cast<float>(f.data()[i]));
    }
  };
  expect_matches_after<HighwayRmsNormProblem<Bf16>>(RowShape{17, 500}, 0, cancel);
}

}  // namespace
}  // namespace depthcost::test::scaled_residual_test
