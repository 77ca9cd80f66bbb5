// The report of shipped scenarios, byte for byte, and the sentences that must stand in it.
// UPDATE_GOLDEN=1 rewrites tests/golden/*.md; the change is then read as a diff.
#include "reports/documents/answer_documents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "model/schemes/list.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "reports/topics/decision/verdict_lines.hpp"
#include "reports/topics/measured/published_section.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/read/scenario_options.hpp"
#include "tests/studies.hpp"

namespace depthcost::markdown_test {
namespace {

/// The report and its appendix.
struct Documents {
  std::string report;
  std::string appendix;
};

/// Both in one text.
std::string documents_of(const Evaluation& evaluation, const ReportParts& parts) {
  return markdown_report(evaluation, parts) + markdown_appendix(evaluation, parts);
}

Documents report_of_shipped(const std::string& scenario_name) {
  const Scenario scenario =
      read_scenario(std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/" + scenario_name + ".yaml");
  const Evaluation evaluation = evaluate(scenario.study);
  const MeasuredByOthers others = measured_by_others();
  const ReportParts parts{scenario.values, {},           "",           "test", {},
                          others.kernels,  others.steps, scenario_name};
  return {markdown_report(evaluation, parts), markdown_appendix(evaluation, parts)};
}

std::string report_of(const std::string& scenario_name) {
  const Documents documents = report_of_shipped(scenario_name);
  return documents.report + documents.appendix;
}

void expect_golden(const std::string& path, const std::string& text) {
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

class GoldenReport : public testing::TestWithParam<const char*> {};

TEST_P(GoldenReport, IsTheSameByteForByte) {
  const Documents documents = report_of_shipped(GetParam());
  const std::string stem = std::string(DEPTHCOST_GOLDEN_DIR) + "/" + GetParam();
  expect_golden(stem + ".md", documents.report);
  if (!documents.appendix.empty()) expect_golden(stem + "-appendix.md", documents.appendix);
  const Documents again = report_of_shipped(GetParam());
  EXPECT_EQ(documents.report, again.report);
  EXPECT_EQ(documents.appendix, again.appendix);
}

INSTANTIATE_TEST_SUITE_P(Shipped, GoldenReport,
                         testing::Values("kimi_k3_8xb300", "kimi_k3_32xh200", "paper_table1",
                                         "paper_fig3", "paper_fig3_aligned", "paper_prefill_128k",
                                         "deepseek_v4_pro_mhc", "kimi_k3_training"),
                         [](const auto& row) { return std::string(row.param); });

void expect_text(const std::string& report, const std::string& text) {
  EXPECT_NE(report.find(text), std::string::npos) << "missing: " << text;
}

TEST(Report, PrintsTable1BesideWhatIsMoved) {
  const std::string report = report_of("paper_table1");
  expect_text(report, "| standard | unfused | paper | 2 d | 1 d | 3 d |");
  expect_text(report, "| mhc | unfused | paper | 21 d | 13 d | 34 d |");
  expect_text(report, "| full_attnres | two_phase | paper | 22 d | 2 d | 24 d |");
  expect_text(report, "| block_attnres | two_phase | paper | 3.5 d | 2 d | 5.5 d |");
  expect_text(report, "| 6.0313 d |");
  expect_text(report, "| 13.9375 d |");
}

TEST(Report, EscapesWhatSomebodyClaims) {
  Study study = test::kimi_k3_study();
  study.claim = "it is <b>*free*</b> [x](y)";
  study.budgets = {{BudgetKind::decode_overhead, 0.5}};
  const Evaluation evaluation = evaluate(study);
  const std::vector<ResolvedValue> values;
  expect_text(documents_of(evaluation, {values, {}, "", "test"}),
              "- Claim: it is \\<b\\>\\*free\\*\\</b\\> \\[x\\](y). Held to ");
  EXPECT_TRUE(more_sentences(evaluation).back().starts_with("Claim: it is <b>*free*</b> [x](y)."));
}

TEST(Report, SaysWhatAKeptTokenPays) {
  Study study = test::kimi_k3_study();
  const auto says = [&] {
    const auto sentences = more_sentences(evaluate(study));
    return std::any_of(sentences.begin(), sentences.end(), [](const std::string& sentence) {
      return sentence.starts_with(
          "A decode step checks 4 tokens of each sequence and keeps 2.5 in the mean. To each kept "
          "token `block_attnres` adds +");
    });
  };
  EXPECT_FALSE(says());
  study.decode->speculation = {.tokens = 4, .accepted = 2.5};
  EXPECT_TRUE(says());
}

TEST(Report, SaysWhichPromptADecodeStepTakesAlong) {
  Study study = test::kimi_k3_study();
  const std::string sentence =
      "A decode step is one of 1, 64 and 512 sequences with a chunk of 2,048 prompt tokens behind "
      "50,000 of the same prompt (`workload.decode.prefill_tokens`).";
  study.decode->sequences = {1, 64, 512};
  study.decode->context = 100'000;
  const auto says = [&] {
    const auto sentences = more_sentences(evaluate(study));
    return std::find(sentences.begin(), sentences.end(), sentence) != sentences.end();
  };
  EXPECT_FALSE(says());
  study.decode->prompt = PromptChunk{.tokens = 2048, .context = {}};
  EXPECT_TRUE(says());
}

TEST(Report, TellsThePapersTwoSixesApart) {
  const std::string fig3 = report_of("paper_fig3");
  expect_text(fig3, "Eq. 7 gives 14 d, Eq. 8 11 d.");
  expect_text(fig3, "| none | sent | omitted | 19 d | 4 d |");
  expect_text(fig3, "| received | sent | omitted | 13 d | 2 d |");
  expect_text(fig3, "The paper saves 6 in two different cases.");
  const std::string aligned = report_of("paper_fig3_aligned");
  expect_text(aligned, "Eq. 7 gives 28 d, Eq. 8 22 d.");
  expect_text(aligned, "| none | omitted | omitted | 28 d | 7 d |");
  expect_text(aligned, "| received | omitted | omitted | 22 d | 4 d |");
}

TEST(Report, SaysInWordsWhatTwoPhasesMeanForKimiK3) {
  expect_text(
      report_of("kimi_k3_8xb300"),
      "A forward pass as `two_phase` moves 27 % fewer bytes than as `single_pass` if Phase 1 outputs "
      "are stored in bf16, and 4 % fewer if in f32.");
}

TEST(Report, SaysFirstWhatDoesNotFitAndGivesItNoPerCent) {
  const std::string scenario = DEPTHCOST_SOURCE_DIR "/scenarios/kimi_k3_8xb300.yaml";
  const std::string report = documents_of(
      evaluate(
          asked_scenario(scenario, {.settings = {"workload.decode.sequences=[1, 64, 512]"}}).study),
      {});
  const std::size_t verdict = report.find(
      "**Verdict**\n\n- Out of memory at decode/64, decode/512 with every scheme, the standard residual included: "
      "decode/64 needs 385.7 GB, and a device has 288.4 GB; ");
  EXPECT_NE(verdict, std::string::npos);
  expect_text(report, "| decode/64 | none fits | - | - |\n");
  EXPECT_EQ(report.find("| decode/64 | block_attnres | +101 us [85, 139] | +0"), std::string::npos);
}

TEST(Report, HoldsFoldedAgainstFolded) {
  const std::string report = report_of("kimi_k3_8xb300");
  expect_text(
      report,
      "| workload | scheme | both in the all-reduce | both in own kernels | AttnRes in its own kernel |");
  expect_text(report,
              "| decode/1 | block_attnres | +50.8 us [19.9, 84.3] | +50.8 us [9.9, 94.3] |");
}

TEST(Report, SetsPublishedMeasurementsBesideItsNumbers) {
  const std::string report = report_of("kimi_k3_8xb300");
  expect_text(report, "All times above are modelled.");
  expect_text(
      report,
      "| mhc | decode/1 | mhc_pre, T = 1, d = 7168, hot, on b300_sxm (sglang 0.5.14) | 9.45 us |");
  expect_text(report, "| decode/1, 8 x NVIDIA B300 SXM | residual path, standalone | 305 us |");
}

/// The published row of a call that takes ten times as long as is predicted.
TEST(Report, WarnsWhereAMeasurementLiesOutside) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  MeasuredByOthers others = measured_by_others();
  std::erase_if(others.kernels,
                [](const ComparedCase& it) { return it.call.operation != "mhc_post"; });
  for (ComparedCase& it : others.kernels) {
    it.comparison.measured.value = 10 * it.comparison.predicted.value;
    it.comparison.is_inside = false;
  }
  const auto warnings = published_warnings(evaluation, {.published = others.kernels});
  ASSERT_FALSE(warnings.empty());
  EXPECT_TRUE(warnings.front().starts_with("Warning: mhc_post, T = 1, d = 7168, hot, on "));
  EXPECT_NE(warnings.front().find("lies outside the predicted"), std::string::npos);
  std::vector<MeasuredStep> steps{{.machine = *test::modelled_study().machine,
                                   .stack = "somebody",
                                   .model = "Kimi K3",
                                   .scheme = "block_attnres",
                                   .tensor = 8,
                                   .sequences = 1,
                                   .time = {1}}};
  const auto of_steps =
      published_warnings(evaluate(test::modelled_study()), {.published_steps = steps});
  ASSERT_EQ(of_steps.size(), 1U);
  EXPECT_TRUE(of_steps[0].starts_with("Warning: decode steps may be ")) << of_steps[0];
  EXPECT_NE(
      of_steps[0].find(" times longer than predicted. somebody measured 1.00 s at decode/1, 8 x "
                       "Round 5 (with block_attnres at an assumed context of "),
      std::string::npos)
      << of_steps[0];
  EXPECT_NE(of_steps[0].find(" Then each per cent of decode is 0.0"), std::string::npos)
      << of_steps[0];
  steps.front().machine.name = "another";
  EXPECT_TRUE(published_warnings(evaluate(test::modelled_study()), {.published_steps = steps})
                  .front()
                  .starts_with("Warning from other hardware: decode steps may be "));
}

TEST(Report, GivesThePapersPrefillFigures) {
  const std::string report = report_of("paper_prefill_128k");
  expect_text(report, "| 131,072 tokens in one memory | 15,032,385,536 | 15.03 GB |");
  expect_text(report, "| sharded over 8 devices | 1,879,048,192 | 1.879 GB |");
  expect_text(report, "| and in chunks of 16,384 | 234,881,024 | 234.9 MB |");
}

TEST(Report, NeverPassesMemoryWhoseWeightsAreNotCounted) {
  const std::string report = documents_of(evaluate(test::kimi_k3_study()), {});
  expect_text(report, "| device_memory | 100.0 GB | at least 267.0 MB | - | unknown |");
  expect_text(report, "weights and KV cache are not counted, since the model has no `attention`");
}

TEST(Report, SaysWhatPerCentNeeds) {
  Study study = test::kimi_k3_study();
  const std::string without = documents_of(evaluate(study), {});
  expect_text(without, " | not known |");
  expect_text(
      without,
      "The percentage is not known: the model has no attention and mlp. Write `baseline_step`.");
  study.prefill->baseline_step = Seconds{2};
  const std::string with_baseline = documents_of(evaluate(study), {});
  expect_text(with_baseline, " % [");
  EXPECT_EQ(with_baseline.find("No %"), with_baseline.npos);
}

TEST(Report, SaysWhichBaselinePerCentsAreOf) {
  Study study = test::modelled_study();
  study.baseline_attachment = Attachment::all_reduce;
  study.prefill->baseline_step = Seconds{2};
  const std::string report = documents_of(evaluate(study), {});
  expect_text(
      report,
      "100 % is the whole step with the standard residual, which is fused with the all-reduce "
      "before each layer. At decode `block_attnres` and `full_attnres` are fused with the "
      "all-reduce; `mhc` runs in kernels of its own. The scenario has measured prefill.");
  expect_text(report, "- prefill: 2.00 s, measured\n");
  // The standard residual as a kernel of its own is another one, and adds.
  expect_text(report, "| prefill | standard | +");
}

TEST(Report, SaysHowAPrefillIsSharedOut) {
  Study study = test::modelled_study();
  study.prefill->sequence_shards = 4;
  expect_text(documents_of(evaluate(study), {}),
              ". The residual path is sequence-parallel over 4 devices.");
  study.prefill->sequence_shards = 1;
  expect_text(documents_of(evaluate(study), {}),
              ". Every device has all prefill tokens on its residual path.");
}

TEST(Report, SaysHowAttnResIsAskedAbout) {
  Study study = test::modelled_study();
  const std::string sentence = "Attention Residuals are not shown";
  EXPECT_EQ(documents_of(evaluate(study), {}).find(sentence), std::string::npos);
  study.path = {Scheme{schemes::kStandard}, study.model.num_layers};
  study.schedule = Schedule::fused;
  study.compare.clear();
  expect_text(documents_of(evaluate(study), {}), sentence);
}

TEST(Report, SaysWherePhase1RunsBesideALayer) {
  Study study = test::modelled_study();
  const std::string sentence =
      "At decode a step waits for the first query of Phase 1 alone; the rest runs beside the "
      "block's first layer (`workload.decode.phase1: hoisted`).";
  EXPECT_EQ(documents_of(evaluate(study), {}).find(sentence), std::string::npos);
  study.decode->phase1 = Phase1Order::hoisted;
  expect_text(documents_of(evaluate(study), {}), sentence);
}

std::vector<std::string> cells_of(const Table& table) {
  std::vector<std::string> cells;
  for (const auto& row : table.rows) cells.insert(cells.end(), row.begin(), row.end());
  return cells;
}

TEST(CostTable, KnowsEveryStepOfTheShippedExample) {
  const Scenario shipped =
      read_scenario(std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/kimi_k3_8xb300.yaml");
  const Table table = cost_table(evaluate(shipped.study));
  EXPECT_EQ(table.rows.size(), 3u * 4);
  for (const std::string& cell : cells_of(table))
    EXPECT_EQ(cell.find("not known"), cell.npos) << cell;
}

TEST(Report, PutsTheOverheadBeforeTheAddedTime) {
  const std::vector<PlotFile> plots{{"x-added_time.svg", "added"}, {"x-overhead.svg", "overhead"}};
  const std::string report = documents_of(evaluate(test::modelled_study()), {.plots = plots});
  EXPECT_LT(report.find("![overhead]"), report.find("## "));
  EXPECT_LT(report.find("![overhead]"), report.find("![added]"));
  EXPECT_NE(report.find("![added]"), report.npos);
  const std::string alone =
      documents_of(evaluate(test::kimi_k3_study()), {.plots = {plots.data(), 1}});
  EXPECT_LT(alone.find("![added]"), alone.find("## "));
}

TEST(Report, SaysHowTheTrainingStepIsRun) {
  const std::string report = documents_of(evaluate(test::training_study()), {});
  expect_text(
      report,
      "8 micro-batches of 1 x 4,096 tokens, 4,096 of each on a device. 4 stages of 2 "
      "virtual stages run `interleaved_1f1b` with chunks of 22 to 24 layers, and the longest "
      "sets the pace; sends are overlapped with computing; blocks that a stage keeps and need not "
      "be sent again: `received`. Activations of the residual path: "
      "`recompute`; gradients of a source that many layers read are added up as `fused`.");
  expect_text(report, " that `block_attnres` adds to the pipeline are waits for messages between");
  expect_text(report, "| training_overhead | 4.0 % | ");
}

TEST(Report, SaysWhatItDoesNotKnowOfATrainingStep) {
  Study study = test::training_study();
  study.machine->transfers.resize(2);
  expect_text(documents_of(evaluate(study), {}), "The hardware has no `send` times");
  study = test::training_study();
  study.model.architecture.reset();
  expect_text(documents_of(evaluate(study), {}),
              "Communication is not judged without the layers that hide it.");
  study = test::training_study();
  EXPECT_EQ(documents_of(evaluate(study), {}).find("context ranks exchange of keys and values, "),
            std::string::npos);
  study.context_parallel_size = 2;
  expect_text(documents_of(evaluate(study), {}),
              "What the 2 context ranks exchange of keys and values, forward and back, is not "
              "modelled");
}

TEST(Report, SaysThatSendsOfDecodeAndPrefillAreOfTheResidualPath) {
  const std::string text = "one message after the other. The time is part of the residual";
  expect_text(report_of("kimi_k3_32xh200"), text);
  for (const char* scenario : {"kimi_k3_training", "kimi_k3_8xb300"})
    EXPECT_EQ(report_of(scenario).find(text), std::string::npos) << scenario;
}

TEST(Report, CountsABoundaryOfTrainingInTheTypeOfTheWire) {
  const auto has = [](Dtype wire_dtype, const std::string& boundary) {
    Study study = test::training_study();
    study.training->wire_dtype = wire_dtype;
    const auto sentences = more_sentences(evaluate(study));
    return std::find(sentences.begin(), sentences.end(),
                     "The largest boundary between stages carries for each token " + boundary +
                         " at training.") != sentences.end();
  };
  EXPECT_TRUE(has(Dtype::bf16, "4 d, 57.34 kB"));
  EXPECT_TRUE(has(Dtype::f32, "4 d, 114.7 kB"));
}

TEST(Report, SaysWhyThereAreNoPlots) {
  const std::string reason = "No plots: gnuplot is not installed.";
  expect_text(documents_of(evaluate(test::kimi_k3_study()), {.missing_plots = reason}), reason);
}

}  // namespace
}  // namespace depthcost::markdown_test
