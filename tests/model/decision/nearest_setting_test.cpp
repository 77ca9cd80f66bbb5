// Which setting keeps a budget.
#include "model/decision/nearest_setting.hpp"

#include <gtest/gtest.h>

#include "model/decision/decided_budget.hpp"
#include "model/decision/remedies.hpp"
#include "tests/studies.hpp"

namespace depthcost::nearest_setting_test {
namespace {

/// Every setting of training otherwise than recipes have it.
Study unusual_training() {
  Study study = test::training_study();
  study.tensor_parallel_size = 8;
  study.layout = Layout::replicated;
  study.training->gradient_accumulation = GradientAccumulation::autograd;
  study.training->activations = ActivationPolicy::keep;
  study.training->sends = Sends::overlapped;
  return study;
}

Budget training_limit(double limit) {
  return {.kind = BudgetKind::training_overhead, .limit = limit};
}

bool surely_keeps(const Study& study, const Budget& budget) {
  return decided_for(study, budget).verdict == Verdict::pass;
}

/// The high end of the overhead, found by asking.
double least_kept(const Study& study) {
  double low = 0;
  double high = 10;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (surely_keeps(study, training_limit(middle)) ? high : low) = middle;
  }
  return high;
}

TEST(NearestSetting, IsTheOneThatSuffices) {
  const Study study = unusual_training();
  Study shared = study;
  shared.layout = Layout::sequence_sharded;
  const double as_it_is = least_kept(study);
  const double when_shared = least_kept(shared);
  ASSERT_LT(when_shared, as_it_is);
  const Remedy change = nearest_setting(study, training_limit(when_shared * 1.001));
  EXPECT_EQ(change.change, "residual.layout: sequence_sharded");
  EXPECT_EQ(change.kept, Kept::surely);
}

TEST(NearestSetting, IsAllOfThemWhereNoneSufficesAlone) {
  const Study study = unusual_training();
  Study usual = study;
  usual.layout = Layout::sequence_sharded;
  usual.training->gradient_accumulation = GradientAccumulation::fused;
  // Recomputing is usual too, and costs time here: it is not named.
  const std::string all =
      "residual.layout: sequence_sharded and workload.training.gradient_accumulation: fused";
  const Remedy change = nearest_setting(study, training_limit(least_kept(usual) * 1.001));
  EXPECT_EQ(change.change, all);
  EXPECT_EQ(change.kept, Kept::surely);
  const Remedy hopeless = nearest_setting(study, training_limit(1e-9));
  EXPECT_EQ(hopeless.change, all);
  EXPECT_EQ(hopeless.kept, Kept::no);
}

TEST(NearestSetting, IsNoneThatRaisesTheNumber) {
  Study per_block = test::training_study();
  per_block.layout.reset();
  per_block.training->gradient_accumulation = GradientAccumulation::per_block;
  Study fused = per_block;
  fused.training->gradient_accumulation = GradientAccumulation::fused;
  ASSERT_GT(least_kept(fused), least_kept(per_block));
  EXPECT_EQ(nearest_setting(per_block, training_limit(1e-9)).change, "");
}

TEST(NearestSetting, IsOneThatLikelyKeepsItWhereNoneSurelyDoes) {
  Study fused = test::training_study();
  fused.layout.reset();
  Study per_block = fused;
  per_block.training->gradient_accumulation = GradientAccumulation::per_block;
  const double now = *decided_for(fused, training_limit(1)).middle;
  const double then = *decided_for(per_block, training_limit(1)).middle;
  ASSERT_LT(then, now);
  const Remedy change = nearest_setting(fused, training_limit(then * 1.0001));
  EXPECT_EQ(change.change, "workload.training.gradient_accumulation: per_block");
  EXPECT_EQ(change.kept, Kept::likely);
}

TEST(NearestSetting, IsNothingWhereNothingDeparts) {
  Study usual = unusual_training();
  usual.layout.reset();
  usual.training->gradient_accumulation = GradientAccumulation::fused;
  usual.training->activations = ActivationPolicy::recompute;
  EXPECT_EQ(nearest_setting(usual, training_limit(1e-9)).change, "");
}

TEST(NearestSetting, GoesBeyondTheUsualOnesWhereNothingDeparts) {
  Study usual = test::training_study();
  usual.layout.reset();
  usual.training->gradient_accumulation = GradientAccumulation::fused;
  usual.training->activations = ActivationPolicy::recompute;
  Study per_block = usual;
  per_block.training->gradient_accumulation = GradientAccumulation::per_block;
  const double kept = least_kept(per_block);
  ASSERT_LT(kept, least_kept(usual));
  const Remedy change = nearest_setting(usual, training_limit(kept * 1.001));
  EXPECT_EQ(change.change, "workload.training.gradient_accumulation: per_block");
  EXPECT_EQ(change.kept, Kept::surely);
}

TEST(NearestSetting, FoldsAStandaloneKernelThatIsHeldAgainstAFoldedOne) {
  Study study = test::kimi_k3_study();
  study.pipeline.reset();
  study.prefill.reset();
  study.attachment = study.path.attachment = Attachment::standalone;
  study.baseline_attachment = Attachment::all_reduce;
  Study folded = study;
  folded.attachment = folded.path.attachment = Attachment::all_reduce;
  const Budget budget{.kind = BudgetKind::decode_overhead, .limit = 1};
  for (double limit = 1; limit > 1e-6; limit /= 1.05) {
    Budget asked = budget;
    asked.limit = limit;
    if (surely_keeps(study, asked)) continue;
    ASSERT_TRUE(surely_keeps(folded, asked)) << limit;
    EXPECT_EQ(nearest_setting(study, asked).change, "residual.attach: all_reduce");
    return;
  }
  FAIL() << "no limit lies between the two";
}

/// A chunk of a prompt that every rank holds whole.
TEST(NearestSetting, SharesOutAChunkOfAPrompt) {
  Study study = test::kimi_k3_study();
  study.tensor_parallel_size = 8;
  study.decode->prompt = PromptChunk{.tokens = 512};
  study.layout = Layout::sequence_sharded;
  Budget limit{.kind = BudgetKind::decode_overhead, .limit = 1};
  const BudgetRow shared = decided_for(study, limit);
  ASSERT_TRUE(shared.high);
  limit.limit = *shared.high * 1.001;
  study.layout = {};
  ASSERT_FALSE(surely_keeps(study, limit));
  EXPECT_EQ(nearest_setting(study, limit).change, "residual.layout: sequence_sharded");
}

TEST(Remedies, NameASettingBeforeABlockSize) {
  const Study study = unusual_training();
  Study shared = study;
  shared.layout = Layout::sequence_sharded;
  std::vector<BudgetRow> rows(1);
  rows.front().budget = training_limit(least_kept(shared) * 1.001);
  rows.front().verdict = Verdict::fail;
  rows.front().low = rows.front().high = 10;
  name_remedies(study, rows);
  EXPECT_EQ(rows.front().remedies,
            (std::vector<Remedy>{{"residual.layout: sequence_sharded", Kept::surely}}));
}

TEST(Remedies, SayWhatHelpsWithoutSufficing) {
  std::vector<BudgetRow> rows(1);
  rows.front().budget = training_limit(1e-9);
  rows.front().verdict = Verdict::fail;
  rows.front().low = rows.front().high = 10;
  Study study = unusual_training();
  study.training->gradient_accumulation = GradientAccumulation::fused;
  study.training->activations = ActivationPolicy::recompute;
  name_remedies(study, rows);
  EXPECT_EQ(rows.front().remedies,
            (std::vector<Remedy>{{"residual.layout: sequence_sharded", Kept::no}}));
}

/// A decode step that fits does not make a training step fit.
TEST(NearestSetting, DoesNotKeepMemoryThatTrainingFills) {
  Study study = unusual_training();
  study.decode = Decode{.sequences = {1}, .context = 1000};
  study.machine->memory_capacity = Bytes{80e9};
  study.training->micro_batch_size = 1'000'000;
  const Budget fits{.kind = BudgetKind::device_memory};
  EXPECT_EQ(decided_for(study, fits).verdict, Verdict::fail);
  EXPECT_EQ(nearest_setting(study, fits).kept, Kept::no);
}

}  // namespace
}  // namespace depthcost::nearest_setting_test
