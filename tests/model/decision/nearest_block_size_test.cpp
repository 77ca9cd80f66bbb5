// The nearest block size that keeps a budget, held against one evaluation after another.
#include "model/decision/nearest_block_size.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "model/decision/decided_budget.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/schemes/list.hpp"
#include "model/sweep/swept_key.hpp"
#include "tests/studies.hpp"

namespace depthcost::nearest_block_size_test {
namespace {

Verdict verdict_at(Study study, const Budget& budget, Count block_size) {
  apply({SweptKey::block_size, block_size}, study);
  study.budgets = {budget};
  if (!overhead_workload(budget.kind)) study.machine.reset();  // only times need it
  return evaluate_without_remedies(study).budgets.front().verdict;
}

/// One evaluation for each size, from near to far: whole decoder layers first, where there are any.
std::optional<Count> nearest_by_hand(const Study& study, const Budget& budget, Count own) {
  for (const Count odd : {0, 1})
    for (Count distance = 1; distance < study.model.num_layers; ++distance)
      for (const Count size : {own + distance, own - distance}) {
        if (size < 1 || size > study.model.num_layers) continue;
        if (study.model.architecture && size % 2 != odd) continue;
        if (verdict_at(study, budget, size) == Verdict::pass) return size;
      }
  return std::nullopt;
}

Study kimi_k3() {
  Study study = test::kimi_k3_study();
  study.decode->sequences = {64};
  study.compare.clear();
  return study;
}

TEST(NearestBlockSize, IsWhatOneEvaluationAfterAnotherFinds) {
  const Study study = kimi_k3();
  for (const Budget& budget :
       {Budget{BudgetKind::prefill_bank, 1.5e9}, Budget{BudgetKind::pipeline_peak, 100e3},
        Budget{BudgetKind::decode_overhead, 0.006}}) {
    const auto found = nearest_block_size(study, budget);
    EXPECT_EQ(found, nearest_by_hand(study, budget, 24)) << name(budget.kind);
    ASSERT_TRUE(found) << name(budget.kind);
    EXPECT_NE(*found, 24);
  }
}

TEST(NearestBlockSize, IsNoneWhereNoSizeWouldDo) {
  EXPECT_EQ(nearest_block_size(kimi_k3(), {BudgetKind::prefill_bank, 1}), std::nullopt);
  Study study = kimi_k3();
  study.path = {Scheme{schemes::kMhc, {.num_streams = 4}}, 186};
  study.schedule = Schedule::fused;
  EXPECT_EQ(nearest_block_size(study, {BudgetKind::prefill_bank, 1e15}), std::nullopt);
}

TEST(NearestBlockSize, AsksForNoLimitThatTheScenarioDoesNotSet) {
  Study study = kimi_k3();
  const Budget budget{BudgetKind::prefill_bank, 1.5e9};
  const auto found = nearest_block_size(study, budget);
  ASSERT_TRUE(found);
  study.decode->baseline_steps = {Seconds{1e-6}};  // far beyond the paper's 2 %
  EXPECT_EQ(nearest_block_size(study, budget), found);
}

TEST(NearestBlockSize, CountsABoundaryOfTrainingInTheTypeOfTheWire) {
  Study study = test::training_study();
  study.compare.clear();
  study.machine.reset();
  const Budget budget{BudgetKind::pipeline_peak, 100e3};
  const auto in_bf16 = nearest_block_size(study, budget);
  study.training->wire_dtype = Dtype::f32;
  const auto in_f32 = nearest_block_size(study, budget);
  EXPECT_EQ(in_f32, nearest_by_hand(study, budget, 24));
  EXPECT_NE(in_f32, in_bf16);
}

TEST(NearestBlockSize, IsFoundForWhatTrainingKeeps) {
  Study study = test::training_study();
  study.compare.clear();
  const Budget budget{BudgetKind::pipeline_cache, 0.1};
  const auto found = nearest_block_size(study, budget);
  ASSERT_TRUE(found);
  EXPECT_EQ(found, nearest_by_hand(study, budget, study.path.scheme.parameters.blocks.block_size));
}

TEST(NearestBlockSize, OfATrainingStepIsFoundAmongAFew) {
  Study study = test::training_study();
  study.compare.clear();
  study.machine->memory_capacity.reset();
  const Count own = study.path.scheme.parameters.blocks.block_size;
  EXPECT_EQ(nearest_block_size(study, {BudgetKind::training_overhead, 1e6}), own + 2);
  apply({SweptKey::block_size, 2}, study);
  const auto overhead = [&](Count size) {
    Study at = study;
    apply({SweptKey::block_size, size}, at);
    at.budgets = {{BudgetKind::training_overhead, 1e6}};
    return *evaluate_without_remedies(at).budgets.front().high;
  };
  // Between doubles: 7 layers a block keep what 6 break.
  ASSERT_GT(overhead(6), overhead(7));
  const Budget budget{BudgetKind::training_overhead, (overhead(6) + overhead(7)) / 2};
  EXPECT_EQ(nearest_block_size(study, budget), nearest_by_hand(study, budget, 2));
}

/// 23 layers a block would be nearer than 22, and end between an attention and its MLP.
TEST(NearestBlockSize, SplitsNoDecoderLayerWhereAnotherSizeWouldDo) {
  Study study = test::modelled_study();
  study.compare.clear();
  const Budget budget{BudgetKind::pipeline_peak, 100e3};
  const auto found = nearest_block_size(study, budget);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found % 2, 0);
  EXPECT_EQ(found, nearest_by_hand(study, budget, 24));
  study.model.architecture.reset();
  const auto of_layers = nearest_block_size(study, budget);
  ASSERT_TRUE(of_layers);
  EXPECT_LE(std::abs(*of_layers - 24), std::abs(*found - 24));
}

TEST(Budgets, NameABlockSizeWhereNothingElseWouldKeepThem) {
  Study study = kimi_k3();
  study.budgets = {{BudgetKind::pipeline_peak, 100e3}};
  const BudgetRow row = evaluate(study).budgets.front();
  EXPECT_EQ(row.verdict, Verdict::fail);
  const Count size = *nearest_block_size(study, study.budgets.front());
  EXPECT_EQ(row.remedies,
            (std::vector<Remedy>{
                {fmt::format("block_size {} (coarser than any with a published loss)", size),
                 Kept::surely}}));
}

/// The limits that blocks of `size` keep with their high end or with their median.
Budget limit_of(Study study, Count size, Kept kept) {
  apply({SweptKey::block_size, size}, study);
  const Budget any{BudgetKind::decode_overhead, 100};
  const BudgetRow row = decided_for(study, any);
  return {any.kind, 1.001 * (kept == Kept::surely ? *row.high : *row.middle)};
}

Study fine_blocks() {
  Study study = kimi_k3();
  apply({SweptKey::block_size, 2}, study);
  return study;
}

TEST(NearestBlocks, HaveTheScheduleThatComesNearest) {
  const Study study = fine_blocks();
  Study two_phase = study;
  two_phase.schedule = Schedule::two_phase;
  const Budget limit = limit_of(two_phase, 6, Kept::surely);
  const BudgetRow row = decided_for(study, limit);
  const Count own = nearest_block_size(study, limit).value_or(1000);
  const Count other = nearest_block_size(two_phase, limit).value();
  ASSERT_LT(other, own);
  EXPECT_EQ(nearest_blocks(study, row),
            (Remedy{fmt::format("schedule two_phase and block_size {}", other), Kept::surely}));
}

/// No size keeps the limit with its high end.
TEST(NearestBlocks, LikelyKeepWhatNoneSurelyKeeps) {
  const Study study = fine_blocks();
  Study two_phase = study;
  two_phase.schedule = Schedule::two_phase;
  const Budget limit = limit_of(two_phase, 16, Kept::likely);
  const std::optional<Remedy> found = nearest_blocks(study, decided_for(study, limit));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kept, Kept::likely);
  for (const Study& any : {study, two_phase})
    EXPECT_EQ(nearest_block_size(any, limit, Kept::surely, Losses::published), std::nullopt);
}

TEST(NearestBlockSize, HasAPublishedLossIfAsked) {
  const Study study = fine_blocks();
  const Budget limit = limit_of(study, 93, Kept::surely);
  EXPECT_GT(nearest_block_size(study, limit).value(), 32) << "[attnres] Fig. 6 ends there";
  EXPECT_EQ(nearest_block_size(study, limit, Kept::surely, Losses::published), std::nullopt);
}

TEST(Budgets, AreTheSameAlone) {
  for (const Study& study :
       {test::kimi_k3_study(), test::modelled_study(), test::training_study()}) {
    const Evaluation whole = evaluate(study);
    const std::vector<BudgetRow> alone = evaluate_budgets(study).budgets;
    ASSERT_EQ(alone.size(), whole.budgets.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(alone[i].low, whole.budgets[i].low);
      EXPECT_EQ(alone[i].high, whole.budgets[i].high);
      EXPECT_EQ(alone[i].verdict, whole.budgets[i].verdict);
      EXPECT_EQ(alone[i].reason, whole.budgets[i].reason);
      EXPECT_EQ(alone[i].remedies, whole.budgets[i].remedies);
    }
  }
}

TEST(Budgets, FallShortByWhatIsSurelyTooMuch) {
  const BudgetRow broken{{BudgetKind::decode_overhead, 0.02}, 0.03, 0.05, Verdict::fail, "", {}};
  EXPECT_DOUBLE_EQ(*shortfall(broken), 0.01);
  const BudgetRow open{{BudgetKind::decode_overhead, 0.02}, 0.01, 0.05, Verdict::unknown, "", {}};
  EXPECT_EQ(shortfall(open), 0);
  EXPECT_EQ(shortfall(BudgetRow{.budget = {BudgetKind::decode_overhead, 0.02}}), std::nullopt);
}

}  // namespace
}  // namespace depthcost::nearest_block_size_test
