// Fits, advantages and published losses against golden/scaling.json; and what an advantage pays
// for.
#include "model/decision/scaling.hpp"
#include "model/training/figure7.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/decision/break_even.hpp"
#include "model/decision/published_quality.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::scaling_test {
namespace {

using nlohmann::json;

json golden() {
  std::ifstream file(DEPTHCOST_GOLDEN_DIR "/scaling.json");
  return json::parse(file);
}

constexpr auto kBaseline = FittedScheme::baseline;
constexpr auto kBlock = FittedScheme::block_attnres;
constexpr auto kFull = FittedScheme::full_attnres;

TEST(ScalingLaws, AreThoseOfFigure4) {
  const json fits = golden().at("fits");
  for (const auto& [key, scheme] :
       {std::pair{"baseline", kBaseline}, std::pair{"block", kBlock}, std::pair{"full", kFull}}) {
    EXPECT_EQ(published_fit(scheme).a, fits.at(key).at(0)) << key;
    EXPECT_EQ(published_fit(scheme).exponent, fits.at(key).at(1)) << key;
  }
}

TEST(ScalingLaws, GiveTheGoldenLossesAndAdvantages) {
  const json points = golden().at("points");
  for (const json& point : points) {
    const double C = point.at("C");
    EXPECT_NEAR(loss_at(published_fit(kBaseline), C), point.at("baseline"), 1e-12) << C;
    EXPECT_NEAR(loss_at(published_fit(kBlock), C), point.at("block"), 1e-12) << C;
    EXPECT_NEAR(loss_at(published_fit(kFull), C), point.at("full"), 1e-12) << C;
    EXPECT_NEAR(compute_advantage(kBlock, C).value, point.at("block_advantage"), 1e-12) << C;
    EXPECT_NEAR(compute_advantage(kFull, C).value, point.at("full_advantage"), 1e-12) << C;
  }
}

TEST(ScalingLaws, NeedSevenPetaflopDaysForWhatBlockAttnResReachesWithFive) {
  const double C = equivalent_compute(published_fit(kBaseline), published_fit(kBlock), 5.6);
  EXPECT_NEAR(C, golden().at("equivalent_compute_at_5_6"), 1e-12);
  EXPECT_NEAR(C, 7.021, 5e-4);
  EXPECT_NEAR(compute_advantage(kBlock, 5.6).value, 1.2538, 5e-5);
}

TEST(ScalingLaws, AreInvertedByTheComputeThatTheyNeed) {
  for (double C = 0.01; C < 1000; C *= 3)
    EXPECT_NEAR(compute_for(published_fit(kFull), loss_at(published_fit(kFull), C)), C, 1e-9 * C);
}

TEST(ScalingLaws, KnowTheAdvantageAsWellAsThreeDigitsAllow) {
  const Estimate<double> advantage = compute_advantage(kBlock, 5.6);
  EXPECT_NEAR(advantage.low, golden().at("advantage_interval_at_5_6").at(0), 1e-12);
  EXPECT_NEAR(advantage.high, golden().at("advantage_interval_at_5_6").at(1), 1e-12);
}

/// Every coefficient on a grid within its last digit, not only at the corners.
TEST(ScalingLaws, LieInTheIntervalWhateverTheDigitsThatWereRoundedAway) {
  const Estimate<double> advantage = compute_advantage(kBlock, 5.6);
  const PowerLaw baseline = published_fit(kBaseline);
  const PowerLaw block = published_fit(kBlock);
  const std::array steps{-0.0005, -0.0002, 0.0, 0.0003, 0.0005};
  for (const double a : steps)
    for (const double b : steps)
      for (const double c : steps)
        for (const double e : steps) {
          const double ratio = equivalent_compute({baseline.a + a, baseline.exponent + b},
                                                  {block.a + c, block.exponent + e}, 5.6) /
                               5.6;
          EXPECT_GE(ratio, advantage.low - 1e-12);
          EXPECT_LE(ratio, advantage.high + 1e-12);
        }
}

TEST(ScalingLaws, GiveFullAttnResAConstantAdvantage) {
  for (const double C : {0.5, 1.0, 5.6})
    EXPECT_NEAR(compute_advantage(kFull, C).value, 1.275, 5e-4) << C;
}

/// Two laws reach the same loss at C = (a1 / a2)^(1 / (exponent1 - exponent2)).
TEST(ScalingLaws, CrossWhereNobodyHasMeasured) {
  const PowerLaw block = published_fit(kBlock);
  const PowerLaw full = published_fit(kFull);
  const double C = std::pow(block.a / full.a, 1 / (block.exponent - full.exponent));
  EXPECT_NEAR(C, golden().at("block_full_crossing"), 1e-9);
  EXPECT_FALSE(is_inside_fit(C));
}

TEST(ScalingLaws, SayNothingOutsideTheComputeThatTheyWereFittedOver) {
  EXPECT_TRUE(is_inside_fit(0.5));
  EXPECT_TRUE(is_inside_fit(5.6));
  EXPECT_FALSE(is_inside_fit(0.49));
  EXPECT_FALSE(is_inside_fit(5.7));
}

// --- published losses ---

TEST(PublishedLosses, AreThoseOfFigure6) {
  const json fig6 = golden().at("fig6");
  ASSERT_EQ(fig6.size(), kFigure6.size());
  for (const BlockSizeLoss& point : kFigure6)
    EXPECT_EQ(point.loss, fig6.at(std::to_string(point.block_size))) << point.block_size;
}

TEST(PublishedLosses, AreThoseOfTable2) {
  const json rows = golden().at("table2");
  ASSERT_EQ(rows.size(), kTable2.size());
  for (std::size_t i = 0; i < kTable2.size(); ++i) {
    const ModelSizeLoss& row = kTable2[i];
    const json expected = {{"params", row.active_parameters},
                           {"tokens", row.tokens},
                           {"Lb", row.decoder_layers},
                           {"H", row.heads},
                           {"d", row.hidden_size},
                           {"dff", row.expert_width},
                           {"lr", row.learning_rate},
                           {"batch", row.batch_size},
                           {"baseline", row.baseline},
                           {"block", row.block},
                           {"full", row.full},
                           {"mhc", row.mhc}};
    EXPECT_EQ(rows[i], expected) << i;
  }
}

TEST(PublishedLosses, AreThoseOfTable4) {
  const json table4 = golden().at("table4");
  ASSERT_EQ(table4.size(), kTable4.size());
  for (const AblationLoss& row : kTable4)
    EXPECT_EQ(row.loss, table4.at(std::string(row.name))) << row.name;
}

/// What the text says of Fig. 7: AttnRes wins by 0.019 to 0.063, and where the stars stand.
TEST(PublishedLosses, OfFigure7AgreeWithItsText) {
  double least = 1;
  double most = 0;
  double best_baseline = 9;
  double best_attnres = 9;
  for (std::size_t h = 0; h < 5; ++h)
    for (std::size_t w = 0; w < 5; ++w) {
      const double gain = kFigure7Baseline[h][w] - kFigure7AttnRes[h][w];
      least = std::min(least, gain);
      most = std::max(most, gain);
      best_baseline = std::min(best_baseline, kFigure7Baseline[h][w]);
      best_attnres = std::min(best_attnres, kFigure7AttnRes[h][w]);
    }
  EXPECT_NEAR(least, 0.019, 1e-9);
  EXPECT_NEAR(most, 0.063, 1e-9);
  EXPECT_EQ(best_baseline, kFigure7Baseline[4][3]);
  EXPECT_EQ(kFigure7Widths[3], 60);
  EXPECT_EQ(best_attnres, kFigure7AttnRes[4][2]);
  EXPECT_EQ(kFigure7Widths[2], 45);
  EXPECT_EQ(kFigure7Heads[4], 0.3);
}

// --- break-even ---

Estimate<double> around(double value) { return {value - 0.01, value, value + 0.01}; }

TEST(BreakEven, PaysWhereEvenTheLongestStepCostsLessThanTheSmallestAdvantage) {
  const Scheme block = Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(54, 6)}};
  EXPECT_EQ(break_even(block, around(0.04))->payback, Payback::pays);
  EXPECT_EQ(break_even(block, around(0.25))->payback, Payback::unknown);
  EXPECT_EQ(break_even(block, around(0.40))->payback, Payback::does_not_pay);
  EXPECT_NEAR(break_even(block, around(0.04))->net->value, 1.253754376492729 / 1.04, 1e-12);
}

Scheme in_blocks(Count size) {
  return Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(54, size)}};
}

/// Fig. 4 has about 8 blocks, over a span of compute.
TEST(BreakEven, SaysNothingBeyondWhatWasFitted) {
  for (const Count size : {6, 7}) {  // 9 and 8 blocks
    EXPECT_EQ(break_even(in_blocks(size), around(0.04))->range, FitRange::inside) << size;
    EXPECT_TRUE(break_even(in_blocks(size), around(0.04))->advantage) << size;
  }
  for (const Count size : {5, 10}) {  // 11 and 6 blocks
    const BreakEven even = break_even(in_blocks(size), around(0.04)).value();
    EXPECT_EQ(even.range, FitRange::other_blocks) << size;
    EXPECT_FALSE(even.advantage || even.net) << size;
    EXPECT_EQ(even.payback, Payback::unknown) << size;
  }
  for (const double compute : {0.49, 5.7}) {
    const BreakEven even = break_even(in_blocks(6), around(0.04), compute).value();
    EXPECT_EQ(even.range, FitRange::beyond) << compute;
    EXPECT_FALSE(even.advantage || even.net) << compute;
  }
}

TEST(BreakEven, IsUnknownWithoutAnOverheadAndAbsentWithoutAFit) {
  EXPECT_EQ(
      break_even(Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(54, 6)}}, {})->payback,
      Payback::unknown);
  EXPECT_FALSE(break_even(Scheme{schemes::kMhc, {.num_streams = 4}}, around(0.04)).has_value());
  EXPECT_FALSE(break_even(Scheme{schemes::kStandard}, {}).has_value());
}

}  // namespace
}  // namespace depthcost::scaling_test
