// The report of shipped scenarios, byte for byte, and the sentences that must stand in it.
// UPDATE_GOLDEN=1 rewrites tests/golden/*.md; the change is then read as a diff.
#include "reports/markdown_report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "scenarios/scenario.hpp"
#include "tests/studies.hpp"

namespace depthcost {
namespace {

std::string report_of(const std::string& scenario_name) {
  const Scenario scenario =
      read_scenario(std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/" + scenario_name + ".yaml");
  const Evaluation evaluation = evaluate(scenario.study);
  return markdown_report(evaluation, {scenario.values, {}, "", "test"});
}

class GoldenReport : public testing::TestWithParam<const char*> {};

TEST_P(GoldenReport, IsTheSameByteForByte) {
  const std::string report = report_of(GetParam());
  const std::string path = std::string(DEPTHCOST_GOLDEN_DIR) + "/" + GetParam() + ".md";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << report;
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(report, golden.str());
  EXPECT_EQ(report, report_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Shipped, GoldenReport,
                         testing::Values("kimi_k3_8xb300", "kimi_k3_32xh200", "paper_table1",
                                         "paper_fig3", "paper_fig3_aligned", "paper_prefill_128k",
                                         "deepseek_v4_pro_mhc"),
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

TEST(Report, TellsThePapersTwoSixesApart) {
  const std::string fig3 = report_of("paper_fig3");
  expect_text(fig3, "Eq. 7 gives 14 d, Eq. 8 11 d.");
  expect_text(fig3, "| none | sent | omitted | 19 d | 4 d |");
  expect_text(fig3, "| received | sent | omitted | 13 d | 2 d |");
  expect_text(fig3, "The paper's two sixes are different ones for that reason.");
  const std::string aligned = report_of("paper_fig3_aligned");
  expect_text(aligned, "Eq. 7 gives 28 d, Eq. 8 22 d.");
  expect_text(aligned, "| none | omitted | omitted | 28 d | 7 d |");
  expect_text(aligned, "| received | omitted | omitted | 22 d | 4 d |");
}

TEST(Report, SaysInWordsWhatTwoPhasesMeanForKimiK3) {
  expect_text(
      report_of("kimi_k3_8xb300"),
      "In two phases a layer moves 5.97 d instead of 8.25 d; a forward pass with its output "
      "27 % fewer bytes if Phase 1 outputs are stored in bf16, 4 % fewer if in f32, so that "
      "the gain stands or falls with rounding them; ");
}

TEST(Report, GivesThePapersPrefillFigures) {
  const std::string report = report_of("paper_prefill_128k");
  expect_text(report, "| 131,072 tokens in one memory | 15,032,385,536 | 15.03 GB |");
  expect_text(report, "| sharded over 8 devices | 1,879,048,192 | 1.879 GB |");
  expect_text(report, "| and in chunks of 16,384 | 234,881,024 | 234.9 MB |");
}

TEST(Report, NeverPassesMemoryWhoseWeightsAreNotCounted) {
  const std::string report = report_of("kimi_k3_8xb300");
  expect_text(report, "| device_memory | 288.4 GB | at least 264.2 MB | - | unknown |");
}

TEST(Report, SaysWhatPerCentNeeds) {
  const std::string without = report_of("kimi_k3_8xb300");
  expect_text(without, ", no % |");
  expect_text(without, "No %: it needs `baseline_step`.");
  Study study = test::kimi_k3_study();
  study.prefill->baseline_step = Seconds{2};
  const std::string with_baseline = markdown_report(evaluate(study), {});
  expect_text(with_baseline, " % [");
  EXPECT_EQ(with_baseline.find("No %"), with_baseline.npos);
}

TEST(Report, SaysWhyThereAreNoPlots) {
  const std::string reason = "No plots: gnuplot is not installed.";
  expect_text(markdown_report(evaluate(test::kimi_k3_study()), {.missing_plots = reason}), reason);
}

}  // namespace
}  // namespace depthcost
