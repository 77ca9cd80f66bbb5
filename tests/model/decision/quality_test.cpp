// Published losses are quoted, marked where they are interpolated, and refused beyond their range.
#include "model/decision/quality.hpp"

#include <gtest/gtest.h>

#include "model/decision/published_quality.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::quality_test {
namespace {

QualityEvidence of_blocks(Count num_layers, Count block_size) {
  return quality_of(
      Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(num_layers, block_size)}});
}

TEST(Quality, QuotesEveryPointOfFigure6ByBothReadings) {
  for (const BlockSizeLoss& point : kFigure6) {
    const QualityEvidence quality = of_blocks(kFigure6Layers, point.block_size);
    EXPECT_EQ(quality.by_size.kind, ReadingKind::published) << point.block_size;
    EXPECT_EQ(quality.by_size.loss, point.loss) << point.block_size;
    EXPECT_EQ(quality.by_count.loss, point.loss) << point.block_size;
    EXPECT_TRUE(quality.agrees()) << point.block_size;
  }
}

TEST(Quality, MarksWhatLiesBetweenThePoints) {
  const LossReading reading = loss_by_size(24);
  EXPECT_EQ(reading.kind, ReadingKind::interpolated);
  // Linear in log2: 1.753 + 0.004 log2(24 / 16).
  EXPECT_NEAR(reading.loss.value(), 1.7553398500028847, 1e-12);
  EXPECT_EQ(loss_by_count(9).kind, ReadingKind::interpolated);
  EXPECT_NEAR(loss_by_count(9).loss.value(), 1.746, 1e-12);
}

TEST(Quality, RefusesToGoBeyondThePoints) {
  EXPECT_EQ(loss_by_size(33).kind, ReadingKind::coarser);
  EXPECT_FALSE(loss_by_size(33).loss.has_value());
  EXPECT_EQ(loss_by_count(33).kind, ReadingKind::finer);
  EXPECT_FALSE(loss_by_count(33).loss.has_value());
}

/// Kimi K3 has eight blocks, as the paper's models, but of 24 layers instead of 4.
TEST(Quality, DisagreesWithItselfAboutADeeperModel) {
  const QualityEvidence quality = of_blocks(186, 24);
  EXPECT_EQ(quality.by_count.loss, 1.746);
  EXPECT_EQ(quality.by_count.kind, ReadingKind::published);
  EXPECT_FALSE(quality.agrees());
  EXPECT_NEAR(quality.at_most().value(), 1.7553398500028847, 1e-12);
}

TEST(Quality, IsNoWorseThanTheOtherReadingWhereOneIsFinerThanPublished) {
  EXPECT_EQ(of_blocks(186, 4).at_most(), 1.746);  // 47 blocks
  EXPECT_EQ(of_blocks(186, 1).at_most(), 1.737);
}

TEST(Quality, IsNotKnownForBlocksThatNobodyHasPublished) {
  EXPECT_FALSE(of_blocks(186, 61).at_most().has_value());
  EXPECT_EQ(of_blocks(186, 61).by_count.loss, 1.748);  // 4 blocks
}

/// A dull walk: finer blocks are nowhere said to be worse.
TEST(Quality, FallsWithFinerBlocks) {
  double last = 2;
  for (Count size = 32; size >= 1; --size) {
    const double loss = loss_by_size(size).loss.value();
    EXPECT_LE(loss, last + 1e-12) << size;
    last = loss;
  }
}

TEST(Quality, IsOneLossForSchemesWithoutBlocks) {
  EXPECT_EQ(quality_of(Scheme{schemes::kStandard}).at_most(), 1.766);
  EXPECT_EQ(quality_of(Scheme{schemes::kMhc, {.num_streams = 4}}).at_most(), 1.747);
  EXPECT_EQ(
      quality_of(Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(54, 6)}}).at_most(),
      1.737);
  EXPECT_TRUE(
      quality_of(Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(54, 6)}}).agrees());
}

/// Table 4 of the paper, and the parameters that it names.
TEST(Quality, QuotesTheAblationsForTheParametersTheyWereMadeWith) {
  struct Row {
    const char* scheme;
    SchemeParameters parameters;
    std::optional<double> loss;
  };
  const std::vector<Row> rows{
      {"denseformer", {.dilation = 1, .period = 1}, 1.767},
      {"denseformer", {.dilation = 4, .period = 1}, {}},
      {"attnres_input_dependent", {}, 1.731},
      {"attnres_input_independent", {}, 1.749},
      {"attnres_sigmoid", {}, 1.741},
      {"attnres_raw_keys", {}, 1.743},
      {"attnres_raw_keys", {.block_size = 4}, 1.750},
      {"attnres_raw_keys", {.block_size = 5}, {}},
      {"attnres_multihead", {.block_size = 4, .heads = 16}, 1.752},
      {"attnres_multihead", {.block_size = 4, .heads = 8}, {}},
      {"attnres_sliding_window", {.window = 8}, 1.764},
      {"attnres_sliding_window", {.window = 9}, {}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(quality_of(Scheme{*find_scheme(row.scheme), row.parameters}).at_most(), row.loss)
        << row.scheme;
}

}  // namespace
}  // namespace depthcost::quality_test
