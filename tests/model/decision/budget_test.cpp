// Verdicts: intervals around a limit, missing values, and whether the suggested change keeps the
// limit.
#include "model/decision/budget.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "model/schemes/list.hpp"
#include "tests/studies.hpp"

namespace depthcost::budget_test {
namespace {

struct Overhead {
  WorkloadId workload;
  double low = 0;
  double high = 0;
  Schedule schedule = Schedule::single_pass;
};

Study asking(BudgetKind kind, double limit) {
  Study study = test::kimi_k3_study();
  study.budgets = {{kind, limit}};
  return study;
}

/// The row of the study's only budget, against steps with these overheads.
BudgetRow judged(const Study& study, const std::vector<Overhead>& overheads) {
  std::vector<StepRow> steps;
  for (const Overhead& o : overheads)
    steps.push_back({.workload = o.workload,
                     .path = &study.path,
                     .schedule = o.schedule,
                     .overhead = Estimate<double>{o.low, (o.low + o.high) / 2, o.high}});
  return budget_rows({study, steps, {}}).front();
}

/// As above, against what the study itself predicts.
BudgetRow predicted(const Study& study) {
  std::vector<StepRow> steps;
  for (const Schedule schedule : study.path.scheme.rule->schedules)
    for (const StepRow& row : step_rows(study, study.path, schedule)) steps.push_back(row);
  return budget_rows({study, steps, memory_rows(study, study.path)}).front();
}

TEST(Verdict, IsPassBelowFailAboveAndUnknownAcrossTheLimit) {
  const Study study = asking(BudgetKind::decode_overhead, 0.02);
  const BudgetRow pass = judged(study, {{WorkloadId::decode(1), 0.01, 0.02}});
  EXPECT_EQ(pass.verdict, Verdict::pass);
  EXPECT_EQ(margin(pass), 0.0);
  EXPECT_EQ(pass.reason, "");
  EXPECT_TRUE(pass.remedies.empty());
  const BudgetRow unknown = judged(study, {{WorkloadId::decode(1), 0.02, 0.03}});
  EXPECT_EQ(unknown.verdict, Verdict::unknown);
  EXPECT_EQ(unknown.reason, "the limit lies inside the interval");
  EXPECT_DOUBLE_EQ(margin(unknown).value(), -0.01);
  const BudgetRow fail = judged(study, {{WorkloadId::decode(1), 0.021, 0.03}});
  EXPECT_EQ(fail.verdict, Verdict::fail);
  EXPECT_EQ(fail.low, 0.021);
  EXPECT_EQ(fail.high, 0.03);
}

TEST(Verdict, HasANameForEach) {
  EXPECT_EQ(name(Verdict::pass), "pass");
  EXPECT_EQ(name(Verdict::fail), "fail");
  EXPECT_EQ(name(Verdict::unknown), "unknown");
}

TEST(OverheadBudget, IsHeldAgainstTheLargestOverTheBatches) {
  const Study study = asking(BudgetKind::decode_overhead, 0.02);
  const BudgetRow row = judged(study, {{WorkloadId::decode(1), 0.001, 0.002},
                                       {WorkloadId::decode(512), 0.03, 0.04},
                                       {WorkloadId::decode(64), 0.005, 0.006}});
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_EQ(row.reason, "largest at decode/512");
  EXPECT_EQ(row.high, 0.04);
}

// The widest interval is not the one that breaks the limit.
TEST(OverheadBudget, TakesEachEndFromTheBatchWhereItIsLargest) {
  const Study study = asking(BudgetKind::decode_overhead, 0.02);
  const BudgetRow row =
      judged(study, {{WorkloadId::decode(1), 0.01, 0.05}, {WorkloadId::decode(64), 0.03, 0.04}});
  EXPECT_EQ(row.low, 0.03);
  EXPECT_EQ(row.high, 0.05);
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_EQ(row.reason, "largest at decode/64");
}

TEST(OverheadBudget, LooksAtItsOwnWorkloadScheduleAndScheme) {
  Study study = asking(BudgetKind::prefill_overhead, 0.02);
  const std::vector<Overhead> overheads{{WorkloadId::prefill(), 0.01, 0.015},
                                        {WorkloadId::decode(1), 0.5, 0.6},
                                        {WorkloadId::prefill(), 0.5, 0.6, Schedule::unfused}};
  EXPECT_EQ(judged(study, overheads).verdict, Verdict::pass);
  study.schedule = Schedule::unfused;
  EXPECT_EQ(judged(study, overheads).verdict, Verdict::fail);
  const std::vector<StepRow> mhc{{.workload = WorkloadId::prefill(),
                                  .path = &study.compare[1],
                                  .schedule = Schedule::unfused,
                                  .overhead = Estimate<double>{}}};
  EXPECT_EQ(budget_rows({study, mhc, {}}).front().verdict, Verdict::unknown);
}

using Remedies = std::vector<Remedy>;

/// The other schedule keeps the limit at the batch that fits. At the other one nobody knows.
TEST(OverheadBudget, NamesNoScheduleWhereABatchDoesNotFit) {
  const Study study = asking(BudgetKind::decode_overhead, 0.02);
  const auto row = [&](Count batch, Schedule schedule, std::optional<double> overhead) {
    StepRow step{.workload = WorkloadId::decode(batch),
                 .path = &study.path,
                 .schedule = schedule,
                 .baseline_step = Estimate<Seconds>{}};
    if (overhead) step.overhead = Estimate<double>{*overhead, *overhead, *overhead, {}};
    if (!overhead) step.missing = "decode/512 does not fit into the device's memory";
    return step;
  };
  std::vector<StepRow> steps{row(1, study.schedule, 0.05), row(1, Schedule::two_phase, 0.01)};
  EXPECT_FALSE(budget_rows({study, steps, {}}).front().remedies.empty());
  steps.push_back(row(512, study.schedule, std::nullopt));
  steps.push_back(row(512, Schedule::two_phase, std::nullopt));
  EXPECT_TRUE(budget_rows({study, steps, {}}).front().remedies.empty());
}

TEST(OverheadBudget, NamesTheCheapestScheduleThatWouldKeepIt) {
  const Study study = asking(BudgetKind::decode_overhead, 0.02);
  const std::vector<Overhead> single{{WorkloadId::decode(1), 0.03, 0.04},
                                     {WorkloadId::decode(64), 0.03, 0.04}};
  const auto with = [&](std::vector<Overhead> others) {
    others.insert(others.begin(), single.begin(), single.end());
    return judged(study, others).remedies;
  };
  EXPECT_EQ(with({}), Remedies{});
  EXPECT_EQ(with({{WorkloadId::decode(1), 0.01, 0.02, Schedule::two_phase}}),
            (Remedies{{"schedule two_phase", Kept::surely}}));
  EXPECT_EQ(with({{WorkloadId::decode(1), 0.01, 0.02, Schedule::two_phase},
                  {WorkloadId::decode(64), 0.01, 0.03, Schedule::two_phase}}),
            (Remedies{{"schedule two_phase", Kept::likely}}))
      << "with its median at every batch";
  EXPECT_EQ(with({{WorkloadId::decode(1), 0.01, 0.015, Schedule::unfused},
                  {WorkloadId::decode(1), 0.01, 0.014, Schedule::two_phase}}),
            (Remedies{{"schedule two_phase", Kept::surely}}));
  EXPECT_EQ(with({{WorkloadId::decode(1), 0.01, 0.013, Schedule::unfused},
                  {WorkloadId::decode(1), 0.01, 0.014, Schedule::two_phase}}),
            (Remedies{{"schedule unfused", Kept::surely}}));
}

TEST(OverheadBudget, ThatNamesAScheduleHoldsWithIt) {
  Study study = asking(BudgetKind::prefill_overhead, 0);
  study.prefill->baseline_step = Seconds{1};
  study.schedule = Schedule::unfused;
  study.budgets[0].limit = 1.01 * *[&] {
    Study fused = study;
    fused.schedule = Schedule::two_phase;
    return predicted(fused).high;
  }();
  const BudgetRow row = predicted(study);
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_EQ(row.reason, "") << "there is one prefill";
  ASSERT_EQ(row.remedies, (Remedies{{"schedule two_phase", Kept::surely}}));
  study.schedule = Schedule::two_phase;
  EXPECT_EQ(predicted(study).verdict, Verdict::pass);
}

void expect_nothing_known(const BudgetRow& row, const std::string& reason) {
  EXPECT_EQ(row.verdict, Verdict::unknown);
  EXPECT_EQ(row.reason, reason);
  EXPECT_FALSE(row.low);
  EXPECT_FALSE(row.high);
  EXPECT_FALSE(margin(row));
}

TEST(UnknownBudget, SaysWhatIsMissing) {
  Study study = asking(BudgetKind::prefill_overhead, 0.02);
  expect_nothing_known(
      predicted(study),
      "baseline_step.prefill is not given, and the model has no attention and mlp");
  study = asking(BudgetKind::decode_overhead, 0.02);
  study.decode->baseline_steps.clear();
  expect_nothing_known(predicted(study),
                       "baseline_step.decode is not given, and the model has no attention and mlp");
  study.machine.reset();
  expect_nothing_known(predicted(study), "the scenario has no hardware");
  study.decode.reset();
  expect_nothing_known(predicted(study), "the scenario has no decode workload");
  study = asking(BudgetKind::prefill_overhead, 0.02);
  study.prefill.reset();
  expect_nothing_known(predicted(study), "the scenario has no prefill workload");
  study.budgets[0].kind = BudgetKind::prefill_bank;
  expect_nothing_known(predicted(study), "the scenario has no prefill workload");
  study.budgets[0].kind = BudgetKind::training_overhead;
  expect_nothing_known(predicted(study), "the scenario has no training workload");
  study.budgets[0].kind = BudgetKind::pipeline_peak;
  expect_nothing_known(predicted(study), "the scenario has no pipeline");
  study.budgets[0].kind = BudgetKind::device_memory;
  study.decode.reset();
  expect_nothing_known(predicted(study), "the scenario has no workload");
}

// 2,048 tokens of 7,168 elements in bf16 on each device: 9 of them with b_0.
constexpr double kVector = 2048.0 * 7168 * 2;

TEST(PrefillBudgets, CountTheBankWithB0AndPhase1OutputsInThePeakAlone) {
  Study study = asking(BudgetKind::prefill_bank, 9 * kVector);
  study.schedule = Schedule::two_phase;
  EXPECT_EQ(predicted(study).verdict, Verdict::pass);
  EXPECT_EQ(predicted(study).high, 9 * kVector);
  study.budgets = {{BudgetKind::prefill_peak, 9 * kVector}};
  EXPECT_EQ(predicted(study).verdict, Verdict::fail);
  EXPECT_EQ(predicted(study).low, 9 * kVector + 24 * (kVector + 2048 * 8));
}

TEST(PrefillBudgets, CountWhatASchemeWithoutABankCarries) {
  Study study = asking(BudgetKind::prefill_bank, 4 * kVector);
  study.path = {Scheme{schemes::kMhc, {.num_streams = 4}}, 186};
  study.schedule = Schedule::fused;
  EXPECT_EQ(predicted(study).high, 4 * kVector);
  EXPECT_EQ(predicted(study).verdict, Verdict::pass);
}

TEST(PrefillBudgets, NameNoChunkWhereNotOneTokenFits) {
  const BudgetRow row = predicted(asking(BudgetKind::prefill_bank, 9 * 7168 * 2 - 1));
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_TRUE(row.remedies.empty());
}

RC_GTEST_PROP(PrefillBudgets, NameTheLongestChunkThatKeepsThem, ()) {
  Study study = asking(*rc::gen::element(BudgetKind::prefill_bank, BudgetKind::prefill_peak), 0);
  study.schedule = *rc::gen::element(Schedule::single_pass, Schedule::two_phase);
  study.model.hidden_size = *rc::gen::inRange<Count>(1, 9000);
  study.prefill->tokens = *rc::gen::inRange<Count>(1, 200'000);
  study.prefill->chunk =
      *rc::gen::element<std::optional<Count>>(std::nullopt, *rc::gen::inRange<Count>(1, 200'000));
  study.prefill->sequence_shards = *rc::gen::inRange<Count>(1, 17);
  study.budgets[0].limit = *rc::gen::inRange(1, 2'000'000'000);
  const BudgetRow row = predicted(study);
  RC_PRE(row.verdict == Verdict::fail);
  const auto verdict_with = [&](Count chunk) {
    study.prefill->chunk = chunk;
    return predicted(study).verdict;
  };
  long chunk = 0;
  if (!row.remedies.empty() &&
      std::sscanf(row.remedies.front().change.c_str(), "a chunk of %ld tokens", &chunk) == 1)
    RC_ASSERT(verdict_with(chunk) == Verdict::pass);
  RC_ASSERT(verdict_with(chunk + 1) == Verdict::fail);
}

TEST(PipelineBudget, IsThePeakOfABoundaryInBytesPerToken) {
  const Study study = asking(BudgetKind::pipeline_peak, 9 * 7168 * 2);
  PipelineTraffic payload;
  payload.peak = 9;
  EXPECT_EQ(budget_rows({study, {}, {}, &payload}).front().verdict, Verdict::pass);
  payload.peak = 10;
  EXPECT_EQ(budget_rows({study, {}, {}, &payload}).front().verdict, Verdict::fail);
  EXPECT_EQ(budget_rows({study, {}, {}, &payload}).front().low, 10 * 7168 * 2.0);
}

/// Bytes of the boundary of ten vectors.
double boundary(const Study& study) {
  PipelineTraffic payload;
  payload.peak = 10;
  return budget_rows({study, {}, {}, &payload}).front().low.value();
}

TEST(PipelineBudget, IsInTheTypeOfTheWireWhereTheStudyTrains) {
  Study study = asking(BudgetKind::pipeline_peak, 1e9);
  study.training = Training{.wire_dtype = Dtype::f32};
  EXPECT_EQ(boundary(study), 10 * 7168 * 4.0);
  study.training->wire_dtype = Dtype::fp8;
  EXPECT_EQ(boundary(study), 10 * 7168 * 2.0) << "decode and prefill send in the model's";
  study.decode.reset();
  study.prefill.reset();
  EXPECT_EQ(boundary(study), 10 * 7168 * 1.0);
}

/// Nine vectors of the prefill's tokens, and the queries and gains of the fullest stage in f32.
const double kHeld = 9 * kVector + 187.0 * 2 * 7168 * 4 * 24 / 93;

TEST(DeviceMemory, NeverPassesBecauseTheRestIsNotCounted) {
  Study study = asking(BudgetKind::device_memory, 0);
  const BudgetRow row = predicted(study);
  EXPECT_EQ(row.verdict, Verdict::unknown);
  EXPECT_EQ(row.budget.limit, 100e9);
  EXPECT_EQ(row.low, kHeld);  // of the prefill, not the sum over workloads
  EXPECT_FALSE(row.high);
  EXPECT_EQ(row.reason, "the model has no attention and mlp, so that its weights are not counted");
  study.machine->memory_capacity = Bytes{kHeld};
  EXPECT_EQ(predicted(study).verdict, Verdict::unknown);
}

TEST(DeviceMemory, FailsWhereTheBankAloneIsTooLarge) {
  Study study = asking(BudgetKind::device_memory, 0);
  study.machine->memory_capacity = Bytes{kHeld - 1};
  const BudgetRow row = predicted(study);
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_EQ(row.reason, "largest at prefill");
  EXPECT_EQ(margin(row), -1.0);
}

TEST(DeviceMemory, IsKnownFromBelowWithoutACapacity) {
  Study study = asking(BudgetKind::device_memory, 0);
  study.machine->memory_capacity.reset();
  const BudgetRow row = predicted(study);
  EXPECT_EQ(row.verdict, Verdict::unknown);
  EXPECT_EQ(row.low, kHeld);
  EXPECT_EQ(row.reason, "the hardware has no memory capacity");
}

/// No per cents of a step that no device can run; of a measured one somebody has run it.
TEST(Budgets, OfATrainingStepThatDoesNotFitAreUnknown) {
  Study study = test::as_llama_8b(test::training_study());
  study.budgets = {{BudgetKind::training_overhead, 10}};
  study.machine->memory_capacity = Bytes{1e15};
  EXPECT_EQ(evaluate_budgets(study).budgets.front().verdict, Verdict::pass);
  study.machine->memory_capacity = Bytes{1e9};
  const BudgetRow row = evaluate_budgets(study).budgets.front();
  EXPECT_EQ(row.verdict, Verdict::unknown);
  EXPECT_EQ(row.reason, "training does not fit into the device's memory");
  EXPECT_FALSE(row.low);
  study.training->baseline_step = Seconds{1000};
  EXPECT_EQ(evaluate_budgets(study).budgets.front().verdict, Verdict::pass);
}

}  // namespace
}  // namespace depthcost::budget_test
