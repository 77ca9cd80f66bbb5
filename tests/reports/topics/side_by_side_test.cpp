// Schemes side by side: every number from plain counts, and no quality that nobody has published.
#include "reports/topics/side_by_side/side_by_side_section.hpp"

#include <gtest/gtest.h>

#include "model/schemes/list.hpp"
#include "reports/documents/answer_documents.hpp"
#include "tests/studies.hpp"

namespace depthcost::side_by_side_test {
namespace {

using Cells = std::vector<std::string>;

/// 96 layers of d = 2,560 on one stage.
Study qwen() {
  Study study = test::kimi_k3_study();
  study.model.num_layers = 96;
  study.model.hidden_size = 2560;
  study.pipeline.reset();
  const ResidualPath gated{Scheme{schemes::kGatedResidual, {.hidden_size = 2560}}, 96};
  study.path = gated;
  study.schedule = Schedule::fused;
  study.compare = {{Scheme{schemes::kStandard}, 96}, {Scheme{schemes::kMhc}, 96}};
  return study;
}

TEST(SideBySide, HasTheCountsOfEachScheme) {
  const Evaluation evaluation = evaluate(qwen());
  const Table table = side_by_side_table(evaluation);
  ASSERT_EQ(table.rows.size(), 3U);
  // 640,624,640 elements in bf16; 97 sites of 13.2 MF and five kernels, 30 d each, 97 / 96 a layer.
  EXPECT_EQ(table.rows[0],
            (Cells{"gated_residual", "640.6 M, 1.281 GB", "1.29 GFLOP", "30.31", "485", "4 d"}));
  EXPECT_EQ(table.rows[1], (Cells{"standard", "-", "246 kFLOP", "4", "96", "1 d"}));
  // 96 x (24 x 4 x 2,560 + 27) elements in f32.
  EXPECT_EQ(table.rows[2], (Cells{"mhc", "23.6 M, 94.38 MB", "59.0 MFLOP", "18", "192", "4 d"}));
}

TEST(SideBySide, AddsWhatABoundaryHandsOver) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const Table table = side_by_side_table(evaluation);
  EXPECT_EQ(table.rows[0].back(),
            "9 d, " + std::to_string(evaluation.pipeline->by_scheme[0].cached.peak) + " d");
}

TEST(PublishedQuality, IsOnlyWhatOthersHaveMeasured) {
  const Evaluation evaluation = evaluate(qwen());
  const Table table = published_quality_table(evaluation);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0], (Cells{"gated_residual", "-", "-", "-"}));
  EXPECT_EQ(table.rows[1], (Cells{"standard", "1.766", "-", "-"}));
  EXPECT_EQ(table.rows[2], (Cells{"mhc", "1.747", "0.95", "0.96"}));
}

/// 8 blocks of 24 layers: [attnres] Fig. 6 has 1.746 at 8 blocks; size 24 lies between 16 and 32.
TEST(PublishedQuality, HasBothReadingsOfABlockSize) {
  const Table table = published_quality_table(evaluate(test::kimi_k3_study()));
  EXPECT_EQ(table.rows[0][1], "1.755 by size, 1.746 by number");
}

TEST(PublishedQuality, HasNoTableWhereNothingIsKnown) {
  Study study = qwen();
  study.compare.pop_back();
  const Evaluation evaluation = evaluate(study);
  EXPECT_TRUE(published_quality_table(evaluation).rows.empty());
}

TEST(SideBySide, StandsOnlyWhereSchemesAreCompared) {
  Study study = qwen();
  EXPECT_NE(markdown_report(evaluate(study), {}).find("## Side by side"), std::string::npos);
  study.compare.clear();
  EXPECT_EQ(markdown_report(evaluate(study), {}).find("## Side by side"), std::string::npos);
}

}  // namespace
}  // namespace depthcost::side_by_side_test
