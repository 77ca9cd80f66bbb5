// Reports of a sweep: every format has the same points, and sentences say what the model found.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/decision/published_quality.hpp"
#include "model/schemes/list.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/markdown_text.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "tests/parsed_json.hpp"
#include "tests/scheme_axis.hpp"
#include "tests/studies.hpp"

namespace depthcost::sweep_test {
namespace {

using nlohmann::json;

SweptAxis block_sizes(Count first, Count last) {
  SweptAxis axis{.key = SweptKey::block_size, .values = {}};
  for (Count size = first; size <= last; ++size) axis.values.push_back(size);
  return axis;
}

/// Whatever decoding costs: other budgets decide.
constexpr Budget kAnyDecode{BudgetKind::decode_overhead, 100};

Study kimi() {
  Study study = test::kimi_k3_study();
  study.budgets = {{BudgetKind::prefill_bank, 0.3e9}, kAnyDecode};
  return study;
}

SweepReport report_of(const Study& study, std::vector<SweptAxis> axes) {
  SweepReport report{.title = study.name, .scene_axes = {}, .scenes = {}, .own = study};
  report.scenes.emplace_back();
  report.scenes.back().sweep.emplace(study, std::move(axes), 1);
  return report;
}

SweepReport kimi_report() { return report_of(kimi(), {block_sizes(1, 190)}); }

/// The sentence that begins so; empty if there is none.
std::string sentence(const SweepReport& report, const std::string& beginning) {
  const SweepGroup group = groups_of(report).front();
  for (const auto& sentences : {sweep_answer(group), sweep_reasons(report, group)})
    for (const std::string& each : sentences)
      if (each.starts_with(beginning)) return each;
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(SweepSentences, RecommendWithReasonRunnerUpAndWhatBinds) {
  const SweepReport report = kimi_report();
  EXPECT_TRUE(contains(sentence(report, "Recommended"),
                       "Recommended: block_size 24 (8 blocks, the last of 18): +"));
  EXPECT_TRUE(contains(sentence(report, "Recommended"),
                       "published loss ~1.755 by block size, 1.746 by number of blocks."));
  EXPECT_TRUE(contains(sentence(report, "Runner-up"), "Runner-up: block_size 23 (9 blocks"));
  EXPECT_TRUE(contains(sentence(report, "Runner-up"), "The ranking holds for all assumed values."));
  EXPECT_TRUE(
      contains(sentence(report, "Without the limit on"),
               "Without the limit on prefill_bank (300.0 MB) block_size 1 (186 blocks) would "
               "be taken, with 5.490 GB ("));
}

TEST(SweepSentences, SayThatNAndSDisagree) {
  EXPECT_TRUE(contains(sentence(kimi_report(), "The published losses"),
                       " by the size of blocks or by their number: ~1.755 or 1.746. The higher one "
                       "counts."));
}

TEST(SweepSentences, SayWhereTheScenarioItselfStands) {
  EXPECT_TRUE(contains(
      sentence(kimi_report(), "No choice beats"),
      "No choice beats block_size 24, as written, in loss, time and memory at once; if the loss follows the "
      "number of blocks alone, block_size 26 (8 blocks, the last of 4) does: "));
  Study study = kimi();
  study.path.scheme = Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(186, 2)}};
  const SweepReport report = report_of(study, {block_sizes(1, 186)});
  EXPECT_TRUE(
      contains(sentence(report, "block_size 4"),
               "block_size 4 (47 blocks, the last of 2) beats block_size 2, as written: its "
               "loss is no higher, and it adds +"));
}

/// L = 128, Full AttnRes in two phases.
TEST(SweepSentences, SayThatThePaperConsideredDivisors) {
  Study study;
  study.model = {.name = "L = 128", .num_layers = 128, .hidden_size = 7168};
  study.path = {Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(128, 16)}}, 128};
  study.schedule = Schedule::two_phase;
  const std::string fewest = sentence(report_of(study, {block_sizes(1, 128)}), "Fewest d-vectors");
  EXPECT_TRUE(contains(fewest,
                       "paper: 24.00 d at 8 and 16, where it is defined, that is over "
                       "divisors of L"));
  EXPECT_TRUE(contains(fewest, "appendixB: 22.97 d at 13 (over divisors 24.00 d at 8 and 16)"));
  EXPECT_TRUE(contains(fewest, "physical: 13.41 d at 13"));
  EXPECT_TRUE(fewest.ends_with("The paper considered divisors alone."));
}

TEST(SweepSentences, HoldATrainingStepAgainstTheComputeAdvantage) {
  Study study = kimi();
  study.training = Training{.sequence_length = 4096,
                            .num_micro_batches = 8,
                            .schedule = PipelineSchedule::interleaved,
                            .baseline_step = Seconds{10}};
  SweepReport report = report_of(study, {block_sizes(24, 24)});
  const std::string even = sentence(report, "Break-even");
  EXPECT_TRUE(contains(even,
                       "at 5.6 PFLOP/s-days block_attnres is worth 1.254 [1.203, 1.307] times "
                       "the compute"));
  EXPECT_TRUE(contains(even, ": pays, net 1."));
  EXPECT_TRUE(contains(even, ". Serving pays +"));
  report.compute = 20;
  EXPECT_EQ(sentence(report, "Break-even"),
            "Break-even: no verdict. 20 PFLOP/s-days are beyond the range of the fit, 0.5 to 5.6 "
            "([attnres] Fig. 4).");
  study.budgets = {{BudgetKind::decode_overhead, 100}};
  EXPECT_EQ(sentence(report_of(study, {block_sizes(16, 16)}), "Break-even"), "")
      << "Fig. 4 is of about 8 blocks";
}

TEST(SweepSentences, SayHowSurelyALimitIsKept) {
  Study study = kimi();
  const std::vector<SweptAxis> axes{block_sizes(24, 24)};
  study.budgets = {{BudgetKind::decode_overhead, 100}};
  const double overhead =
      report_of(study, axes).scenes[0].sweep->point(0, 0).decode->overhead->value;
  study.budgets = {{BudgetKind::decode_overhead, 1}};
  EXPECT_EQ(sentence(report_of(study, axes), "decode_overhead"),
            "decode_overhead: the whole interval keeps the limit of 100 %.");
  study.budgets = {{BudgetKind::decode_overhead, overhead * 1.0001}};
  const std::string kept = sentence(report_of(study, axes), "decode_overhead");
  EXPECT_TRUE(kept.starts_with("decode_overhead: the median keeps the limit of ")) << kept;
  EXPECT_TRUE(kept.ends_with(", the high end does not.")) << kept;
}

/// Without hardware and limits the lowest loss would win, whatever it costs.
TEST(SweepSentences, RecommendNothingWhereNoCostIsKnown) {
  Study study = kimi();
  study.budgets.clear();
  study.machine.reset();
  study.decode.reset();
  study.prefill.reset();
  const SweepReport report = report_of(study, {block_sizes(1, 186)});
  EXPECT_TRUE(
      sentence(report, "No recommendation")
          .starts_with("No recommendation: no time is known without hardware (such as "
                       "--hardware h100_sxm). The lowest published loss is at block_size 1"))
      << sentence(report, "No recommendation");
}

TEST(SweepSentences, SayThatNothingIsPublishedForCoarserBlocks) {
  const SweepReport report = report_of(kimi(), {block_sizes(40, 60)});
  EXPECT_TRUE(contains(sentence(report, "No recommendation"), "coarser than any published"));
}

// --- schemes ---

SweepReport scheme_report(Study study = kimi()) { return report_of(study, {test::scheme_axis()}); }

TEST(SweepOfSchemes, NamesThemInEveryFormat) {
  const SweepReport report = scheme_report();
  const Table table = sweep_table(report, groups_of(report).front());
  EXPECT_EQ(table.columns[0].header, "scheme");
  EXPECT_EQ(table.columns[1].header, "blocks");
  std::vector<std::vector<std::string>> said;
  for (const auto& row : table.rows) said.push_back({row[0], row[1], row.back()});
  EXPECT_EQ(said, (std::vector<std::vector<std::string>>{
                      {"standard", "", "OK"},
                      {"mhc", "", "OK; recommended"},
                      {"full_attnres", "", "breaks prefill_bank"},
                      {"block_attnres", "8", "OK; runner-up, as written"}}));
  const json document = test::parsed_json(sweep_json(report, "1.2.3"));
  EXPECT_EQ(document.at("points").at(1).at("residual.scheme"), "mhc");
  EXPECT_EQ(document.at("recommendations").at(0).at("recommended"),
            (json{{"residual.scheme", "mhc"}}));
  EXPECT_TRUE(lines_of(sweep_csv(report))[2].starts_with("mhc,true,,"));
  EXPECT_TRUE(sweep_plots(report).empty());
}

/// It has as many sources as layers; its groups only batch queries.
TEST(SweepOfSchemes, SaysNothingOfBlocksOfFull) {
  Study study = kimi();
  study.budgets = {kAnyDecode};
  const SweepReport report = scheme_report(study);
  EXPECT_TRUE(contains(sentence(report, "Recommended"), "Recommended: scheme full_attnres: +"));
  EXPECT_TRUE(contains(sentence(report, "Recommended"), "; published loss 1.737."));
  EXPECT_TRUE(lines_of(sweep_csv(report))[3].starts_with("full_attnres,true,,,,single_pass,"));
  const json point = test::parsed_json(sweep_json(report, "1.2.3")).at("points").at(2);
  EXPECT_TRUE(point.at("num_blocks").is_null());
  EXPECT_TRUE(point.at("last_block_layers").is_null());
}

/// What it adds is nothing, and no half of an interval to count in.
TEST(SweepOfSchemes, HoldARunnerUpAgainstTheStandardResidual) {
  Study study = kimi();
  study.budgets = {{BudgetKind::prefill_bank, 0.1e9}, kAnyDecode};
  study.path = {Scheme{schemes::kStandard}, 186};
  study.schedule = Schedule::fused;
  SweepReport report = report_of(
      study,
      {{.key = SweptKey::schedule,
        .values = {static_cast<Count>(Schedule::unfused), static_cast<Count>(Schedule::fused)}}});
  EXPECT_TRUE(contains(sentence(report, "Recommended"), "Recommended: schedule fused: "));
  EXPECT_TRUE(contains(sentence(report, "Runner-up"), "against the recommended one. The ranking"));
}

TEST(SweepRefusals, AreOneLineForEachReason) {
  EXPECT_EQ(refusals(kimi_report()),
            (std::vector<std::string>{"cannot exist: block_size 187 to block_size 190, 4 of them "
                                      "(the model has only 186 layers)"}));
}

TEST(SweepRefusals, AreWholeWhereTheyDoNotNameTheValue) {
  SweptAxis schemes = test::scheme_axis();
  schemes.schemes[0].refused = "missing key 'x' (it needs it)";
  EXPECT_EQ(refusals(report_of(kimi(), {schemes, block_sizes(24, 25)})),
            (std::vector<std::string>{
                "cannot exist: scheme standard, block_size 24 to scheme standard, block_size 25, 2 "
                "of them: missing key 'x' (it needs it)",
                "cannot exist: scheme mhc, block_size 24 to scheme mhc, block_size 25, 2 of them: "
                "scheme mhc has no blocks"}));
}

TEST(SweepText, CountsOnePointAsOne) {
  const SweepReport report = report_of(kimi(), {block_sizes(24, 24)});
  EXPECT_TRUE(sweep_text(report).starts_with("Kimi K3 on Round 5: 1 point\n"));
}

TEST(SweepTable, ShowsWhatIsSaidAndWhatIsPublished) {
  const SweepReport report = kimi_report();
  const Table table = sweep_table(report, groups_of(report).front());
  std::vector<std::string> sizes;
  for (const auto& row : table.rows) sizes.push_back(row.front());
  for (const BlockSizeLoss& point : kFigure6)
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), std::to_string(point.block_size)), 1)
        << point.block_size;
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), "24"), 1);
  EXPECT_LT(table.rows.size(), 20U);
}

TEST(SweepTable, NamesTheCircumstancesWhereTheAnswerChanges) {
  Study study = kimi();
  study.budgets = {{BudgetKind::prefill_bank, 1e9}, kAnyDecode};
  const SweepReport report =
      report_of(study, {block_sizes(1, 186), {.key = SweptKey::sequence_shards, .values = {1, 8}}});
  const Table table = recommendation_table(report);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][0], "sequence_shards 1");
  EXPECT_NE(table.rows[0][1], table.rows[1][1]);
  EXPECT_EQ(table.rows[0][3], "prefill_bank");
}

TEST(SweepCsv, HasOneLineForEachPointAndTheSameNumberOfCells) {
  const std::vector<std::string> lines = lines_of(sweep_csv(kimi_report()));
  ASSERT_EQ(lines.size(), 191U);
  EXPECT_TRUE(lines[0].starts_with("residual.block_size,exists,refused,num_blocks,"));
  const auto cells = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  for (const std::string& line : lines) EXPECT_EQ(cells(line), cells(lines[0])) << line;
  EXPECT_TRUE(lines[24].starts_with("24,true,,8,18,single_pass,8.24731182796,"));
  EXPECT_TRUE(lines[187].starts_with("187,false,invalid block_size '187' (the model"));
}

TEST(SweepTable, HasSevenColumnsAtMost) {
  const SweepReport report = kimi_report();
  EXPECT_LE(sweep_table(report, groups_of(report).front()).columns.size(), 7U);
}

/// It is not counted, which is no zero; a token's own state is.
TEST(SweepCsv, HasTheMemoryOfTrainingWithoutACache) {
  const SweepReport report = report_of(test::training_study(), {block_sizes(24, 24)});
  const json point = test::parsed_json(sweep_json(report, "1.2.3")).at("points").at(0);
  EXPECT_GT(point.at("memory_bytes"), point.at("state_bytes"));
  EXPECT_EQ(point.at("cache_bytes"), 0);
  EXPECT_EQ(point.at("state_per_token_bytes"), 9 * 7168 * 2);
  EXPECT_TRUE(contains(lines_of(sweep_csv(report))[1], ",0,1.7005")) << sweep_csv(report);
}

TEST(SweepCsv, NamesWhatCouldNotBeRead) {
  SweepReport report = report_of(kimi(), {block_sizes(24, 24)});
  report.scene_axes = {"hardware"};
  report.scenes.front().values = {"round"};
  report.scenes.push_back({.values = {"square"}, .sweep = {}, .refused = "no, not that"});
  const std::vector<std::string> lines = lines_of(sweep_csv(report));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[1].starts_with("round,24,true,"));
  EXPECT_TRUE(lines[2].starts_with("square,,false,\"no, not that\","));
  EXPECT_EQ(std::count(lines[2].begin(), lines[2].end(), ','),
            std::count(lines[0].begin(), lines[0].end(), ',') + 1);  // the quoted one
}

TEST(SweepJson, HasEveryPointAndTheEvidence) {
  const SweepReport report = kimi_report();
  const json document = test::parsed_json(sweep_json(report, "1.2.3"));
  EXPECT_EQ(document.at("schema_version"), 1);
  ASSERT_EQ(document.at("points").size(), 190U);
  const json& point = document.at("points").at(23);
  const SweepPoint swept = report.scenes.front().sweep->point(0, 23);
  EXPECT_EQ(point.at("residual.block_size"), 24);
  EXPECT_EQ(point.at("recommended"), true);
  EXPECT_EQ(point.at("loss_by_size_is"), "interpolated");
  EXPECT_NEAR(point.at("decode_delta_seconds").get<double>(), swept.decode->delta.value.value,
              1e-12);
  EXPECT_EQ(document.at("points").at(188).at("exists"), false);
  const json& said = document.at("recommendations").at(0);
  EXPECT_EQ(said.at("recommended").at("residual.block_size"), 24);
  EXPECT_EQ(said.at("binding").at(0).at("budget"), "prefill_bank");
  const json& evidence = document.at("evidence");
  EXPECT_EQ(evidence.at("figure6").at("points").size(), kFigure6.size());
  EXPECT_EQ(evidence.at("table2").at("rows").size(), kTable2.size());
  EXPECT_EQ(evidence.at("table4").at("mhc"), 1.747);
  EXPECT_EQ(evidence.at("figure7").at("attnres").size(), 25U);
  const json& block = document.at("evidence").at("figure4").at("block_attnres");
  EXPECT_NEAR(block.at("equivalent_compute").get<double>(), 7.021, 5e-4);
  EXPECT_NEAR(block.at("advantage").get<double>(), 1.2538, 5e-5);
}

TEST(SweepMarkdown, HasTheTableThePlotsAndTheConditions) {
  const std::vector<PlotFile> files{{"a-sweep-front.svg", "caption"}};
  const std::string text = sweep_markdown(kimi_report(), files, "", "1.2.3");
  EXPECT_TRUE(contains(text, "![caption](a-sweep-front.svg)"));
  EXPECT_TRUE(contains(text, "- Recommended: block_size 24"));
  EXPECT_TRUE(contains(text, "| 4 | 8 | 1.746 |"));
  EXPECT_TRUE(contains(text, "[attnres] Table 2"));
  SweepReport named = kimi_report();
  named.title = "<b> and [l](x)";
  EXPECT_TRUE(sweep_markdown(named, files, "", "1.2.3").starts_with("# " + escaped(named.title)));
}

TEST(SweepPlots, AreDrawn) {
  const std::vector<Plot> plots = sweep_plots(kimi_report());
  ASSERT_EQ(plots.size(), 2U);
  for (const Plot& plot : plots) {
    const Drawing drawing = draw_svg(plot.script);
    if (drawing.status == DrawingStatus::missing) GTEST_SKIP() << "no gnuplot";
    EXPECT_EQ(drawing.status, DrawingStatus::drawn) << plot.file_name << ": " << drawing.error;
  }
}

/// Costs of a whole step: one byte of the marked size is 1, and finer blocks cost more.
TEST(SweepPlots, ShowCostsAsMultiplesOfTheScenariosOwn) {
  const std::string script = sweep_plots(kimi_report()).back().script;
  EXPECT_TRUE(contains(script, "\n24 1\n"));
}

TEST(SweepPlots, AreNoneWithoutASizeToPlotAgainst) {
  EXPECT_TRUE(sweep_plots(report_of(kimi(), {})).empty());
  EXPECT_TRUE(
      sweep_plots(report_of(kimi(), {{.key = SweptKey::schedule,
                                      .values = {static_cast<Count>(Schedule::single_pass)}}}))
          .empty());
}

}  // namespace
}  // namespace depthcost::sweep_test
