// The first lines of every answer.
#include "reports/topics/decision/verdict_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/evaluation/scheme_verdict.hpp"
#include "model/schemes/list.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "tests/studies.hpp"

namespace depthcost::verdict_lines_test {
namespace {

Study quiet_study() {
  Study study = test::kimi_k3_study();
  study.budgets.clear();
  study.compare.clear();
  study.decode->sequences = {1};
  study.decode->baseline_steps = {Seconds{1}};
  study.prefill.reset();
  return study;
}

std::string line_of(Evaluation&& e, const Estimate<double>& overhead) {
  for (StepRow& row : e.step) row.overhead = overhead;
  return verdict_lines(e).front();
}

TEST(VerdictLines, SayTheWordTheNumberAndTheLimit) {
  EXPECT_EQ(line_of(evaluate(quiet_study()), {0.005, 0.01, 0.015}),
            "`block_attnres`, single_pass: OK. It adds 1.0 % [0.5, 1.5] to decode/1; the limit is "
            "2.0 % (the AttnRes paper's). Other schedules (engines run "
            "single_pass): two_phase 1.0 %.");
  EXPECT_TRUE(line_of(evaluate(quiet_study()), {0.03, 0.04, 0.05})
                  .starts_with("`block_attnres`, single_pass: too much. It adds 4.0 % [3.0, 5.0] "
                               "to decode/1; the limit is 2.0 % (the AttnRes paper's)."));
  EXPECT_TRUE(
      line_of(evaluate(quiet_study()), {0.01, 0.02, 0.03})
          .starts_with("`block_attnres`, single_pass: likely OK. It adds 2.0 % [1.0, 3.0] to "
                       "decode/1; the limit is 2.0 % (the AttnRes paper's). The median keeps the "
                       "limit, the high end does not."));
}

/// The number is that of the workload that decides about the quoted schedule; the word is about
/// all.
TEST(VerdictLines, SayWhatOtherSchedulesComeTo) {
  Study study = quiet_study();
  study.decode->sequences = {1, 8};
  study.decode->baseline_steps = {Seconds{1}, Seconds{1}};
  const Estimate<double> little{0.005, 0.01, 0.015};
  const Estimate<double> much{0.03, 0.04, 0.05};
  const auto others = [&](const Estimate<double>& at_eight) {
    Evaluation e = evaluate(study);
    for (StepRow& row : e.step) {
      const bool is_quoted = row.schedule == Schedule::single_pass;
      row.overhead = is_quoted ? much : row.workload == WorkloadId::decode(8) ? at_eight : little;
      if (is_quoted && row.workload == WorkloadId::decode(8)) row.overhead = little;
    }
    const std::string line = verdict_lines(e).front();
    return line.substr(line.find("two_phase"),
                       line.find(".", line.find("two_phase") + 12) - line.find("two_phase"));
  };
  EXPECT_EQ(others(little), "two_phase 1.0 % (keeps the limit)");
  EXPECT_EQ(others({0.01, 0.02, 0.03}), "two_phase 1.0 % (likely keeps the limit at decode/8)");
  EXPECT_EQ(others(much), "two_phase 1.0 % (breaks the limit at decode/8)");
  Evaluation e = evaluate(study);
  for (StepRow& row : e.step) row.overhead = much;
  EXPECT_NE(verdict_lines(e).front().find("two_phase 4.0 %."), std::string::npos)
      << "too much at both: " << verdict_lines(e).front();
}

TEST(DecisionText, HasWhatOthersMeasuredOfATrainingStep) {
  const std::string text = decision_text(evaluate(test::training_study()), {});
  EXPECT_NE(text.find("`mhc`: DeepSeek measured +6.7 % of a training step: four streams, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Predicted here, with 4 streams: +"), std::string::npos) << text;
}

TEST(VerdictLines, SayWhoseLimitItIs) {
  Study study = quiet_study();
  study.budgets = {{BudgetKind::decode_overhead, 0.05}};
  const std::string line = line_of(evaluate(study), {0.01, 0.02, 0.03});
  EXPECT_NE(line.find("the limit is 5.0 % (the scenario's)."), line.npos) << line;
}

TEST(VerdictLines, SayWhatDoesNotFitBeforeWhatItAdds) {
  Study study = quiet_study();
  study.model.architecture = test::kimi_k3();
  study.machine->memory_capacity = Bytes{1e9};
  const std::string line = verdict_lines(evaluate(study)).front();
  EXPECT_TRUE(
      line.starts_with("Out of memory with every scheme, the standard residual included: "
                       "decode/1 needs "))
      << line;
  EXPECT_NE(line.find(", and a device has 1.000 GB."), line.npos) << line;
  for (const std::string& other : verdict_lines(evaluate(study)))
    EXPECT_EQ(other.find("does not fit"), other.npos) << "it is said once: " << other;
}

/// Where nothing else is asked for, a training step that does not fit says so.
TEST(VerdictLines, SayThatTheStandardResidualDoesNotFitAlone) {
  Study study = test::training_study();
  study.budgets.clear();
  study.compare.clear();
  study.path = {Scheme{}, study.model.num_layers};
  study.schedule = Schedule::fused;
  study.machine->memory_capacity = Bytes{1e9};
  const std::vector<std::string> lines = verdict_lines(evaluate(study));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines.front().starts_with("Does not fit: training needs ")) << lines.front();
  EXPECT_NE(lines.front().find(", and a device has 1.000 GB."), std::string::npos) << lines.front();
}

/// The standard residual takes a gigabyte less than the bank of Full AttnRes.
TEST(VerdictLines, BlameTheSchemeWhereTheStandardResidualFits) {
  Study study = test::kimi_k3_study();
  study.budgets.clear();
  study.compare = {study.compare.back()};
  study.decode.reset();
  study.model.architecture = test::kimi_k3();
  Evaluation e = evaluate(study);
  Bytes standard, full;
  standard = memory_of(memory_rows(study, baseline_study(study).path), WorkloadId::prefill(),
                       Scheme{schemes::kStandard});
  full = memory_of(e.memory, WorkloadId::prefill(), study.compare.front().scheme);
  ASSERT_GT(full.value, standard.value);
  e.study.machine->memory_capacity = 0.5 * (standard + full);
  const std::string line = verdict_lines(e).back();
  EXPECT_TRUE(line.starts_with("`full_attnres`, ")) << line;
  EXPECT_NE(line.find(": does not fit at prefill: prefill needs "), line.npos) << line;
  EXPECT_NE(line.find("; with the standard residual it fits."), line.npos) << line;
}

/// One sequence fits with the standard residual, 512 do not.
TEST(VerdictLines, SayWhereTheStandardResidualFits) {
  Study study = test::kimi_k3_study();
  study.budgets.clear();
  study.compare = {study.compare.back()};
  study.prefill.reset();
  study.decode->sequences = {1, 512};
  study.decode->baseline_steps.clear();
  study.model.architecture = test::kimi_k3();
  Evaluation e = evaluate(study);
  const WorkloadId one = WorkloadId::decode(1);
  const Bytes standard =
      memory_of(memory_rows(study, baseline_study(study).path), one, Scheme{schemes::kStandard});
  const Bytes full = memory_of(e.memory, one, study.compare.front().scheme);
  ASSERT_GT(full.value, standard.value);
  e.study.machine->memory_capacity = 0.5 * (standard + full);
  const std::string line = verdict_lines(e).back();
  EXPECT_NE(line.find(": does not fit at decode/1, decode/512: decode/1 needs "), line.npos)
      << line;
  EXPECT_NE(line.find("; the standard residual fits at decode/1 alone."), line.npos) << line;
}

/// Without an architecture the residual path alone is counted, and may be too large by itself.
TEST(VerdictLines, SayThatATrainingStepOfUnknownLayersDoesNotFit) {
  Study study = test::training_study();
  study.budgets.clear();
  study.model.architecture.reset();
  Evaluation e = evaluate(study);
  e.study.machine->memory_capacity = Bytes{1};
  e = evaluate(e.study);
  EXPECT_TRUE(
      verdict_lines(e).back().starts_with("Out of memory with every scheme, the standard "
                                          "residual included: training needs "))
      << verdict_lines(e).back();
}

TEST(VerdictLines, SayWhatIsMissing) {
  Study study = quiet_study();
  study.machine.reset();
  EXPECT_EQ(
      verdict_lines(evaluate(study)).front(),
      "`block_attnres`, single_pass: unknown: no hardware is given (--hardware h100_sxm, or in a "
      "file hardware: h100_sxm).");
}

TEST(CostTable, BeginsEachWorkloadWithTheStepItself) {
  const Evaluation e = evaluate(test::kimi_k3_study());
  const Table table = cost_table(e);
  ASSERT_FALSE(table.rows.empty());
  std::string workload;
  for (const std::vector<std::string>& row : table.rows) {
    if (row[0] != workload) {
      EXPECT_EQ(row[1], "standard (whole step)");
      EXPECT_EQ(row[3], row[2] == "not known" ? "-" : "100 %");
    } else {
      EXPECT_TRUE(row[2].starts_with('+') || row[2].starts_with('-')) << row[2];
    }
    workload = row[0];
    for (const std::string& cell : row) EXPECT_FALSE(cell.empty());
  }
}

TEST(CostTable, IsEmptyWithoutHardware) {
  Study study = quiet_study();
  study.machine.reset();
  EXPECT_TRUE(cost_table(evaluate(study)).rows.empty());
}

}  // namespace
}  // namespace depthcost::verdict_lines_test
