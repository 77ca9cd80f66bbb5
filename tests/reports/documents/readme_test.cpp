// What the README and the example report show is what the program prints. UPDATE_GOLDEN=1 rewrites
// the marked parts of the README and of the handbook, and reports/example.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "reports/comparison/comparison_report.hpp"
#include "reports/comparison/error_groups.hpp"
#include "reports/comparison/kernel_tables.hpp"
#include "reports/documents/answer_documents.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/assumptions/assumptions_section.hpp"
#include "reports/topics/budgets/budget_section.hpp"
#include "reports/topics/budgets/claim_section.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "reports/topics/decision/verdict_lines.hpp"
#include "reports/topics/measured/published_section.hpp"
#include "reports/topics/time/attachment_section.hpp"
#include "reports/topics/time/step_section.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/measured/served_steps.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/measured/trained_steps.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/documents.hpp"

namespace depthcost::readme_test {
namespace {

const std::string kRoot = DEPTHCOST_SOURCE_DIR;
const std::string kStem = "kimi_k3_8xb300";

struct Example {
  explicit Example(const std::string& stem)
      : scenario(read_scenario(kRoot + "/scenarios/" + stem + ".yaml")),
        evaluation(evaluate_with_family(scenario.study)) {}

  Scenario scenario;
  Evaluation evaluation;
};

/// Errors by operation, and the worst of the cases of which something is promised.
std::string published_block() {
  const auto cases = published_cases(published_measurements(), shipped_rules("published"));
  std::vector<ComparedCase> promised;
  for (const ComparedCase& compared : cases)
    if (compared.rule.blocks) promised.push_back(compared);
  std::stable_sort(promised.begin(), promised.end(), [](const auto& a, const auto& b) {
    return std::abs(a.comparison.error) > std::abs(b.comparison.error);
  });
  promised.resize(std::min<std::size_t>(promised.size(), 8));
  return "\n" + markdown(error_table(cases)) + "\n" + error_line(cases) + "\n" +
         verdict_line(cases) + "\n\n" + markdown(comparison_table(promised)) + "\n";
}

std::string served_block() {
  const std::vector<ComparedRun> servings = compared_servings(served_steps());
  return fmt::format(
      "\n{}\n{}\n\n{}\n\n", markdown(run_table(servings)),
      unseen_gpu_sentence("Served steps", compared_servings(served_steps(Unseen::gpu))),
      peer_sentence(servings));
}

std::string trained_block() {
  const std::vector<ComparedRun> runs = compared_training(trained_steps());
  return fmt::format(
      "\n{}\n{}\n\n{}\n", markdown(run_table(runs)),
      unseen_gpu_sentence("Training steps", compared_training(trained_steps(Unseen::gpu))),
      markdown(worst_runs_table(runs)));
}

/// "3.6 times slower" or "1.9 times faster" than predicted.
std::string off_text(double error) {
  return error > 0 ? fmt::format("{:.1f} times slower", 1 + error)
                   : fmt::format("{:.1f} times faster", 1 / (1 + error));
}

/// How far off, whichever way.
bool is_nearer(const Comparison& a, const Comparison& b) {
  return std::abs(std::log1p(a.error)) < std::abs(std::log1p(b.error));
}

/// Worst first.
std::string trust_block() {
  const auto kernels = published_cases(published_measurements(), shipped_rules("published"));
  const auto servings = compared_servings(served_steps());
  std::vector<Comparison> trainings;
  for (const ComparedRun& it : compared_training(trained_steps()))
    trainings.push_back(it.comparison);
  const ErrorSummary of_trainings = summary_of(trainings);
  const auto& worst_kernel = *std::max_element(
      kernels.begin(), kernels.end(),
      [](const auto& a, const auto& b) { return is_nearer(a.comparison, b.comparison); });
  const auto& worst_step = *std::max_element(
      servings.begin(), servings.end(),
      [](const auto& a, const auto& b) { return is_nearer(a.comparison, b.comparison); });
  std::vector<Comparison> steps;
  for (const ComparedRun& it : servings) steps.push_back(it.comparison);
  const ErrorSummary of_steps = summary_of(steps);
  const ErrorSummary of_kernels = summary_of(comparisons_of(kernels));
  return fmt::format(
      "\n- The worst of {} served decode steps was {} than predicted: {} on {}, {}.\n"
      "- The worst of {} kernels was {} than predicted: `{}`.\n"
      "- Served decode steps: the median error is {}, and one in ten is off by more than {}. The 90 % "
      "interval holds {}.\n"
      "- Training steps: the median error of {} is {}, one in ten is off by more than {}, and the "
      "worst took {} as long as predicted. The interval holds {}.\n"
      "- Kernels: the median error is {}, and one in ten is off by more than {}. The interval holds "
      "{}.\n\n",
      servings.size(), off_text(worst_step.comparison.error), worst_step.model, worst_step.gpu,
      worst_step.stack, kernels.size(), off_text(worst_kernel.comparison.error), worst_kernel.id,
      format_ratio(of_steps.median), format_ratio(of_steps.p90), format_ratio(of_steps.inside),
      of_trainings.cases, format_ratio(of_trainings.median), format_ratio(of_trainings.p90),
      fmt::format("{:.1f} times", 1 + of_trainings.worst), format_ratio(of_trainings.inside),
      format_ratio(of_kernels.median), format_ratio(of_kernels.p90),
      format_ratio(of_kernels.inside));
}

/// "held to 2.0 %: holds only if ...".
std::string outcome_text(const ClaimRow& claim) {
  const std::string condition = claim_condition(claim);
  return fmt::format("held to {}: {}{}{}", format_budget(claim.budget, claim.limit),
                     name(claim.verdict), condition.empty() ? "" : " ", condition);
}

/// Overheads point by point; of any other budget what it is held against.
std::string cost_text(const Evaluation& e, const ClaimRow& claim) {
  std::string costs;
  for (const StepRow& row : e.step)
    if (row.path == &e.paths.front() && row.schedule == e.study.schedule &&
        row.workload.kind == overhead_workload(claim.budget))
      costs += fmt::format("{}{} {}", costs.empty() ? "" : "; ", name(row.workload),
                           format_ratio(*row.overhead, Sign::always));
  for (const BudgetRow& row : e.budgets)
    if (row.budget.kind == claim.budget && !overhead_workload(claim.budget))
      costs = fmt::format("{} {}", name(row.budget.kind), budget_table({&row, 1}).rows.front()[2]);
  return costs;
}

/// What the paper says of costs, and what comes of it.
std::string claims_block() {
  Table table{{{"scenario"}, {"cost"}, {"claim"}}, {}};
  for (const std::string file :
       {"decode_standalone", "decode_fused_baseline", "decode_hoisted", "training_pipeline",
        "training_alone", "pipeline_communication", "pipeline_communication_replicated",
        "pipeline_cache", "activations_recomputed", "full_attnres_memory", "unfused",
        "boundary_attention"}) {
    const Evaluation e =
        evaluate(read_scenario(kRoot + "/scenarios/claims/" + file + ".yaml").study);
    for (const ClaimRow& claim : e.claims) {
      table.rows.push_back({fmt::format("{} (`{}.yaml`)", e.study.name, file),
                            fmt::format("`{}`: {}", name(e.study.schedule), cost_text(e, claim)),
                            outcome_text(claim)});
    }
  }
  return "\n" + markdown(table) + "\n";
}

/// The blocks between "<!-- begin NAME -->" and "<!-- end NAME -->", as they should be.
std::map<std::string, std::string> readme_blocks() {
  const Example example(kStem);
  const auto explanation = explain(example.evaluation, "ledger.block_attnres.two_phase.kernel");
  const Evaluation& e = example.evaluation;
  std::string verdict;
  for (const std::string& line : verdict_lines(e)) verdict += "- " + line + "\n";
  std::string more;
  for (const std::string& sentence : more_sentences(e)) more += "- " + sentence + "\n";
  const MeasuredByOthers others = measured_by_others();
  for (const std::string& warning :
       published_warnings(e, {.published = others.kernels, .published_steps = others.steps}))
    more += "\n" + warning + "\n";
  std::string unmodelled;
  for (const std::string_view line : assumptions_section::kUnmodelled)
    unmodelled += fmt::format("- {}\n", line);
  return {{"unmodelled", "\n" + unmodelled + "\n"},
          {"decision", "\n" + verdict + "\n" + markdown(cost_table(e)) + "\n" + cost_legend(e) +
                           "\n\n" + more + "\n"},
          {"attachments", "\n" + markdown(attachment_table(example.evaluation)) + "\n"},
          {"measured", "\n" + markdown(published_table(example.evaluation, others.kernels)) + "\n" +
                           markdown(published_step_table(example.evaluation, others.steps)) + "\n"},
          {"claims", claims_block()},
          {"published", published_block()},
          {"served", served_block()},
          {"trained", trained_block()},
          {"trust", trust_block()},
          {"explain", "\n```text\n" + to_text(explanation.value()) + "```\n\n"}};
}

TEST(Readme, ShowsWhatTheProgramPrints) { test::expect_blocks_of_documents(readme_blocks()); }

class ExampleReport : public testing::TestWithParam<const char*> {};

TEST_P(ExampleReport, IsUpToDate) {
  const std::string stem = GetParam();
  const Example example(stem);
  const std::string folder = kRoot + "/reports/example/";
  std::vector<PlotFile> files;
  for (const Plot& plot : plots(example.evaluation)) {
    files.push_back({stem + "-" + plot.file_name, plot.caption});
    if (!test::is_updating_golden()) {
      EXPECT_FALSE(test::file_text(folder + files.back().file_name).empty())
          << files.back().file_name;
      continue;
    }
    const Drawing drawing = draw_svg(plot.script);
    ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
    std::ofstream(folder + files.back().file_name) << drawing.svg;
  }
  const MeasuredByOthers others = measured_by_others();
  const ReportParts parts{example.scenario.values, files,        "",  DEPTHCOST_VERSION, {},
                          others.kernels,          others.steps, stem};
  const auto expect_file = [&](const std::string& name, const std::string& text) {
    if (test::is_updating_golden()) std::ofstream(folder + name) << text;
    EXPECT_EQ(test::file_text(folder + name), text);
  };
  expect_file(stem + ".md", markdown_report(example.evaluation, parts));
  expect_file(stem + "-appendix.md", markdown_appendix(example.evaluation, parts));
}

INSTANTIATE_TEST_SUITE_P(Linked, ExampleReport,
                         testing::Values("kimi_k3_8xb300", "kimi_k3_training"),
                         [](const auto& row) { return std::string(row.param); });

/// A place inside a page needs no file, a page of the web no check here.
bool is_file(const std::string& target) {
  return !target.starts_with('#') && target.find("://") == std::string::npos;
}

TEST(Documents, NameOnlyFilesThatExist) {
  std::size_t links = 0;
  for (const std::string& document : test::documents()) {
    const std::filesystem::path folder =
        std::filesystem::path(kRoot + "/" + document).parent_path();
    const std::string text = test::document_text(document);
    for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      std::string target = text.substr(at + 2, text.find(')', at) - at - 2);
      if (!is_file(target)) continue;
      target.erase(std::min(target.find('#'), target.size()));
      EXPECT_TRUE(std::filesystem::exists(folder / target)) << document << ": " << target;
      ++links;
    }
  }
  EXPECT_GE(links, 30U);
}

TEST(Documents, AreShortWhereTheyAreReadFirst) {
  const std::string readme = test::document_text("README.md");
  EXPECT_LE(std::count(readme.begin(), readme.end(), '\n'), 180);
}

}  // namespace
}  // namespace depthcost::readme_test
