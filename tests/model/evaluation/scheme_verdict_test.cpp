// One word a scheme: memory before the scenario's other budgets, and these before time.
#include "model/evaluation/scheme_verdict.hpp"

#include <gtest/gtest.h>

#include "model/schemes/list.hpp"
#include "tests/studies.hpp"

namespace depthcost::scheme_verdict_test {
namespace {

/// Kimi K3's study whose every overhead is the same.
Evaluation with_overhead(const Estimate<double>& overhead, Study study = test::kimi_k3_study()) {
  study.budgets.clear();
  Evaluation e = evaluate(study);
  for (StepRow& row : e.step) row.overhead = overhead;
  return e;
}

SchemeVerdict first_of(const Evaluation& e) { return scheme_verdicts(e).front(); }

constexpr Estimate<double> kLittle{0.005, 0.01, 0.015};
constexpr Estimate<double> kAbout{0.01, 0.02, 0.03};
constexpr Estimate<double> kAbove{0.01, 0.0201, 0.03};
constexpr Estimate<double> kMuch{0.03, 0.04, 0.05};

TEST(SchemeVerdicts, AreOfEverySchemeButTheBaseline) {
  const Evaluation e = with_overhead(kLittle);
  const auto verdicts = scheme_verdicts(e);
  ASSERT_EQ(e.paths.size(), 4u);
  ASSERT_EQ(verdicts.size(), 3u);
  for (const SchemeVerdict& verdict : verdicts) EXPECT_FALSE(is_standard(verdict.path->scheme));
}

TEST(SchemeVerdicts, HoldBothEndsToThePapersLimit) {
  for (const auto& [overhead, fate] : {std::pair{kLittle, Fate::ok},
                                       {kAbout, Fate::likely_ok},
                                       {kAbove, Fate::likely_too_much},
                                       {kMuch, Fate::too_much}}) {
    const Evaluation e = with_overhead(overhead);
    const SchemeVerdict verdict = first_of(e);
    EXPECT_EQ(verdict.fate, fate);
    ASSERT_TRUE(verdict.time);
    EXPECT_EQ(verdict.time->budget.limit, 0.02);
    EXPECT_EQ(verdict.time->budget.origin, BudgetOrigin::assumed);
  }
}

TEST(SchemeVerdicts, HoldToTheScenariosLimitWhereItSetsOne) {
  Evaluation e = with_overhead(kMuch);
  e.study.budgets = {{BudgetKind::decode_overhead, 0.06}, {BudgetKind::prefill_overhead, 0.07}};
  const SchemeVerdict verdict = first_of(e);
  EXPECT_EQ(verdict.fate, Fate::ok);
  // The nearer of the two.
  EXPECT_EQ(verdict.time->budget.kind, BudgetKind::decode_overhead);
  EXPECT_EQ(verdict.time->budget.origin, BudgetOrigin::written);
}

TEST(SchemeVerdicts, HoldTrainingToFourPerCent) {
  Study study = test::training_study();
  study.machine->memory_capacity = Bytes{1e13};
  const Evaluation e = with_overhead({0.025, 0.03, 0.035}, study);
  EXPECT_EQ(first_of(e).fate, Fate::ok);
  EXPECT_EQ(first_of(e).time->budget.limit, 0.04);
  // Eight devices do not hold the model's state.
  EXPECT_EQ(first_of(with_overhead({0.025, 0.03, 0.035}, test::training_study())).fate,
            Fate::does_not_fit);
}

TEST(SchemeVerdicts, AreDecidedByTheLargestPoint) {
  Evaluation e = with_overhead(kLittle);
  const Schedule quoted = quoted_schedule(e.study, e.paths.front());
  for (StepRow& row : e.step)
    if (row.path == &e.paths.front() && row.schedule == quoted &&
        row.workload == WorkloadId::prefill())
      row.overhead = kMuch;
  EXPECT_EQ(first_of(e).fate, Fate::too_much);
  EXPECT_EQ(first_of(e).time->at->workload, WorkloadId::prefill());
}

TEST(SchemeVerdicts, PutMemoryBeforeTime) {
  Evaluation e = with_overhead(kLittle);
  e.study.machine->memory_capacity = Bytes{1};
  const SchemeVerdict verdict = first_of(e);
  EXPECT_EQ(verdict.fate, Fate::does_not_fit);
  ASSERT_TRUE(verdict.memory);
  EXPECT_EQ(verdict.memory->verdict, Verdict::fail);
  EXPECT_EQ(verdict.time->verdict, Verdict::pass);
}

TEST(SchemeVerdicts, KnowTheOtherBudgetsOfTheStudysScheme) {
  Evaluation e = with_overhead(kLittle);
  e.budgets = {{{BudgetKind::prefill_peak, 1e9}, 2e9, 2e9, Verdict::fail, "", {{"a chunk"}}}};
  const auto verdicts = scheme_verdicts(e);
  EXPECT_EQ(verdicts.front().fate, Fate::too_much);
  EXPECT_EQ(verdicts.front().remedies, (std::vector<Remedy>{{"a chunk"}}));
  EXPECT_EQ(verdicts.back().fate, Fate::ok);
  EXPECT_FALSE(verdicts.back().written);
}

TEST(SchemeVerdicts, SayWhatIsMissing) {
  Study study = test::kimi_k3_study();
  study.machine.reset();
  const Evaluation without = evaluate(study);
  EXPECT_EQ(first_of(without).fate, Fate::unknown);
  EXPECT_EQ(first_of(without).missing,
            "no hardware is given (--hardware h100_sxm, or in a file hardware: h100_sxm)");
  study = test::kimi_k3_study();
  study.decode.reset();
  study.prefill.reset();
  const Evaluation idle = evaluate(study);
  EXPECT_EQ(first_of(idle).missing, "no workload is given");
}

/// Only two_phase keeps the limit.
TEST(SchemeVerdicts, NameAScheduleThatWouldHelp) {
  Evaluation e = with_overhead(kMuch);
  for (StepRow& row : e.step)
    if (row.schedule == Schedule::two_phase) row.overhead = kLittle;
  EXPECT_EQ(first_of(e).remedies, (std::vector<Remedy>{{"schedule two_phase", Kept::surely}}));
}

}  // namespace
}  // namespace depthcost::scheme_verdict_test
