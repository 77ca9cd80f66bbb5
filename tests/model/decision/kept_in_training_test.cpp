// Small training steps by hand: four layers in two blocks, 16 tokens of 256 elements.
#include "model/decision/kept_in_training.hpp"

#include <gtest/gtest.h>

#include "model/decision/budget.hpp"
#include "model/decision/claim.hpp"
#include "model/schemes/list.hpp"
#include "tests/studies.hpp"

namespace depthcost::kept_in_training_test {
namespace {

constexpr double kVector = 16 * 256 * 2;
constexpr double kScalar = 16 * 4;

Study four_layers() {
  Study study = test::kimi_k3_study();
  study.model = {.name = "small", .num_layers = 4, .hidden_size = 256};
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(4, 2)}}, 4};
  study.compare.clear();
  study.pipeline.reset();
  study.tensor_parallel_size = 1;
  study.decode.reset();
  study.prefill.reset();
  study.training = Training{.sequence_length = 16};
  study.budgets.clear();
  return study;
}

Study two_stages() {
  Study study = four_layers();
  study.pipeline = PipelineLayout{2, 1, {2, 2}};
  return study;
}

constexpr double kStandard = 4 * (2 * kVector + kScalar);  // h, x and the norm's statistic

KeptOnStage only(const Study& study, BudgetKind kind) {
  const auto stages = kept_in_training(study, kind);
  EXPECT_EQ(stages.size(), 1u);
  return stages.front();
}

// Five mixes with the output's, h and x of each; two blocks and two partial sums; eleven sources.
TEST(AddedActivations, AreThoseOfBlocksPartialSumsAndTheOutput) {
  const KeptOnStage kept = only(four_layers(), BudgetKind::added_activations);
  EXPECT_EQ(kept.standard.value, kStandard);
  EXPECT_EQ(kept.bytes.value, (5 * 2 + 2 + 2) * kVector + (2 * 11 + 5) * kScalar - kStandard);
  EXPECT_EQ(kept.share(), kept.bytes.value / kStandard);
}

// Every layer's output is a source: 15 of them.
TEST(AddedActivations, OfFullAttnResAreTheOutputsOfAllLayers) {
  Study study = four_layers();
  study.path = {Scheme{schemes::kFullAttnRes, {.blocks = partition_by_size(4, 2)}}, 4};
  EXPECT_EQ(only(study, BudgetKind::added_activations).bytes.value,
            (5 * 2 + 4) * kVector + (2 * 15 + 5) * kScalar - kStandard);
}

// Four vectors for four layers, as the standard residual. One h more is made again at a time.
TEST(AddedActivations, AreOneMixWhereTheyAreMadeAgain) {
  Study study = four_layers();
  study.training->activations = ActivationPolicy::recompute;
  const KeptOnStage kept = only(study, BudgetKind::added_activations);
  EXPECT_EQ(kept.standard.value, 5 * kVector + kScalar);
  EXPECT_EQ(kept.bytes.value, kVector + 2 * 3 * kScalar);
}

// b_0 on the first stage, b_0 and b_1 on the second.
TEST(PipelineCache, IsWhatEveryStageReceives) {
  const auto stages = kept_in_training(two_stages(), BudgetKind::pipeline_cache);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].bytes.value, kVector);
  EXPECT_EQ(stages[1].bytes.value, 2 * kVector);
  EXPECT_EQ(stages[1].standard.value, kStandard / 2);
  EXPECT_EQ(largest_share(stages).stage, 1);
}

TEST(KeptInTraining, LeavesOutAStageWithoutLayers) {
  Study study = two_stages();
  study.pipeline->chunk_layers = {4, 0};
  const auto stages = kept_in_training(study, BudgetKind::pipeline_cache);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].stage, 0);
}

// 30 of 50 + 250 is a tenth; 10 of 100 already is.
TEST(LeastKeptByLayers, BringsTheWorstStageToTheLimit) {
  const std::vector<KeptOnStage> stages{{0, Bytes{10}, Bytes{100}}, {1, Bytes{30}, Bytes{50}}};
  EXPECT_DOUBLE_EQ(least_kept_by_layers(stages, 0.1).value, 250);
  EXPECT_EQ(least_kept_by_layers({stages.front()}, 0.5).value, 0);
}

BudgetRow decided_for(const Study& study, BudgetKind kind, double limit) {
  return decided_row({kind, limit}, {study, {}, {}});
}

TEST(KeptBudgets, AreHeldAgainstTheWorstStage) {
  constexpr double kShare = 2 * kVector / (kStandard / 2);
  const BudgetRow kept = decided_for(two_stages(), BudgetKind::pipeline_cache, kShare);
  EXPECT_EQ(kept.verdict, Verdict::pass);
  EXPECT_EQ(kept.low, kShare);
  EXPECT_EQ(kept.high, kShare);
  EXPECT_EQ(kept.reason, "");
  const BudgetRow broken = decided_for(two_stages(), BudgetKind::pipeline_cache, 0.99 * kShare);
  EXPECT_EQ(broken.verdict, Verdict::fail);
  EXPECT_EQ(
      broken.reason,
      "largest on stage 1: 1.638e-05 GB over the 3.29e-05 GB that the standard residual keeps; "
      "activations of the layers are not counted");
}

TEST(KeptBudgets, SayWhatTheyLack) {
  const auto reason = [](const Study& study, BudgetKind kind) {
    const BudgetRow row = decided_for(study, kind, 0.01);
    EXPECT_EQ(row.verdict, Verdict::unknown);
    EXPECT_FALSE(row.low);
    return row.reason;
  };
  EXPECT_EQ(reason(four_layers(), BudgetKind::pipeline_cache), "the scenario has no pipeline");
  const Study untrained = test::kimi_k3_study();
  for (const BudgetKind kind : {BudgetKind::added_activations, BudgetKind::pipeline_cache})
    EXPECT_EQ(reason(untrained, kind), "the scenario has no training workload");
}

ClaimRow claimed(Study study, BudgetKind kind, double limit) {
  study.claim = "it is small";
  study.budgets = {{kind, limit}};
  return claim_rows(study, {}).front();
}

TEST(ClaimOnMemory, HoldsOnlyBesideLayersThatKeepEnough) {
  const ClaimRow row = claimed(two_stages(), BudgetKind::pipeline_cache, 0.01);
  EXPECT_EQ(row.verdict, ClaimVerdict::holds_only_if);
  ASSERT_EQ(row.points.size(), 1u);
  EXPECT_EQ(row.points[0].schedule, Schedule::single_pass) << "the quoted schedule alone";
  ASSERT_TRUE(row.points[0].least_kept);
  EXPECT_DOUBLE_EQ(row.points[0].least_kept->value, 2 * kVector / 0.01 - kStandard / 2);
}

TEST(ClaimOnMemory, HoldsOrNotWhateverTheLayersKeep) {
  EXPECT_EQ(claimed(two_stages(), BudgetKind::pipeline_cache, 1).verdict, ClaimVerdict::holds);
  EXPECT_EQ(claimed(two_stages(), BudgetKind::pipeline_cache, 0).verdict,
            ClaimVerdict::does_not_hold);
  EXPECT_EQ(claimed(four_layers(), BudgetKind::pipeline_cache, 1).verdict, ClaimVerdict::unknown);
}

}  // namespace
}  // namespace depthcost::kept_in_training_test
