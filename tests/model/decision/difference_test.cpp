// Which numbers count as moved, and when a difference exceeds its tolerance.
#include "model/decision/difference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace depthcost::difference_test {
namespace {

PredictedQuantity exact(const std::string& name, double value) {
  return {.name = name, .unit = PredictedUnit::plain, .value = value};
}

PredictedQuantity estimated(const std::string& name, double low, double value, double high) {
  return {.name = name, .unit = PredictedUnit::seconds, .value = value, .low = low, .high = high};
}

Result with(std::vector<PredictedQuantity> quantities) {
  return {.program_version = "1",
          .scenario = "s",
          .rows = {{.section = "step", .name = "decode", .quantities = std::move(quantities)}}};
}

Difference between(const PredictedQuantity& before, const PredictedQuantity& after,
                   double tolerance = 0) {
  return difference(with({before}), with({after}), tolerance);
}

TEST(Difference, OfAResultWithItselfIsNone) {
  const Result result = with({exact("a", 3), estimated("b", 1, 2, 4)});
  const Difference same = difference(result, result, 0);
  EXPECT_TRUE(same.holds());
  EXPECT_TRUE(same.moves.empty());
  ASSERT_EQ(same.sections.size(), 1U);
  EXPECT_EQ(same.sections[0].num_compared, 2U);
}

TEST(Difference, SaysHowFarANumberMoved) {
  const Difference moved = between(exact("a", -4), exact("a", -3));
  ASSERT_EQ(moved.moves.size(), 1U);
  EXPECT_EQ(moved.moves[0].change(), 1);
  EXPECT_EQ(moved.moves[0].relative, 0.25);
  EXPECT_EQ(moved.moves[0].size, 0.25);
  EXPECT_EQ(moved.moves[0].place, OldInterval::none);
  EXPECT_FALSE(moved.holds());
}

/// With other blocks, more reads a layer or a row that is gone say nothing: the step became faster.
TEST(Difference, OfOtherInputsCountsBudgetsAndOwnStepsAlone) {
  const auto result = [](const std::string& block_size, double step, double reads) {
    Result it = with({});
    it.path = "block_attnres fused";
    it.inputs = {{"residual.block_size", block_size}};
    it.rows = {{.section = "step",
                .name = "decode/1 block_attnres fused",
                .quantities = {exact("delta_seconds", step)}},
               {.section = "ledger",
                .name = "block_attnres fused kernel total",
                .quantities = {exact("reads_d", reads)}}};
    return it;
  };
  const Result fine = result("8", 2, 5);
  Result coarse = result("16", 1, 6);
  const Difference faster = difference(fine, coarse, 0);
  EXPECT_FALSE(faster.counts_all);
  EXPECT_TRUE(faster.holds());
  EXPECT_EQ(faster.moves.size(), 2U);
  coarse.rows.pop_back();
  EXPECT_TRUE(difference(fine, coarse, 0).holds());
  EXPECT_FALSE(difference(coarse, fine, 0).holds()) << "its step became slower";
  coarse.rows.clear();
  EXPECT_FALSE(difference(fine, coarse, 0).holds()) << "its step is gone";
  EXPECT_FALSE(difference(fine, result("8", 1, 6), 0).holds()) << "the same question";
  // A program that lists one more default asks the same; one that was written asks something else.
  Result newer = result("8", 1, 6);
  newer.inputs.push_back({"workload.prefill.sequence_shards", "8"});
  EXPECT_TRUE(difference(fine, newer, 0).holds());
  newer.defaults = {"workload.prefill.sequence_shards"};
  EXPECT_FALSE(difference(fine, newer, 0).holds());
}

/// A step of twice the tokens is longer, and no worse: its per cent count.
TEST(Difference, OfATrainingStepWithOtherTokensCountsPerCentAlone) {
  const auto result = [](const std::string& micro_batches, double seconds, double overhead,
                         const std::string& data = "2") {
    Result it = with({});
    it.path = "mhc fused";
    it.inputs = {{"workload.training.sequence_length", "4096"},
                 {"workload.training.micro_batch", "1"},
                 {"workload.training.micro_batches", micro_batches},
                 {"parallelism.data", data}};
    it.rows = {
        {.section = "step",
         .name = "training mhc fused",
         .quantities = {estimated("delta_seconds", seconds, seconds, seconds),
                        {.name = "overhead", .unit = PredictedUnit::ratio, .value = overhead}}}};
    return it;
  };
  const Difference doubled = difference(result("64", 1, 0.02), result("128", 2, 0.019), 0);
  EXPECT_FALSE(doubled.trains_as_much);
  EXPECT_TRUE(doubled.holds());
  EXPECT_FALSE(difference(result("64", 1, 0.02), result("128", 2, 0.021), 0).holds());
  EXPECT_FALSE(difference(result("64", 1, 0.02), result("64", 2, 0.019), 0).holds());
  // Half the replicas with twice the micro-batches each have as many tokens.
  EXPECT_FALSE(difference(result("64", 1, 0.02), result("128", 2, 0.019, "1"), 0).holds());
}

/// A scenario whose scheme or schedule is another one now: its own step is compared under any name.
TEST(Difference, HoldsTheScenariosOwnPathAgainstTheOldOne) {
  const auto result = [](const std::string& path, double milliseconds) {
    Result it = with({exact("other", 1)});
    it.path = path;
    it.rows.push_back({.section = "step",
                       .name = "decode/1 " + path,
                       .quantities = {estimated("delta_seconds", 0.9 * milliseconds, milliseconds,
                                                1.1 * milliseconds)}});
    return it;
  };
  const Difference worse = difference(result("mhc one_pass", 1), result("mhc unfused", 4), 0.01);
  EXPECT_FALSE(worse.holds());
  ASSERT_EQ(worse.moves.size(), 1U);
  EXPECT_EQ(worse.moves[0].section, "the scenario's scheme");
  EXPECT_EQ(worse.moves[0].row, "decode/1");
  EXPECT_TRUE(worse.removed.empty());
  EXPECT_TRUE(difference(result("mhc unfused", 4), result("mhc one_pass", 1), 0.01).holds());
  // A workload that is gone is gone.
  Result two = result("mhc unfused", 4);
  two.rows.push_back({.section = "step",
                      .name = "decode/64 mhc unfused",
                      .quantities = {estimated("delta_seconds", 1, 2, 3)}});
  const Difference gone = difference(two, result("mhc one_pass", 1), 0.01);
  ASSERT_EQ(gone.removed.size(), 1U);
  EXPECT_EQ(gone.removed[0].row, "decode/64 mhc unfused");
  EXPECT_TRUE(difference(result("mhc one_pass", 1), result("mhc one_pass", 1), 0.01).moves.empty());
}

TEST(Difference, HoldsWhereThingsBecomeBetterUnlessThatIsRefused) {
  const Difference cheaper = between(estimated("t", 1, 2, 4), estimated("t", 1, 1.5, 3));
  EXPECT_TRUE(cheaper.moves[0].is_better);
  EXPECT_TRUE(cheaper.holds());
  EXPECT_FALSE(cheaper.holds(Improvements::refused));
  // A lower middle with a higher end may be worse.
  EXPECT_FALSE(between(estimated("t", 1, 2, 4), estimated("t", 1, 1.5, 5)).holds());
  // Nobody knows whether a number without an interval is better than one with it.
  EXPECT_FALSE(between(estimated("t", 1, 2, 4), exact("t", 1)).holds());
}

TEST(Difference, OrdersVerdictsFromWorseToBetter) {
  for (const auto& [before, after, better] :
       {std::tuple{"fail", "pass", true}, std::tuple{"fail", "unknown", true},
        std::tuple{"unknown", "pass", true}, std::tuple{"pass", "fail", false},
        std::tuple{"pass", "unknown", false}, std::tuple{"", "pass", false},
        std::tuple{"fail", "", false}})
    EXPECT_EQ(is_better({"budgets.x", before, after}), better) << before << " -> " << after;
}

TEST(Difference, DoesNotHoldWhereALimitChangedOrIsGone) {
  Difference moved{.verdicts = {{"budgets.decode_overhead", "fail", "pass"}}};
  EXPECT_TRUE(moved.holds());
  moved.inputs = {{"hardware.memory_bandwidth", "1", "2"}};
  EXPECT_TRUE(moved.holds());
  moved.inputs = {{"budgets.decode_overhead", "2 %", "5 %"}};
  EXPECT_FALSE(moved.holds());
  moved.verdicts.clear();
  EXPECT_FALSE(moved.holds()) << "its verdict may stay what it is";
  moved.inputs = {{"budgets.decode_overhead", "2 %", ""}};
  EXPECT_FALSE(moved.holds());
  moved.inputs = {{"budgets.decode_overhead", "", "2 %"}};
  EXPECT_TRUE(moved.holds());
}

TEST(Difference, HoldsUpToTheToleranceAndNoFurther) {
  EXPECT_TRUE(between(exact("a", 4), exact("a", 5), 0.25).holds());
  EXPECT_FALSE(between(exact("a", 4), exact("a", 5), 0.2499).holds());
  EXPECT_FALSE(between(exact("a", 1e15), exact("a", 1e15 + 1)).holds());
}

TEST(Difference, FromZeroIsBeyondAnyTolerance) {
  const Difference moved = between(exact("a", 0), exact("a", 1e-300), 1e9);
  EXPECT_FALSE(moved.holds());
  EXPECT_EQ(moved.moves[0].relative, std::nullopt);
  EXPECT_TRUE(std::isinf(moved.moves[0].size));
  EXPECT_TRUE(between(exact("a", 0), exact("a", -0.0)).holds());
}

TEST(Difference, SaysBeyondWhichEndOfTheOldIntervalTheNewValueLies) {
  const auto place = [](double value) {
    return between(estimated("t", 1, 2, 4), estimated("t", 0, value, 9)).moves[0].place;
  };
  EXPECT_EQ(place(0.99), OldInterval::below);
  EXPECT_EQ(place(1), OldInterval::inside);
  EXPECT_EQ(place(4), OldInterval::inside);
  EXPECT_EQ(place(4.01), OldInterval::above);
}

TEST(Difference, SeesAnIntervalThatGrewRoundTheSameValue) {
  const Difference moved = between(estimated("t", 1, 2, 4), estimated("t", 1, 2, 5), 0.2);
  ASSERT_EQ(moved.moves.size(), 1U);
  EXPECT_EQ(moved.moves[0].change(), 0);
  EXPECT_EQ(moved.moves[0].size, 0.25);
  EXPECT_FALSE(moved.holds());
  EXPECT_FALSE(between(estimated("t", 1, 2, 4), exact("t", 2), 1e9).holds());
}

TEST(Difference, MissesWhatIsGoneAndNotWhatIsNew) {
  const Result more = with({exact("a", 1), exact("b", 2)});
  const Result less = with({exact("a", 1)});
  const Difference gone = difference(more, less, 1);
  EXPECT_FALSE(gone.holds());
  ASSERT_EQ(gone.removed.size(), 1U);
  EXPECT_EQ(gone.removed[0].quantity, "b");
  const Difference added = difference(less, more, 1);
  EXPECT_TRUE(added.holds());
  ASSERT_EQ(added.added.size(), 1U);
  EXPECT_EQ(added.added[0].quantity, "b");
}

TEST(Difference, FindsRowsByNameAndNotByPlace) {
  Result before = with({exact("a", 1)});
  before.rows.push_back({.section = "step", .name = "prefill", .quantities = {exact("a", 2)}});
  Result after = before;
  std::swap(after.rows[0], after.rows[1]);
  EXPECT_TRUE(difference(before, after, 0).moves.empty());
  after.rows[0].name = "training";
  const Difference renamed = difference(before, after, 0);
  EXPECT_FALSE(renamed.holds());
  EXPECT_EQ(renamed.removed[0].row, "prefill");
  EXPECT_EQ(renamed.removed[0].quantity, "");
  EXPECT_EQ(renamed.added[0].row, "training");
  after.rows[0] = before.rows[1];
  after.rows[0].section = "rest";
  EXPECT_FALSE(difference(before, after, 0).removed.empty()) << "the same name elsewhere";
}

TEST(Difference, DoesNotHoldWhereAVerdictChanges) {
  Result before = with({exact("a", 1)});
  before.verdicts = {{"budgets.prefill_bank", "pass"}};
  Result after = before;
  after.verdicts[0].word = "fail";
  const Difference changed = difference(before, after, 1);
  EXPECT_FALSE(changed.holds());
  EXPECT_EQ(changed.verdicts[0].before, "pass");
  EXPECT_EQ(changed.verdicts[0].after, "fail");
  after.verdicts = {before.verdicts[0], {"budgets.device_memory", "fail"}};
  EXPECT_TRUE(difference(before, after, 1).holds()) << "a budget that was not asked for before";
  EXPECT_FALSE(difference(after, before, 1).holds()) << "a budget that nobody asks for any more";
  before.verdicts[0].word = "fail";
  after.verdicts = {{"budgets.prefill_bank", "pass"}};
  EXPECT_TRUE(difference(before, after, 1).holds()) << "better";
  EXPECT_FALSE(difference(before, after, 1).holds(Improvements::refused));
}

TEST(Difference, ListsInputsAndDoesNotHoldThemAgainstAnybody) {
  Result before = with({exact("a", 1)});
  before.inputs = {{"hidden_size", "8"}, {"gone", "1"}};
  Result after = before;
  after.inputs = {{"new", "2"}, {"hidden_size", "16"}};
  const Difference changed = difference(before, after, 0);
  EXPECT_TRUE(changed.holds());
  ASSERT_EQ(changed.inputs.size(), 3U);
  EXPECT_EQ(changed.inputs[0].name, "hidden_size");
  EXPECT_EQ(changed.inputs[1].after, "");
  EXPECT_EQ(changed.inputs[2].before, "");
}

/// Counted by a dull loop over all pairs.
TEST(Difference, CountsPerSectionWhatALoopCounts) {
  Result before;
  Result after;
  std::size_t moved = 0;
  std::size_t outside = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "row " + std::to_string(i);
    const double value = i % 3 == 0 ? 10 : i % 3 == 1 ? 11 : 20;
    before.rows.push_back({"time", name, {estimated("t", 9, 10, 12)}});
    after.rows.push_back({"time", name, {estimated("t", 9, value, 12)}});
    moved += value != 10 ? 1 : 0;
    outside += value > 12 ? 1 : 0;
  }
  const Difference counted = difference(before, after, 0.5);
  ASSERT_EQ(counted.sections.size(), 1U);
  EXPECT_EQ(counted.sections[0].num_compared, 50U);
  EXPECT_EQ(counted.sections[0].num_moved, moved);
  EXPECT_EQ(counted.sections[0].num_outside, outside);
  EXPECT_EQ(counted.sections[0].num_beyond, outside);
  EXPECT_EQ(counted.sections[0].largest, 1);
}

}  // namespace
}  // namespace depthcost::difference_test
