// What happens before a launch: no device is touched for bad arguments or for no tokens.
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/cuda/operations.hpp"

namespace depthcost::test::arguments_test {
namespace {

alignas(16) Bf16 row[64];
alignas(16) Bf16 other_row[64];
alignas(16) float gain[64];
alignas(16) float statistics[64];

TEST(CudaArguments, AreCheckedBeforeAnythingIsLaunched) {
  EXPECT_THROW(cuda::residual_add(ResidualAdd<float>{1, 8, nullptr, nullptr}),
               std::invalid_argument);
  EXPECT_THROW(cuda::residual_add(ResidualAdd<Bf16>{1, 0, row, other_row}), std::invalid_argument);
  EXPECT_THROW(cuda::residual_add_rmsnorm(ResidualAddRmsNorm<Bf16>{1, 64, row, row, {gain}, row}),
               std::invalid_argument);
  EXPECT_THROW(cuda::residual_add(ResidualAdd<Bf16>{1, 8, row, other_row + 1}),
               std::invalid_argument);
}

TEST(CudaArguments, OfEveryOperationAreChecked) {
  EXPECT_THROW(cuda::attnres_single_pass(AttnResSinglePass<Bf16>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::attnres_phase1(AttnResPhase1<Bf16, float>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::attnres_phase2(AttnResPhase2<Bf16, float>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::mhc_pre(MhcPre<Bf16>{1, 8, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::mhc_post(MhcPost<Bf16>{1, 8, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::mhc_boundary(MhcBoundary<Bf16>{{1, 8, 4}}), std::invalid_argument);
  EXPECT_THROW(cuda::sinkhorn(Sinkhorn{1, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::scaled_add_rmsnorm(ScaledAddRmsNorm<Bf16>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::highway_rmsnorm(HighwayRmsNorm<Bf16>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::hc_boundary(HcBoundary<Bf16>{1, 8, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::single_pass_mhc(SinglePassMhc<Bf16>{1, 8, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::dense_mix(DenseMix<Bf16>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_rmsnorm(UnfusedRmsNorm<Bf16>{1, 8}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_stack(UnfusedStack<Bf16>{1, 8, 2}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_key_norm(UnfusedKeyNorm<Bf16>{1, 8, 2}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_scores(UnfusedScores<Bf16>{1, 8, 2}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_mix(UnfusedMix<Bf16>{1, 8, 2}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_mhc_coefficients(UnfusedMhcCoefficients<Bf16>{1, 8, 4}),
               std::invalid_argument);
  EXPECT_THROW(cuda::unfused_mhc_pre(UnfusedMhcPre<Bf16>{1, 8, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_mhc_post(UnfusedMhcPost<Bf16>{1, 8, 4}), std::invalid_argument);
  EXPECT_THROW(cuda::unfused_mhc_residual(UnfusedMhcResidual<Bf16>{1, 8, 4}),
               std::invalid_argument);
  EXPECT_THROW(cuda::unfused_mhc_merge(UnfusedMhcMerge<Bf16>{1, 8, 4}), std::invalid_argument);
}

TEST(CudaArguments, OfAnAblationAreTakenWhereItIsOne) {
  AttnResSinglePass<Bf16> op{
      .num_tokens = 0, .hidden_size = 64, .partial_sum = row, .query = gain, .output = other_row};
  op.variant = {.weighting = DepthWeighting::sigmoid, .num_heads = 4};
  EXPECT_NO_THROW(cuda::attnres_single_pass(op));
  op.variant.num_heads = 3;
  EXPECT_THROW(cuda::attnres_single_pass(op), std::invalid_argument);
  op.variant = {.first_recent_row = 2};
  EXPECT_THROW(cuda::attnres_single_pass(op), std::invalid_argument);
}

/// More are not held by the registers of any variant.
TEST(CudaArguments, OfManyStaticStreamsAreRefused) {
  EXPECT_THROW(cuda::hc_boundary(HcBoundary<Bf16>{0, 64, 33}), std::invalid_argument);
}

TEST(CudaArguments, OfNoTokensLaunchNothing) {
  const NextNorm norm{.gain = gain};
  EXPECT_NO_THROW(cuda::residual_add(ResidualAdd<Bf16>{0, 64, row, other_row}));
  EXPECT_NO_THROW(
      cuda::residual_add_rmsnorm(ResidualAddRmsNorm<Bf16>{0, 64, row, other_row, norm, row}));
  EXPECT_NO_THROW(cuda::attnres_single_pass(AttnResSinglePass<Bf16>{
      .num_tokens = 0, .hidden_size = 64, .partial_sum = row, .query = gain, .output = row}));
  EXPECT_NO_THROW(cuda::attnres_phase2(AttnResPhase2<Bf16, Bf16>{.num_tokens = 0,
                                                                 .hidden_size = 64,
                                                                 .partial_sum = row,
                                                                 .phase1_output = row,
                                                                 .maximum = statistics,
                                                                 .sum = statistics,
                                                                 .query = gain,
                                                                 .output = row}));
  EXPECT_NO_THROW(cuda::mhc_post(MhcPost<Bf16>{.num_tokens = 0,
                                               .hidden_size = 64,
                                               .num_streams = 1,
                                               .streams = row,
                                               .layer_output = row,
                                               .post = statistics,
                                               .residual = statistics,
                                               .next_streams = row}));
  EXPECT_NO_THROW(cuda::sinkhorn(Sinkhorn{0, 4, statistics}));
}

}  // namespace
}  // namespace depthcost::test::arguments_test
