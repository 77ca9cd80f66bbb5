// Scaled and gated residuals, hyper-connections in one scan and dense mixing on the CPU against the
// reference, over shapes.
#include <bit>
#include <cmath>

#include "tests/kernels/cpu/family_problems.hpp"

namespace depthcost::test::family_test {
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
    cpu::highway_rmsnorm(problem.op);
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

template <template <class> class Problem, class T>
void expect_streams_match() {
  const auto is_feasible = [](const Levels& l) {
    return (2 * l[2] + 2) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kStreamLevels, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, m, norm, in place:" + text_of(l));
    expect_matches<Problem<T>>(MhcShape{l[0], l[1], l[2], l[3], l[4]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(HcBoundaryOnCpu, MatchesTheReferenceInFloat) {
  expect_streams_match<HcBoundaryProblem, float>();
}
TEST(HcBoundaryOnCpu, MatchesTheReferenceInBf16) {
  expect_streams_match<HcBoundaryProblem, Bf16>();
}
TEST(SinglePassMhcOnCpu, MatchesTheReferenceInFloat) {
  expect_streams_match<SinglePassMhcProblem, float>();
}
TEST(SinglePassMhcOnCpu, MatchesTheReferenceInBf16) {
  expect_streams_match<SinglePassMhcProblem, Bf16>();
}

TEST(HyperConnectionsOnCpu, TakeAnyNumberOfStreams) {
  for (const std::size_t m : {3U, 5U, 6U, 12U}) {
    SCOPED_TRACE("m " + std::to_string(m));
    expect_matches<HcBoundaryProblem<Bf16>>(MhcShape{17, 136, m, 1, 0});
    expect_matches<SinglePassMhcProblem<float>>(MhcShape{17, 136, m, 1, 1});
  }
}

template <class T>
void expect_dense_match() {
  const auto is_feasible = [](const Levels& l) {
    return (l[2] + 6) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels stores{only_input, stored_mix, stored_stream};
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kSourceLevels, stores, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, n, stores, norm:" + text_of(l));
    expect_matches<DenseMixProblem<T>>(DenseShape{l[0], l[1], l[2], l[3], l[4]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DenseMixOnCpu, MatchesTheReferenceInFloat) { expect_dense_match<float>(); }
TEST(DenseMixOnCpu, MatchesTheReferenceInBf16) { expect_dense_match<Bf16>(); }

TEST(FamilyOnCpu, IsRepeatable) {
  expect_repeatable<ScaledAddRmsNormProblem<Bf16>>(ScaledShape{301, 2304, 1});
  expect_repeatable<HighwayRmsNormProblem<float>>(ResidualShape{65, 1031});
  expect_repeatable<HcBoundaryProblem<Bf16>>(MhcShape{65, 2304, 4, 1, 1});
  expect_repeatable<SinglePassMhcProblem<Bf16>>(MhcShape{101, 1031, 4, 1, 0});
  expect_repeatable<DenseMixProblem<Bf16>>(DenseShape{65, 2304, 9, stored_stream, 1});
  expect_repeatable<DenseMixProblem<float>>(DenseShape{65, 1031, 8, only_input, 1});
}

TEST(FamilyOnCpu, WritesNothingIfAnArgumentIsWrong) {
  expect_refused<ScaledAddRmsNormProblem<float>>(ScaledShape{3, 8, 1},
                                                 [](auto& op) { op.num_scales = 2; });
  expect_refused<HighwayRmsNormProblem<Bf16>>(ResidualShape{3, 8},
                                              [](auto& op) { op.gate_logits = nullptr; });
  expect_refused<HcBoundaryProblem<float>>(MhcShape{3, 8, 2, 1, 0},
                                           [](auto& op) { op.pre = nullptr; });
  expect_refused<SinglePassMhcProblem<float>>(MhcShape{3, 8, 2, 1, 0},
                                              [](auto& op) { op.mapping.iterations = 0; });
  expect_refused<DenseMixProblem<Bf16>>(DenseShape{3, 8, 2, stored_stream, 1},
                                        [](auto& op) { op.bank_row = 1; });
}

}  // namespace
}  // namespace depthcost::test::family_test
