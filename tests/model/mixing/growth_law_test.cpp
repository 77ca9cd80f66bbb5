// Laws of growth: closed forms, and where each ends.
#include "model/mixing/growth_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace depthcost::growth_law_test {
namespace {

template <class MagnitudeOf>
std::vector<double> magnitudes(int num_layers, const MagnitudeOf& magnitude_of) {
  std::vector<double> values;
  for (int l = 1; l <= num_layers; ++l) values.push_back(magnitude_of(l));
  return values;
}

TEST(FittedGrowth, FindsTheLawAndItsSlope) {
  for (const int L : {16, 50, 186, 1024}) {
    const Growth linear = fitted_growth(magnitudes(L, [](int l) { return 1 + 0.25 * l; }));
    EXPECT_EQ(linear.law, GrowthLaw::linear) << L;
    EXPECT_NEAR(linear.per_layer, 0.25, 1e-9);
    EXPECT_NEAR(linear.error, 0, 1e-9);
    EXPECT_EQ(linear.largest, 1 + 0.25 * L);
    const Growth root = fitted_growth(magnitudes(L, [](int l) { return std::sqrt(1 + 0.5 * l); }));
    EXPECT_EQ(root.law, GrowthLaw::square_root) << L;
    EXPECT_NEAR(root.per_layer, 0.5, 1e-9);
    const Growth exponential =
        fitted_growth(magnitudes(L, [](int l) { return 3 * std::exp(0.1 * l); }));
    EXPECT_EQ(exponential.law, GrowthLaw::exponential) << L;
    EXPECT_NEAR(exponential.per_layer, 0.1, 1e-9);
  }
}

TEST(FittedGrowth, CallsBoundedWhatStaysBelowItsLimit) {
  const Growth level = fitted_growth(magnitudes(64, [](int l) { return 2 - 1.0 / l; }));
  EXPECT_EQ(level.law, GrowthLaw::bounded);
  EXPECT_EQ(level.per_layer, 0);
  const Growth saw = fitted_growth(magnitudes(64, [](int l) { return 1.0 + l % 8; }));
  EXPECT_EQ(saw.law, GrowthLaw::bounded);
  EXPECT_EQ(saw.largest, 8);
}

TEST(Recurrence, IsOneForAPeriodicPattern) {
  const auto saw = magnitudes(64, [](int l) { return 1.0 + l % 8; });
  EXPECT_NEAR(recurrence(saw, 8).value(), 1, 1e-12);
  EXPECT_LT(recurrence(saw, 4).value(), 0.5);
}

TEST(Recurrence, NeedsTwoPeriodsThatVary) {
  const auto saw = magnitudes(23, [](int l) { return 1.0 + l % 8; });
  EXPECT_FALSE(recurrence(saw, 8));
  EXPECT_TRUE(recurrence(saw, 7));
  EXPECT_FALSE(recurrence(magnitudes(64, [](int) { return 1.0; }), 8));
}

}  // namespace
}  // namespace depthcost::growth_law_test
