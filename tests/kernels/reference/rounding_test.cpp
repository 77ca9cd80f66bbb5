// Rounding once to the storage type, and what an operation then continues with.
#include "kernels/reference/rounding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "kernels/reference/attnres.hpp"
#include "kernels/reference/mhc.hpp"
#include "kernels/reference/residual.hpp"

namespace depthcost::reference::rounding_test {
namespace {

double bf16(double value) { return to_double(round_to<Bf16>(value)); }

TEST(RoundToBf16, RoundsToNearestEven) {
  EXPECT_EQ(bf16(1.0), 1.0);
  EXPECT_EQ(bf16(1 + 0x1p-8), 1.0);         // a tie, down to even
  EXPECT_EQ(bf16(1 + 0x3p-8), 1 + 0x1p-6);  // a tie, up to even
  EXPECT_EQ(bf16(-1 - 0x3p-8), -1 - 0x1p-6);
  EXPECT_EQ(bf16(1e300), std::numeric_limits<double>::infinity());
  EXPECT_EQ(bf16(0.0), 0.0);
  EXPECT_TRUE(std::isnan(bf16(std::numeric_limits<double>::quiet_NaN())));
}

/// Through a float alone these would fall onto the tie first and then to the wrong side.
TEST(RoundToBf16, RoundsOnce) {
  EXPECT_EQ(bf16(1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(bf16(1 + 0x3p-8 - 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(bf16(-1 - 0x1p-8 - 0x1p-40), -1 - 0x1p-7);
}

TEST(RoundToBf16, IsTheNearestOfAllNeighbours) {
  EXPECT_TRUE(rc::check([] {
    const double value = *rc::gen::arbitrary<double>();
    RC_PRE(std::isfinite(value) && std::abs(value) < 1e38);
    const Bf16 nearest = round_to<Bf16>(value);
    for (const int step : {-1, 1}) {
      Bf16 neighbour = nearest;
      neighbour.bits = static_cast<std::uint16_t>(neighbour.bits + step);
      if (!std::isfinite(to_double(neighbour)) || to_double(nearest) == 0) continue;
      RC_ASSERT(std::abs(to_double(nearest) - value) <= std::abs(to_double(neighbour) - value));
    }
  }));
}

Bf16 as_bf16(double value) { return round_to<Bf16>(value); }

// 1 + 2^-9 is 1 in bf16. What follows the store has to see the 1.

TEST(StoredSums, AreNormalisedAsTheyWereRounded) {
  Bf16 h[2] = {as_bf16(1), as_bf16(1024)};
  const Bf16 f[2] = {as_bf16(0x1p-9), as_bf16(0)};
  // The first output is just below the tie 1 + 2^-8; with an h larger by 2^-9 it would be above.
  const double rms = std::sqrt((1 + 1024.0 * 1024.0) / 2);
  const float gain[2] = {static_cast<float>(rms * (1 + 0x1p-8 - 0x1p-12)), 1};
  Bf16 x[2];
  reference::run(ResidualAddRmsNorm<Bf16>{1, 2, h, f, {gain, 0}, x});
  EXPECT_EQ(to_double(h[0]), 1.0);
  EXPECT_EQ(to_double(x[0]), 1.0);
  EXPECT_EQ(to_double(x[1]), bf16(1024 / rms));
}

TEST(StoredSums, AreAttendedToAsTheyWereRounded) {
  Bf16 bank[1] = {as_bf16(std::numeric_limits<double>::quiet_NaN())};
  const Bf16 b[1] = {as_bf16(1)};
  const Bf16 f[1] = {as_bf16(0x1p-9)};
  const float queries[2] = {0, 0};
  Bf16 x[1];
  float o[1] = {0};
  float m[1] = {0};
  float l[1] = {0};
  reference::run(AttnResPhase1<Bf16, float>{.num_tokens = 1,
                                            .hidden_size = 1,
                                            .num_bank_rows = 1,
                                            .num_queries = 2,
                                            .bank = bank,
                                            .partial_sum = b,
                                            .layer_output = f,
                                            .bank_row = 0,
                                            .queries = queries,
                                            .output = x,
                                            .outputs = o,
                                            .maxima = m,
                                            .sums = l});
  EXPECT_EQ(to_double(bank[0]), 1.0);
  EXPECT_EQ(o[0], 1.0F);
}

TEST(StoredStreams, AreMappedAsTheyWereRounded) {
  const std::vector<Bf16> X{as_bf16(1), as_bf16(-3), as_bf16(0.375), as_bf16(7)};
  const std::vector<Bf16> f{as_bf16(0.3), as_bf16(-0.7)};
  const std::vector<float> post{0.77F, 1.3F}, residual{0.6F, 0.4F, 0.4F, 0.6F};
  std::vector<float> phi(8 * 4), bias(8, 0.1F);
  for (std::size_t i = 0; i < phi.size(); ++i) phi[i] = 0.1F * static_cast<float>(i % 7);
  const MhcMapping mapping{phi.data(), bias.data(), {1, 1, 1}};
  std::vector<Bf16> next(4), x(2), boundary_next(4), boundary_x(2);
  std::vector<float> H_post(2), H_res(4), boundary_post(2), boundary_res(4);
  reference::run(
      MhcPost<Bf16>{1, 2, 2, X.data(), f.data(), post.data(), residual.data(), next.data()});
  reference::run(
      MhcPre<Bf16>{1, 2, 2, next.data(), mapping, {}, x.data(), H_post.data(), H_res.data()});
  reference::run(MhcBoundary<Bf16>{
      {1, 2, 2, X.data(), f.data(), post.data(), residual.data(), boundary_next.data()},
      mapping,
      {},
      boundary_x.data(),
      boundary_post.data(),
      boundary_res.data()});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(boundary_x[i].bits, x[i].bits);
  EXPECT_EQ(boundary_post, H_post);
  EXPECT_EQ(boundary_res, H_res);
}

TEST(SumsThatAreNotStored, AreNotRounded) {
  Bf16 b[1] = {as_bf16(1)};
  const Bf16 f[1] = {as_bf16(0x1p-8)};
  Bf16 bank[1] = {as_bf16(1 + 0x1p-7)};
  const float query[1] = {0};
  Bf16 x[1];
  // The mean of 1 + 2^-7 and 1 + 2^-8 rounds up; had b + f been rounded to 1, it would be a tie.
  AttnResSinglePass<Bf16> op{.num_tokens = 1,
                             .hidden_size = 1,
                             .num_bank_rows = 1,
                             .num_bank_sources = 1,
                             .bank = bank,
                             .partial_sum = b,
                             .layer_output = f,
                             .store = SumStore::nowhere,
                             .query = query,
                             .output = x};
  reference::run(op);
  EXPECT_EQ(to_double(x[0]), 1 + 0x1p-7);
  EXPECT_EQ(to_double(b[0]), 1.0);
  op.store = SumStore::partial_sum;
  reference::run(op);
  EXPECT_EQ(to_double(x[0]), 1.0);
}

}  // namespace
}  // namespace depthcost::reference::rounding_test
