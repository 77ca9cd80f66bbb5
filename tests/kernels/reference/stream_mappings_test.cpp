// Coefficients of hyper-connections other than mHC's: properties of their matrices, and their
// values without the dynamic part.
#include "kernels/reference/stream_mappings.hpp"

#include <gtest/gtest.h>

#include "kernels/reference/run.hpp"
#include "kernels/reference/without_kernels/kromhc.hpp"
#include "tests/kernels/reference/steps.hpp"

namespace depthcost::test::stream_mappings_test {
namespace {

constexpr double kTolerance = 1e-12;
constexpr std::size_t kT = 3;
constexpr std::size_t kD = 5;

void expect_doubly_stochastic(const Row& matrix, std::size_t m) {
  for (std::size_t i = 0; i < m; ++i) {
    double row = 0;
    double column = 0;
    for (std::size_t j = 0; j < m; ++j) {
      EXPECT_GE(matrix[i * m + j], 0);
      row += matrix[i * m + j];
      column += matrix[j * m + i];
    }
    EXPECT_NEAR(row, 1, kTolerance);
    EXPECT_NEAR(column, 1, kTolerance);
  }
}

TEST(MhcLite, HasDoublyStochasticMatrices) {
  Draw draw;
  for (std::size_t m = 1; m <= 5; ++m) {
    const std::size_t rows = 2 * m + reference::factorial(m);
    const Row phi = draw(rows * m * kD), bias = draw(rows);
    const Rows X = cut(draw(m * kD), kD);
    const auto H = reference::mhc_coefficients(
        reference::MhcLiteMapping<double>{phi.data(), bias.data(), {3, 3, 3}}, X);
    expect_doubly_stochastic(H.residual, m);
  }
}

/// Lexicographic order: the first permutation moves nothing, the last one turns the streams round.
TEST(MhcLite, MixesPermutationsInTheirOrder) {
  EXPECT_EQ(reference::mixed_permutations({1, 0, 0, 0, 0, 0}, 3), (Row{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(reference::mixed_permutations({0, 0, 0, 1, 0, 0}, 3), (Row{0, 1, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(reference::mixed_permutations({0, 0, 0, 0, 0, 1}, 3), (Row{0, 0, 1, 0, 1, 0, 1, 0, 0}));
}

TEST(KromHc, HasDoublyStochasticMatrices) {
  Draw draw;
  for (const std::size_t m : {1U, 2U, 4U, 8U}) {
    const std::size_t rows = 2 * m + 6;  // of which those are used that there are factors for
    const Row phi = draw(rows * m * kD), bias = draw(rows);
    const auto H = reference::mhc_coefficients(
        reference::KromHcMapping<double>{phi.data(), bias.data(), {3, 3, 3}},
        cut(draw(m * kD), kD));
    expect_doubly_stochastic(H.residual, m);
  }
}

/// p I + (1 - p) swap is what mHC-lite mixes of two streams.
TEST(KromHc, OfTwoStreamsIsMhcLite) {
  Draw draw;
  const Row phi = draw(6 * 2 * kD), bias = draw(6);
  const Rows X = cut(draw(2 * kD), kD);
  const auto krom = reference::mhc_coefficients(
      reference::KromHcMapping<double>{phi.data(), bias.data(), {1, 2, 3}}, X);
  const auto lite = reference::mhc_coefficients(
      reference::MhcLiteMapping<double>{phi.data(), bias.data(), {1, 2, 3}}, X);
  EXPECT_LE(relative_error(krom.pre, lite.pre), kTolerance);
  EXPECT_LE(relative_error(krom.post, lite.post), kTolerance);
  EXPECT_LE(relative_error(krom.residual, lite.residual), kTolerance);
}

TEST(HcDynamic, WithoutADynamicPartIsHcStatic) {
  Draw draw;
  constexpr std::size_t m = 3;
  const Row W((m + 2) * kD, 0), A_m = draw(m), beta = draw(m), A_r = draw(m * m);
  const Row X = draw(kT * m * kD), f = draw(kT * kD), gain = draw(kD);
  const reference::HcMapping<double> mapping{W.data(), A_m.data(), beta.data(), A_r.data(), 1, 1};
  Row next(X.size(), kNaN), x(kT * kD, kNaN), post(kT * m), residual(kT * m * m);
  for (std::size_t t = 0; t < kT; ++t) {
    const auto H = reference::mhc_coefficients(mapping, cut(cut(X, m * kD)[t], kD));
    std::copy(H.post.begin(), H.post.end(), post.begin() + static_cast<std::ptrdiff_t>(t * m));
    std::copy(H.residual.begin(), H.residual.end(),
              residual.begin() + static_cast<std::ptrdiff_t>(t * m * m));
  }
  reference::run(
      MhcPost<double>{kT, kD, m, X.data(), f.data(), post.data(), residual.data(), next.data()});
  reference::mhc_pre(reference::MappedPre<double, reference::HcMapping<double>>{
      kT, kD, m, next.data(), mapping, {gain.data()}, x.data(), post.data(), residual.data()});
  Row static_next(X.size(), kNaN), static_x(kT * kD, kNaN);
  reference::run(HcBoundary<double>{kT,
                                    kD,
                                    m,
                                    X.data(),
                                    f.data(),
                                    A_r.data(),
                                    beta.data(),
                                    A_m.data(),
                                    {gain.data()},
                                    static_next.data(),
                                    static_x.data()});
  EXPECT_LE(relative_error(next, static_next), kTolerance);
  EXPECT_LE(relative_error(x, static_x), kTolerance);
}

}  // namespace
}  // namespace depthcost::test::stream_mappings_test
