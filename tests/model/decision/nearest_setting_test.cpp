// Which setting keeps a budget.
#include "model/decision/nearest_setting.hpp"

#include <gtest/gtest.h>

#include "model/decision/kept_budget.hpp"
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
  EXPECT_EQ(nearest_setting(study, training_limit(when_shared * 1.001)),
            "residual.layout: sequence_sharded");
}

TEST(NearestSetting, IsAllOfThemWhereNoneSufficesAlone) {
  const Study study = unusual_training();
  Study usual = study;
  usual.layout = Layout::sequence_sharded;
  usual.training->gradient_accumulation = GradientAccumulation::fused;
  usual.training->activations = ActivationPolicy::recompute;
  EXPECT_EQ(nearest_setting(study, training_limit(least_kept(usual) * 1.001)),
            "residual.layout: sequence_sharded and workload.training.gradient_accumulation: fused "
            "and workload.training.activations: recompute");
  EXPECT_EQ(nearest_setting(study, training_limit(1e-9)), "");
}

TEST(NearestSetting, IsNothingWhereNothingDeparts) {
  Study usual = unusual_training();
  usual.layout.reset();
  usual.training->gradient_accumulation = GradientAccumulation::fused;
  usual.training->activations = ActivationPolicy::recompute;
  EXPECT_EQ(nearest_setting(usual, training_limit(1e-9)), "");
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
    EXPECT_EQ(nearest_setting(study, asked), "residual.attach: all_reduce");
    return;
  }
  FAIL() << "no limit lies between the two";
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
  EXPECT_EQ(rows.front().nearest, "residual.layout: sequence_sharded would keep it");
}

}  // namespace
}  // namespace depthcost::nearest_setting_test
