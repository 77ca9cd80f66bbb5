// Random weights keep their rules and are the same everywhere; rules say what is wrong.
#include "model/mixing/mixing_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "model/base/seeded_random.hpp"
#include "model/mixing/mixing.hpp"

namespace depthcost::mixing_weights_test {
namespace {

/// The standard gives the 10000th number of the default seed.
TEST(SeededRandom, IsTheSameOnEveryMachine) {
  SeededRandom random(5489);
  for (int i = 1; i < 10000; ++i) random.uniform();
  EXPECT_EQ(random.uniform(), static_cast<double>(9981545732273789042ULL >> 11) / 9007199254740992);
}

TEST(SeededRandom, HasMeanZeroAndVarianceOne) {
  SeededRandom random(1);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
}

TEST(RandomWeights, KeepTheRulesOfEveryScheme) {
  for (const Count L : {1, 2, 17}) {
    const MixingShape shape{
        .num_layers = L, .num_streams = 4, .blocks = partition_by_size(L, 1), .window = 1};
    for (const MixingScheme& scheme : mixing_schemes()) {
      const auto tables = scheme.tables(shape);
      const MixingWeights weights = random_weights(tables, 3);
      for (const WeightTable& table : tables) {
        const WeightRows& rows = weights.rows(table.name);
        ASSERT_EQ(rows.size(), table.row_sizes.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
          EXPECT_EQ(std::ssize(rows[r]), table.row_sizes[r]);
          EXPECT_EQ(row_problem(table, rows[r]), "") << scheme.name << " " << table.name;
        }
      }
    }
  }
}

// ReZero's alpha has either sign, LayerScale's lambda is positive.
TEST(RandomWeights, AreOfEachSchemesRange) {
  const MixingShape shape{.num_layers = 400};
  const auto range = [&](std::string_view scheme, std::string_view list) {
    const MixingWeights weights = random_weights(find_mixing_scheme(scheme)->tables(shape), 1);
    const WeightRow& row = weights.list(list);
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    return std::pair{*low, *high};
  };
  const auto [low, high] = range("rezero", "alpha");
  EXPECT_NEAR(low, -1, 0.05);
  EXPECT_NEAR(high, 1, 0.05);
  const auto [least, most] = range("layerscale", "lambda");
  EXPECT_NEAR(least, 0, 0.05);
  EXPECT_NEAR(most, 1, 0.05);
}

TEST(RandomWeights, FollowTheSeed) {
  const MixingShape shape{.num_layers = 9};
  const auto tables = find_mixing_scheme("highway")->tables(shape);
  EXPECT_EQ(random_weights(tables, 1).list("gates"), random_weights(tables, 1).list("gates"));
  EXPECT_NE(random_weights(tables, 1).list("gates"), random_weights(tables, 2).list("gates"));
}

TEST(RowProblem, SaysWhichRuleIsBroken) {
  const WeightTable share{.name = "gates", .meaning = "", .rule = WeightRule::share};
  const WeightTable distribution{
      .name = "attention", .meaning = "", .rule = WeightRule::distribution};
  const WeightTable stochastic{.name = "A", .meaning = "", .rule = WeightRule::doubly_stochastic};
  const WeightTable any{.name = "alpha", .meaning = ""};
  EXPECT_EQ(row_problem(any, {-3, 4}), "");
  EXPECT_EQ(row_problem(share, {0.5, 0.75}), "");
  EXPECT_EQ(row_problem(share, {0.5, -0.25}), "holds -0.25, which is not in [0, 1]");
  EXPECT_EQ(row_problem(share, {1.5}), "holds 1.5, which is not in [0, 1]");
  EXPECT_EQ(row_problem(distribution, {0.5, 0.502}), "");
  EXPECT_EQ(row_problem(distribution, {0.5, 0.25}), "sums to 0.75, not to one");
  EXPECT_EQ(row_problem(stochastic, {0.5, 0.5, 0.25, 0.75}), "");
  EXPECT_EQ(row_problem(stochastic, {0.5, 0.25, 0.5, 0.75}), "");
  EXPECT_EQ(row_problem(stochastic, {0.5, 0.25, 0.25, 0.5}),
            "has neither rows nor columns that all sum to one");
}

}  // namespace
}  // namespace depthcost::mixing_weights_test
