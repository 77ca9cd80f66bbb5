// Which plots there are, the numbers in their scripts, and that their SVG can be parsed. How they
// look was checked by eye.
#include "reports/documents/answer_documents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "model/schemes/list.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/gnuplot_script.hpp"
#include "reports/topics/ledger/ledger_section.hpp"
#include "reports/topics/memory/prefill_section.hpp"
#include "reports/topics/pipeline/pipeline_section.hpp"
#include "reports/topics/time/step_section.hpp"
#include "tests/reports/plot_script.hpp"
#include "tests/studies.hpp"

namespace depthcost::plots_test {
namespace {

using namespace test;

Study small_study() {
  Study study;
  study.model = {.name = "Small", .num_layers = 24, .hidden_size = 1024};
  const Partition blocks = partition_by_size(24, 4);
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, 24};
  study.schedule = Schedule::single_pass;
  study.compare = {{Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, 24}};
  return study;
}

// 744, 1545 d-vectors of 7168 bf16: golden/io_per_layer.json gives the latter, convention `kernel`.
TEST(BytesPlot, HasTheLedgersBars) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = bytes_plot(evaluation)->script;
  const Rows bars = rows_of(script, "$bars");
  ASSERT_EQ(bars.size(), 12u);
  EXPECT_EQ(bars[0][1], 10.665984);
  EXPECT_EQ(bars[3][1], 22.14912);
  EXPECT_TRUE(contains(script, "'Standard, fused' 1,"));
  EXPECT_TRUE(contains(script, "'Block AttnRes, single pass' 4,"));
  EXPECT_TRUE(contains(script, "set label '22.15 MB' at 22.14912, 4 "));
  EXPECT_TRUE(std::is_sorted(bars.begin(), bars.end(),
                             [](const auto& a, const auto& b) { return a[1] < b[1]; }));
}

// Standard 3 d a layer, 558 d; Block N^2 + 5 L = 994 d, [attnres] Table 1 with N = 8 and L = 186.
TEST(BytesPlot, HasTable1BesideTheBarsThatItIsAbout) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = bytes_plot(evaluation)->script;
  const Rows inside = rows_of(script, "$inside");
  const Rows outside = rows_of(script, "$outside");
  ASSERT_EQ(inside.size(), 2u);
  ASSERT_EQ(outside.size(), 2u);
  EXPECT_TRUE(contains(script, "'Standard, unfused' 2,"));
  EXPECT_EQ(inside[0], (std::vector<double>{2, 7.999488}));
  EXPECT_TRUE(contains(script, "'Block AttnRes, two phase' 3,"));
  EXPECT_EQ(outside[0], (std::vector<double>{3, 14.249984}));
}

TEST(BytesPlot, CutsBarsThatWouldDwarfTheStudysOwn) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = bytes_plot(evaluation)->script;
  EXPECT_TRUE(contains(script, "'254.7 MB \u2192' at 110."));
  EXPECT_TRUE(contains(script, "set xrange [0:110."));
  Study full = test::kimi_k3_study();
  std::swap(full.path, full.compare[2]);
  EXPECT_FALSE(contains(bytes_plot(evaluate(full))->script, "\u2192"));
}

TEST(BytesPlot, ShowsTheQuotedScheduleInFullColor) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const Rows bars = rows_of(bytes_plot(evaluation)->script, "$bars");
  EXPECT_EQ(bars[3][2], static_cast<double>(plotting::Color::blue));
  EXPECT_EQ(bars[2][2], static_cast<double>(plotting::pale(plotting::Color::blue)));
}

TEST(SourcesPlot, RisesByOneAtTheSecondLayerOfABlock) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = sources_plot(evaluation)->script;
  const Rows stair = rows_of(script, "$sources");
  ASSERT_EQ(stair.size(), 10u);
  EXPECT_EQ(stair[0], (std::vector<double>{1, 1}));
  EXPECT_EQ(stair[1], (std::vector<double>{2, 2}));
  EXPECT_EQ(stair[2], (std::vector<double>{26, 3}));
  EXPECT_EQ(stair[8], (std::vector<double>{170, 9}));
  EXPECT_EQ(stair[9], (std::vector<double>{187, 9}));
  EXPECT_EQ(rows_of(script, "$output"), (Rows{{187, 9}}));
}

TEST(SourcesPlot, ShowsFullBesideBlockOnlyWhereBothCanBeRead) {
  const Evaluation small = evaluate(small_study());
  const Rows full = rows_of(sources_plot(small)->script, "$full");
  ASSERT_EQ(full.size(), 25u);
  EXPECT_EQ(full[23], (std::vector<double>{24, 24}));
  const Evaluation large = evaluate(test::kimi_k3_study());
  EXPECT_TRUE(rows_of(sources_plot(large)->script, "$full").empty());
}

TEST(AddedTimePlot, HasTheStepsOfTheEvaluation) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = added_time_plot(evaluation)->script;
  const auto block =
      std::find_if(evaluation.step.begin(), evaluation.step.end(), [&](const StepRow& row) {
        return row.path == &evaluation.paths[0] && row.schedule == Schedule::single_pass &&
               row.workload == WorkloadId::decode(64);
      });
  ASSERT_NE(block, evaluation.step.end());
  // Lines are in the order in which they end: Full, mHC, Block.
  const std::vector<double> point = row_at(rows_of(script, "$asked2"), 64);
  ASSERT_EQ(point.size(), 4u);
  EXPECT_NEAR(point[1], block->delta.value.value * 1e6, 1e-9 * point[1]);
  EXPECT_NEAR(point[2], block->delta.low.value * 1e6, 1e-9 * point[2]);
  EXPECT_NEAR(point[3], block->delta.high.value * 1e6, 1e-9 * point[3]);
}

TEST(AddedTimePlot, HasAllPowersOfTwoBetweenTheBatches) {
  Study study = test::kimi_k3_study();
  study.decode->sequences = {48, 3};
  study.decode->baseline_steps = {Seconds{1e-2}, Seconds{2e-2}};
  const Evaluation evaluation = evaluate(study);
  const std::string script = added_time_plot(evaluation)->script;
  std::vector<double> batches;
  for (const std::vector<double>& row : rows_of(script, "$line0")) batches.push_back(row[0]);
  EXPECT_EQ(batches, (std::vector<double>{3, 4, 8, 16, 32, 48}));
  EXPECT_EQ(rows_of(script, "$asked0").size(), 2u);
}

TEST(AddedTimePlot, IsLogarithmicOnlyBeyondAHundredfold) {
  Study study = test::kimi_k3_study();
  EXPECT_TRUE(contains(added_time_plot(evaluate(study))->script, "set logscale y"));
  study.decode->sequences = {64, 128};
  study.compare = {{Scheme{schemes::kMhc, {.num_streams = 4}}, 186}};
  const std::string script = added_time_plot(evaluate(study))->script;
  EXPECT_FALSE(contains(script, "set logscale y"));
  EXPECT_TRUE(contains(script, "set yrange [0:"));
}

TEST(AddedTimePlot, HasBarsWhereThereIsOneBatch) {
  Study study = test::kimi_k3_study();
  study.decode->sequences = {64};
  const std::string script = added_time_plot(evaluate(study))->script;
  EXPECT_EQ(rows_of(script, "$bar2").size(), 1u);
  EXPECT_TRUE(rows_of(script, "$line0").empty());
  EXPECT_TRUE(contains(script, "batch of 64 sequences"));
}

// Before the last chunk 164 layers are done: b_0, 6 blocks, and a partial sum of 20 layers.
TEST(PayloadPlot, HasEveryTransition) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = payload_plot(evaluation)->script;
  const Rows payload = rows_of(script, "$payload");
  ASSERT_EQ(payload.size(), 7u);
  EXPECT_EQ(payload[0], (std::vector<double>{0, 2, 2}));
  EXPECT_EQ(payload[6], (std::vector<double>{6, 8, 4}));
  EXPECT_TRUE(contains(script, "'naive, 35 d in all'"));
  EXPECT_TRUE(contains(script, "     1 with lines"));
  EXPECT_TRUE(contains(script, "     4 with lines"));
}

// The bars are measured against it.
TEST(PayloadPlot, HasTheStandardResidualThatIsNotCompared) {
  Study study = test::kimi_k3_study();
  study.compare.clear();
  const std::string script = payload_plot(evaluate(study))->script;
  EXPECT_TRUE(contains(script, "     1 with lines"));
  EXPECT_TRUE(contains(script, "'Standard, 1 d each'"));
  EXPECT_FALSE(contains(script, "     4 with lines"));
}

// 9 rows of 7168 bf16 for each of 131,072 tokens: 16.91 GB; an eighth; of 16,384 tokens.
TEST(BankPlot, HasTheScenariosLength) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  const std::string script = bank_plot(evaluation)->script;
  EXPECT_EQ(row_at(rows_of(script, "$whole"), 131072)[1], 16.911433728);
  EXPECT_EQ(row_at(rows_of(script, "$sharded"), 131072)[1], 2.113929216);
  EXPECT_EQ(row_at(rows_of(script, "$chunked"), 131072)[1], 0.264241152);
  EXPECT_EQ(rows_of(script, "$scenario"), (Rows{{131072, 0.264241152}}));
  EXPECT_EQ(rows_of(script, "$whole").front()[0], 4096);
  EXPECT_EQ(rows_of(script, "$whole").back()[0], 1048576);
  EXPECT_TRUE(contains(script, "memory of Round 5"));
}

TEST(BankPlot, LeavesOutWhatIsNotThere) {
  Study study = test::kimi_k3_study();
  study.prefill->chunk.reset();
  study.prefill->sequence_shards = 1;
  study.prefill->tokens = 5000;
  study.machine->memory_capacity = Bytes{1e15};
  const std::string script = bank_plot(evaluate(study))->script;
  EXPECT_EQ(row_at(rows_of(script, "$whole"), 5000).size(), 2u);
  EXPECT_TRUE(rows_of(script, "$sharded").empty());
  EXPECT_TRUE(rows_of(script, "$chunked").empty());
  EXPECT_FALSE(contains(script, "memory of Round 5"));
}

TEST(Plots, AreThoseThatTheStudyHasDataFor) {
  const auto names = [](const Study& study) {
    std::vector<std::string> result;
    for (const Plot& plot : plots(evaluate(study))) result.push_back(plot.file_name);
    return result;
  };
  using Names = std::vector<std::string>;
  Study study = test::kimi_k3_study();
  EXPECT_EQ(names(study), (Names{"bytes.svg", "sources.svg", "overhead.svg", "added_time.svg",
                                 "payload.svg", "bank.svg"}));
  study.machine.reset();
  study.pipeline = even_layout(1, 4, 93, 2);
  EXPECT_EQ(names(study), (Names{"bytes.svg", "sources.svg", "bank.svg"}));
  study = test::kimi_k3_study();
  study.path = {Scheme{schemes::kStandard}, 186};
  study.schedule = Schedule::fused;
  study.compare.clear();
  EXPECT_EQ(names(study), (Names{"bytes.svg"}));
  EXPECT_EQ(names(small_study()), (Names{"bytes.svg", "sources.svg"}));
}

TEST(Plots, AreDrawnWellFormedAndAlwaysAlike) {
  const std::map<std::string, std::string> titles{
      {"bytes.svg", "What the residual path of Kimi K3 moves per token"},
      {"sources.svg", "How many sources each layer of Kimi K3 attends to"},
      {"overhead.svg", "Overhead of the residual schemes in a decode step of Kimi K3"},
      {"added_time.svg", "What the residual schemes add to a decode step of Kimi K3"},
      {"payload.svg", "What crosses the pipeline boundaries of Kimi K3"},
      {"bank.svg", "The bank of Kimi K3 in one device\u2019s memory"}};
  for (const Plot& plot : plots(evaluate(test::kimi_k3_study()))) {
    SCOPED_TRACE(plot.file_name);
    const Drawing drawing = draw_svg(plot.script);
    ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
    EXPECT_TRUE(is_well_formed(drawing.svg));
    EXPECT_TRUE(contains(drawing.svg, "<text>" + titles.at(plot.file_name) + "</text>"));
    EXPECT_FALSE(contains(drawing.svg, "nan"));
    EXPECT_EQ(drawing.svg, draw_svg(plot.script).svg);
    EXPECT_FALSE(plot.caption.empty());
  }
}

TEST(Plots, OfOneBatchAndManyTransitionsAreDrawnToo) {
  Study study = test::kimi_k3_study();
  study.decode->sequences = {64};
  study.pipeline = even_layout(8, 4, 93, 2);
  for (const Plot& plot : plots(evaluate(study))) {
    const Drawing drawing = draw_svg(plot.script);
    EXPECT_EQ(drawing.status, DrawingStatus::drawn) << plot.file_name << drawing.error;
    EXPECT_TRUE(is_well_formed(drawing.svg)) << plot.file_name;
  }
}

struct HostileName {
  std::string name;
  std::string drawn;  // as it stands in the SVG
};

std::ostream& operator<<(std::ostream& out, const HostileName& row) { return out << row.drawn; }

class Hostile : public testing::TestWithParam<HostileName> {};

TEST_P(Hostile, NamesAreDrawnAndNothingElse) {
  const std::filesystem::path victim = "pwned";
  std::filesystem::remove(victim);
  Study study = test::kimi_k3_study();
  study.model.name = GetParam().name;
  study.machine->name = GetParam().name;
  const Evaluation evaluation = evaluate(study);
  ASSERT_EQ(plots(evaluation).size(), 6u);
  for (const Plot& plot : plots(evaluation)) {
    SCOPED_TRACE(plot.file_name);
    const Drawing drawing = draw_svg(plot.script);
    ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
    EXPECT_TRUE(is_well_formed(drawing.svg));
    EXPECT_TRUE(contains(drawing.svg, GetParam().drawn));
    EXPECT_FALSE(contains(plot.caption, "\n"));
  }
  EXPECT_FALSE(std::filesystem::exists(victim));
}

INSTANTIATE_TEST_SUITE_P(
    Names, Hostile,
    testing::Values(HostileName{"a'b\"c`_{x}^\\", "a'b\"c`_{x}^\\"},
                    HostileName{"`touch pwned`", "`touch pwned`"},
                    HostileName{"'.`touch pwned`", "'.`touch pwned`"},
                    HostileName{"\"`touch pwned`", "\"`touch pwned`"},
                    HostileName{"\\'; !touch pwned", "\\'; !touch pwned"},
                    HostileName{"x\n!touch pwned\n", "x !touch pwned"},
                    HostileName{"x'\nset output 'pwned", "x' set output 'pwned"},
                    HostileName{"@macro %d %s $0 # EOD", "@macro %d %s $0 # EOD"},
                    HostileName{"</text><script>&#x1;]]>", "&lt;/text>&lt;script>&amp;#x1;]]&gt;"},
                    HostileName{"\x01\xff\xc0\xaf\xed\xa0\x80 ok", "??????? ok"},
                    HostileName{"K\u00f6ln \u6df1\u5ea6", "K\u00f6ln \u6df1\u5ea6"}),
    [](const auto& row) { return "Name" + std::to_string(row.index); });

}  // namespace
}  // namespace depthcost::plots_test
