// Heat maps: the content of their scripts, and that gnuplot draws them.
#include <gtest/gtest.h>

#include "reports/formats/gnuplot.hpp"
#include "reports/mixing/mixing_report.hpp"
#include "tests/reports/plot_script.hpp"

namespace depthcost::mixing_plots_test {
namespace {

MixedScheme mixed(std::string_view name, const MixingShape& shape, WeightsOrigin origin = {}) {
  const MixingScheme& scheme = *find_mixing_scheme(name);
  MixingWeights weights = random_weights(scheme.tables(shape), 1);
  MixingMatrix matrix = scheme.matrix(shape, weights);
  const SemiseparableRank rank = semiseparable_rank(matrix);
  return {&scheme, shape, std::move(origin), std::move(weights), std::move(matrix), rank};
}

MixingReport report_of(MixedScheme scheme) {
  MixingReport report{.title = "Test", .num_layers = scheme.shape.num_layers};
  report.schemes.push_back(std::move(scheme));
  return report;
}

TEST(MixingHeatMap, HasOneCellForEachWeight) {
  const MixingReport report = report_of(mixed("highway", {.num_layers = 6}));
  const auto plots = mixing_plots(report);
  ASSERT_EQ(plots.size(), 1U);
  const test::Rows cells = test::rows_of(plots.front().script, "$cells");
  ASSERT_EQ(cells.size(), 21U);
  const MixingMatrix& M = report.schemes.front().matrix;
  for (const auto& cell : cells)
    EXPECT_NEAR(cell[2], M(static_cast<Count>(cell[1]), static_cast<Count>(cell[0])), 1e-11);
}

/// 100 layers in cells of two by two: the mean of what lies below the diagonal.
TEST(MixingHeatMap, AveragesWhereThereAreManyLayers) {
  const MixingReport report = report_of(mixed("full_attnres", {.num_layers = 100}));
  const test::Rows cells = test::rows_of(mixing_plots(report).front().script, "$cells");
  EXPECT_EQ(cells.size(), 50U * 51 / 2);
  const MixingMatrix& M = report.schemes.front().matrix;
  EXPECT_EQ(cells[1], (std::vector<double>{0, 3, cells[1][2]}));
  EXPECT_NEAR(cells[1][2], (M(3, 0) + M(3, 1) + M(4, 0) + M(4, 1)) / 4, 1e-11);
  EXPECT_NEAR(cells[2][2], (M(3, 2) + M(4, 2) + M(4, 3)) / 3, 1e-11);
}

/// Fig. 8: layers 1, 3, 5 are attention, layers 2, 4, 6 MLP; columns are blocks.
TEST(AttentionHeatMaps, ShowAttentionAndMlpApart) {
  const MixingShape shape{.num_layers = 6, .blocks = partition_by_size(6, 3)};
  const MixingReport report = report_of(mixed("block_attnres", shape, {"weights.json", 9}));
  const auto plots = mixing_plots(report);
  ASSERT_EQ(plots.size(), 3U);
  EXPECT_EQ(plots[1].file_name, "mixing-block_attnres-pre_attention.svg");
  EXPECT_EQ(plots[2].file_name, "mixing-block_attnres-pre_mlp.svg");
  const WeightRows& rows = report.schemes.front().weights.rows("attention");
  const test::Rows attention = test::rows_of(plots[1].script, "$cells");
  const test::Rows mlp = test::rows_of(plots[2].script, "$cells");
  ASSERT_EQ(attention.size(), 1U + 2 + 3);  // sources of layers 1, 3, 5
  ASSERT_EQ(mlp.size(), 2U + 2 + 3);        // of layers 2, 4, 6
  EXPECT_NEAR(attention.back()[2], rows[4][2], 1e-11);
  EXPECT_EQ(attention.back()[1], 3);
  EXPECT_NEAR(mlp.front()[2], rows[1][0], 1e-11);
}

TEST(MixingPlots, AreDrawn) {
  MixingReport report = report_of(mixed("rezero", {.num_layers = 70}));
  for (const std::string layers : {"prenorm", "unnormalised"})
    report.magnitudes.push_back(
        {"standard", layers, "layer_input", {1, 2, 4, 8}, {.largest = 8}, 0, {}});
  for (const Plot& plot : mixing_plots(report)) {
    const Drawing drawing = draw_svg(plot.script);
    ASSERT_EQ(drawing.status, DrawingStatus::drawn) << plot.file_name << drawing.error;
    EXPECT_TRUE(test::is_well_formed(drawing.svg)) << plot.file_name;
  }
}

}  // namespace
}  // namespace depthcost::mixing_plots_test
