// Checks before a launch: bad arguments and zero tokens do not touch a device.
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/cuda/run.hpp"

namespace depthcost::test::arguments_test {
namespace {

alignas(16) Bf16 row[64];
alignas(16) Bf16 other_row[64];
alignas(16) float gain[64];
alignas(16) float statistics[64];
alignas(16) float sums[64];

TEST(CudaArguments, AreCheckedBeforeAnythingIsLaunched) {
  EXPECT_THROW(cuda::run(ResidualAdd<float>{1, 8, nullptr, nullptr}), std::invalid_argument);
  EXPECT_THROW(cuda::run(ResidualAdd<Bf16>{1, 0, row, other_row}), std::invalid_argument);
  EXPECT_THROW(cuda::run(ResidualAddRmsNorm<Bf16>{1, 64, row, row, {gain}, row}),
               std::invalid_argument);
  EXPECT_THROW(cuda::run(ResidualAdd<Bf16>{1, 8, row, other_row + 1}), std::invalid_argument);
}

/// An operation of nothing: its sizes are zero.
template <class Op>
void expect_refused(const char* name) {
  EXPECT_THROW(cuda::run(Op{}), std::invalid_argument) << name;
}

TEST(CudaArguments, OfEveryOperationAreChecked) {
#define DEPTHCOST_REFUSE(Op, name) expect_refused<Op<Bf16>>(#name);
  DEPTHCOST_OPERATIONS(DEPTHCOST_REFUSE)
  DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_REFUSE)
#undef DEPTHCOST_REFUSE
#define DEPTHCOST_REFUSE(Op, name) expect_refused<Op<Bf16, float>>(#name);
  DEPTHCOST_PHASE_OPERATIONS(DEPTHCOST_REFUSE)
#undef DEPTHCOST_REFUSE
  EXPECT_THROW(cuda::run(Sinkhorn{1, 4}), std::invalid_argument);
}

TEST(CudaArguments, OfAnAblationAreTakenWhereItIsOne) {
  AttnResSinglePass<Bf16> op{
      .num_tokens = 0, .hidden_size = 64, .partial_sum = row, .query = gain, .output = other_row};
  op.variant = {.weighting = DepthWeighting::sigmoid, .num_heads = 4};
  EXPECT_NO_THROW(cuda::run(op));
  op.variant.num_heads = 3;
  EXPECT_THROW(cuda::run(op), std::invalid_argument);
  op.variant = {.first_recent_row = 2};
  EXPECT_THROW(cuda::run(op), std::invalid_argument);
}

/// More are not held by the registers of any variant.
TEST(CudaArguments, OfManyStaticStreamsAreRefused) {
  EXPECT_THROW(cuda::run(HcBoundary<Bf16>{0, 64, 33}), std::invalid_argument);
}

TEST(CudaArguments, OfNoTokensLaunchNothing) {
  const NextNorm norm{.gain = gain};
  EXPECT_NO_THROW(cuda::run(ResidualAdd<Bf16>{0, 64, row, other_row}));
  EXPECT_NO_THROW(cuda::run(ResidualAddRmsNorm<Bf16>{0, 64, row, other_row, norm, row}));
  EXPECT_NO_THROW(cuda::run(AttnResSinglePass<Bf16>{
      .num_tokens = 0, .hidden_size = 64, .partial_sum = row, .query = gain, .output = row}));
  EXPECT_NO_THROW(cuda::run(AttnResPhase2<Bf16, Bf16>{.num_tokens = 0,
                                                      .hidden_size = 64,
                                                      .partial_sum = row,
                                                      .phase1_output = row,
                                                      .maximum = statistics,
                                                      .sum = statistics,
                                                      .query = gain,
                                                      .output = row}));
  EXPECT_NO_THROW(cuda::run(MhcPost<Bf16>{.num_tokens = 0,
                                          .hidden_size = 64,
                                          .num_streams = 1,
                                          .streams = row,
                                          .layer_output = row,
                                          .post = statistics,
                                          .residual = statistics,
                                          .next_streams = row}));
  EXPECT_NO_THROW(cuda::run(Sinkhorn{0, 4, statistics}));
  EXPECT_NO_THROW(cuda::run(ResidualAddRmsNormBackward<Bf16>{.num_tokens = 0,
                                                             .hidden_size = 64,
                                                             .hidden_state = row,
                                                             .output_gradient = row,
                                                             .norm = norm,
                                                             .gradient = other_row,
                                                             .gain_gradient = statistics,
                                                             .slices = {1, sums}}));
}

}  // namespace
}  // namespace depthcost::test::arguments_test
