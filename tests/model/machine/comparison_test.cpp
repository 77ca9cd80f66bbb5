// Verdicts and attributions by hand: residual_add, 3 d-vectors, with d = 1000 in bf16, on a device
// with round numbers.
#include "model/machine/comparison.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "tests/model/machine/any_machine.hpp"
#include "tests/model/machine/launch_time.hpp"
#include "tests/studies.hpp"

namespace depthcost::comparison_test {
namespace {

constexpr double kUs = 1e-6;

StandaloneCall add_call(double tokens, Temperature temperature = Temperature::cold) {
  return {.operation = "residual_add",
          .num_tokens = static_cast<Count>(tokens),
          .hidden_size = 1000,
          .temperature = temperature};
}

/// One bandwidth of 5 TB/s from memory, so that a d-vector of 1000 tokens takes 0.4 us.
Machine flat_machine() {
  Machine machine = test::round_machine();
  machine.memory_bandwidth = {
      {1, test::plus_minus<BytesPerSecond>(5e12, 0.1, Evidence::published)}};
  return machine;
}

Estimate<Seconds> exactly(double us) { return {{us * kUs}, {us * kUs}, {us * kUs}}; }

Comparison compared(const StandaloneCall& call, const Estimate<Seconds>& measured,
                    const Tolerance& tolerance = {.relative = 0.05}) {
  return compare(flat_machine(), *find_operation(call), execution_of(call), measured, tolerance);
}

// 100,000 tokens: 2 us and 600 MB at 5 TB/s, both by 10 %.
TEST(Comparison, HoldsAMeasurementAgainstValueIntervalAndBound) {
  const Comparison it = compared(add_call(100'000), exactly(125));
  EXPECT_DOUBLE_EQ(it.predicted.value.value, 122 * kUs);
  EXPECT_DOUBLE_EQ(it.predicted.low.value, (1.8 + 120 / 1.1) * kUs);
  EXPECT_DOUBLE_EQ(it.predicted.high.value, (2.2 + 120 / 0.9) * kUs);
  EXPECT_DOUBLE_EQ(it.bound.value, 100 * kUs);
  EXPECT_NEAR(it.error, 125.0 / 122 - 1, 1e-12);
  EXPECT_TRUE(it.is_inside);
  EXPECT_EQ(it.agreement, Agreement::pass);
}

TEST(Comparison, PassesInsideTheToleranceAndFailsOutsideItAndTheInterval) {
  const auto agreement = [](double us) {
    return compared(add_call(100'000), exactly(us)).agreement;
  };
  EXPECT_EQ(agreement(122 * 1.049), Agreement::pass);
  EXPECT_EQ(agreement(122 * 0.951), Agreement::pass);
  EXPECT_EQ(agreement(122 * 1.051), Agreement::ambiguous);  // the interval ends at 135.5
  EXPECT_EQ(agreement(136), Agreement::fail);
  EXPECT_EQ(agreement(110), Agreement::fail);
  EXPECT_EQ(agreement(97.1), Agreement::fail);
  EXPECT_EQ(agreement(96.9), Agreement::impossible);
}

TEST(Comparison, IsAmbiguousWhereNoiseReachesIntoTheTolerance) {
  const auto agreement = [](double low, double high) {
    const Estimate<Seconds> measured{{low * kUs}, {140 * kUs}, {high * kUs}};
    return compared(add_call(100'000), measured).agreement;
  };
  EXPECT_EQ(agreement(139, 141), Agreement::fail);
  EXPECT_EQ(agreement(128, 152), Agreement::ambiguous);
}

TEST(Comparison, TakesTheLargerOfTwoTolerances) {
  const Estimate<Seconds> noisy{{90 * kUs}, {100 * kUs}, {110 * kUs}};
  EXPECT_DOUBLE_EQ(compared(add_call(100'000), noisy, {.relative = 0.05}).tolerance, 0.05);
  EXPECT_DOUBLE_EQ(
      compared(add_call(100'000), noisy, {.relative = 0.05, .absolute = {12.2 * kUs}}).tolerance,
      0.1);
}

// 140 us is 14.8 % more than predicted and outside the interval.
TEST(Comparison, IsAmbiguousAndNeverPassesWhereNoiseIsAsLargeAsTheError) {
  const auto judged = [](double half_width) {
    const Estimate<Seconds> measured{
        {(140 - half_width) * kUs}, {140 * kUs}, {(140 + half_width) * kUs}};
    return compared(add_call(100'000), measured, {.relative = 0.05, .noise_multiple = 3});
  };
  EXPECT_EQ(judged(6.8).agreement, Agreement::fail);
  EXPECT_EQ(judged(7).agreement, Agreement::ambiguous);
  EXPECT_DOUBLE_EQ(judged(7).noise, 0.15);
  EXPECT_EQ(judged(139).agreement, Agreement::ambiguous);
  EXPECT_EQ(judged(139).tolerance, 0.05);
}

TEST(Attribution, IsBandwidthWhereBytesDominate) {
  const Attribution it = compared(add_call(100'000), exactly(2 + 120 / 0.8)).attribution;
  EXPECT_EQ(it.term, Term::bandwidth);
  EXPECT_NEAR(it.amount, 0.8, 1e-12);
}

// A call that takes no longer than its launch says nothing of a rate. The launch takes 2 us here,
// and the ceiling is so high that no time is impossible.
TEST(Attribution, IsLaunchWhereNothingElseIsLeft) {
  Machine machine = flat_machine();
  machine.memory_ceiling = BytesPerSecond{1e20};
  const StandaloneCall call = add_call(100'000);
  for (const double us : {2.0, 1.5}) {
    const Attribution it =
        compare(machine, *find_operation(call), execution_of(call), exactly(us), {.relative = 0.05})
            .attribution;
    EXPECT_EQ(it.term, Term::launch) << us;
    EXPECT_TRUE(std::isfinite(it.amount));
  }
}

// With one token, most of what moves is parameters: 24 queries in f32.
TEST(Attribution, IsNotBytesForMoreVectorsThanATokenHas) {
  const StandaloneCall call{.operation = "attnres_phase1",
                            .counts = {.num_sources = 8, .num_queries = 24},
                            .hidden_size = 1'000'000};
  const Operation operation = *find_operation(call);
  const double of_token = total_d(traffic(operation));
  const auto term = [&](double more_d) {
    const Machine machine = flat_machine();
    const Execution execution = execution_of(call);
    const double us = LaunchTime(machine, operation, execution).terms({}).total().value / kUs;
    return compare(machine, operation, execution, exactly(us + more_d * 0.4), {}).attribution.term;
  };
  EXPECT_EQ(term(of_token), Term::bytes);
  EXPECT_EQ(term(of_token + 1), Term::bandwidth);
}

// 3 d take 120 us: a fourth takes 40 us more.
TEST(Attribution, IsBytesForAWholeNumberOfVectors) {
  const Attribution one_more = compared(add_call(100'000), exactly(162)).attribution;
  EXPECT_EQ(one_more.term, Term::bytes);
  EXPECT_NEAR(one_more.amount, 1, 1e-9);
  EXPECT_EQ(compared(add_call(100'000), exactly(162 + 1.1)).attribution.term, Term::bytes);
  EXPECT_EQ(compared(add_call(100'000), exactly(162 + 1.3)).attribution.term, Term::bandwidth);
  // A fourth to a seventh d-vector would be more than everything once more.
  EXPECT_EQ(compared(add_call(100'000), exactly(122 + 160)).attribution.term, Term::bandwidth);
}

// The bound is 3 d in 100 us: in 60 us the ceiling lets 1.8 d pass.
TEST(Attribution, IsBytesForWhatIsImpossibleWithAsMany) {
  const Attribution it = compared(add_call(100'000), exactly(60)).attribution;
  EXPECT_EQ(it.term, Term::bytes);
  EXPECT_NEAR(it.amount, -1.2, 1e-12);
}

TEST(Attribution, IsLaunchWhereTheFloorDominates) {
  const Attribution it = compared(add_call(1), exactly(3.5)).attribution;
  EXPECT_EQ(it.term, Term::launch);
  EXPECT_NEAR(it.amount, 1.5e-6, 0.002e-6);
}

TEST(Attribution, IsArithmeticWhereOperationsDominate) {
  const StandaloneCall call{
      .operation = "mhc_boundary/on_chip", .num_tokens = 100'000, .hidden_size = 1000};
  Machine machine = flat_machine();
  machine.tensor_rate = FlopsPerSecond{1e13};
  const Operation operation = *find_operation(call);
  const double computing = 1e8 * operation.flops_d / 1e13;
  const Comparison it =
      compare(machine, operation, execution_of(call), exactly((2 * kUs + 2 * computing) / kUs), {});
  EXPECT_EQ(it.attribution.term, Term::arithmetic);
  EXPECT_NEAR(it.attribution.amount, 0.5, 1e-9);
}

TEST(Attribution, IsLaunchWhereTheFloorAloneTakesLonger) {
  Machine machine = flat_machine();
  for (LaunchFloor& entry : machine.floors)
    if (entry.floor.value == Seconds{2 * kUs}) entry.floor.low = {};
  const StandaloneCall call = add_call(2'000);  // 2.4 us of bytes
  const Attribution it =
      compare(machine, *find_operation(call), execution_of(call), exactly(1.96), {}).attribution;
  EXPECT_EQ(it.term, Term::launch);
  EXPECT_NEAR(it.amount, -2.44e-6, 1e-12);
}

/// Every form in which core and memory time go together, or none: a GPU.
Machine any_machine_or_core() {
  Machine machine = test::any_machine();
  if (*rc::gen::arbitrary<bool>()) return machine;
  Core core{.first_level = {test::any_real(1e4, 1e5)},
            .second_level = {test::any_real(1e5, 4e6)},
            .threads = 2,
            .form = *rc::gen::elementOf(kEnumerators<CoreForm>),
            .exposed = test::any_real(0, 1)};
  for (const Primitive primitive : kEnumerators<Primitive>)
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const CoreLevel level : {CoreLevel::L1, CoreLevel::L2})
        core.rates.push_back({primitive, dtype, level, test::any_estimate<Seconds>(1e-13, 1e-11)});
  machine.core = core;
  return machine;
}

StandaloneCall any_call() {
  const auto entries = catalogue();
  const CatalogueEntry& entry = entries[*rc::gen::inRange<std::size_t>(0, entries.size())];
  return {.operation = std::string(entry.name),
          .counts = {.num_sources = *rc::gen::inRange<Count>(1, 12),
                     .num_queries = *rc::gen::inRange<Count>(1, 25)},
          .num_tokens = static_cast<Count>(test::any_tokens()),
          .hidden_size = 4096,
          .launch = test::any_launch(),
          .temperature = *rc::gen::element(Temperature::cold, Temperature::hot)};
}

/// How much slower an attribution says that reality is: 0 as predicted, negative if faster.
double slowness(const Attribution& it) {
  return it.term == Term::bandwidth || it.term == Term::arithmetic ? 1 / it.amount - 1 : it.amount;
}

RC_GTEST_PROP(AttributionOnAnyMachine, SaysNothingOfAPerfectPredictionAndAgreesWithTheError, ()) {
  const Machine machine = any_machine_or_core();
  const StandaloneCall call = any_call();
  const Operation operation = *find_operation(call);
  const Execution execution = execution_of(call);
  const double predicted_us =
      LaunchTime(machine, operation, execution).terms({}).total().value / kUs;
  const auto judged = [&](double share) {
    return compare(machine, operation, execution, exactly(share * predicted_us), {});
  };
  const Comparison perfect = judged(1);
  const double unit = perfect.attribution.term == Term::launch ? predicted_us * kUs : 1;
  RC_ASSERT(std::fabs(slowness(perfect.attribution)) <= 1e-9 * unit);
  const double share = test::any_real(0.01, 3);
  RC_PRE(std::fabs(share - 1) > 1e-3);
  const Comparison off = judged(share);
  RC_ASSERT((off.error > 0) == (slowness(off.attribution) > 0));
  if (off.attribution.term == Term::bytes)
    RC_ASSERT(std::fabs(off.attribution.amount) <= total_d(traffic(operation)) + 0.03);
}

// 6 MB fit into the cache of 50 to 100 MB.
TEST(Temperature, OfAKernelAloneDecidesWhereItsOperandsAre) {
  const auto share = [](double tokens, Temperature temperature) {
    const StandaloneCall call = add_call(tokens, temperature);
    return test::memory_share(flat_machine(), *find_operation(call), execution_of(call));
  };
  EXPECT_EQ(share(1, Temperature::cold), 1);
  EXPECT_EQ(share(1000, Temperature::hot), 0);
  EXPECT_EQ(share(100'000, Temperature::hot), 1);
  EXPECT_DOUBLE_EQ(share(12'500, Temperature::hot), 0.5);  // 75 MB
}

// 15,000 tokens: 90 MB of traffic, 60 MB if the sum is stored in place.
TEST(Temperature, LeavesOpenWhetherResultsHaveABufferOfTheirOwn) {
  const StandaloneCall call = add_call(15'000, Temperature::hot);
  const Operation operation = *find_operation(call);
  const Execution execution = execution_of(call);
  const auto weight = [&](IntervalEnd residency) {
    return memory_weight(flat_machine(), operation, Operand::hidden_state, execution, residency);
  };
  EXPECT_DOUBLE_EQ(weight(IntervalEnd::value), 0.8);
  EXPECT_DOUBLE_EQ(weight(IntervalEnd::low), 0.2);
  EXPECT_EQ(test::time_evidence(flat_machine(), operation, execution), Evidence::assumed);
}

// Whatever the device and the call: bound <= low <= value <= high, and a hot call is never
// predicted slower than a cold one.
RC_GTEST_PROP(ComparisonOnAnyMachine, IsOrderedAndHotIsNoSlower, ()) {
  const Machine machine = test::any_machine();
  const auto entries = catalogue();
  const CatalogueEntry& entry = entries[*rc::gen::inRange<std::size_t>(0, entries.size())];
  StandaloneCall call{.operation = std::string(entry.name),
                      .counts = {.num_sources = *rc::gen::inRange<Count>(1, 12)},
                      .num_tokens = static_cast<Count>(test::any_tokens()),
                      .hidden_size = 4096,
                      .launch = test::any_launch()};
  const auto cold = compare(machine, *find_operation(call), execution_of(call), exactly(100), {});
  RC_ASSERT(cold.predicted.low <= cold.predicted.value);
  RC_ASSERT(cold.predicted.value <= cold.predicted.high);
  call.temperature = Temperature::hot;
  const auto hot = compare(machine, *find_operation(call), execution_of(call), exactly(100), {});
  RC_ASSERT(hot.bound.value <= cold.bound.value * (1 + 1e-12));
  RC_ASSERT(hot.terms.floor.value <= cold.terms.floor.value * (1 + 1e-12));
}

/// What a gate says of 200 calls whose true time is `slowdown` predictions, measured with 3 % noise
/// in 30 samples: how many of each verdict.
std::array<int, 4> verdicts(double slowdown, const Machine& assumed) {
  const Machine machine = flat_machine();
  std::mt19937 random(20260316);
  std::normal_distribution<double> noise(0, 0.03);
  std::array<int, 4> counts{};
  for (int i = 0; i < 200; ++i) {
    const auto entry = catalogue()[static_cast<std::size_t>(i) % catalogue().size()];
    const StandaloneCall call{.operation = std::string(entry.name),
                              .counts = {.num_sources = 8, .num_queries = 24},
                              .num_tokens = 1 + i * i,
                              .hidden_size = 4096};
    const Operation operation = *find_operation(call);
    const Execution execution = execution_of(call);
    const LaunchTime truth(machine, operation, execution);
    std::vector<double> samples;
    for (int k = 0; k < 30; ++k)
      samples.push_back(slowdown * truth.terms({}).total().value * (1 + noise(random)));
    std::sort(samples.begin(), samples.end());
    const Estimate<Seconds> measured{{samples[7]}, {samples[15]}, {samples[22]}};
    const Tolerance tolerance{.relative = 0.25, .noise_multiple = 3};
    ++counts[static_cast<std::size_t>(
        compare(assumed, operation, execution, measured, tolerance).agreement)];
  }
  return counts;
}

int count_of(const std::array<int, 4>& counts, Agreement agreement) {
  return counts[static_cast<std::size_t>(agreement)];
}

TEST(Gate, RaisesNoFalseAlarmAndMissesNoSlowdown) {
  EXPECT_EQ(count_of(verdicts(1, flat_machine()), Agreement::pass), 200);
  EXPECT_EQ(count_of(verdicts(1 + 0.3 * 0.25, flat_machine()), Agreement::pass), 200);
  EXPECT_EQ(count_of(verdicts(1 + 1.5 * 0.25, flat_machine()), Agreement::fail), 200);
}

// A device that is believed to be half as fast: what comes from memory beats its bound.
TEST(Gate, FindsAWrongCeiling) {
  Machine slow = flat_machine();
  slow.memory_ceiling = {2.5e12};
  slow.memory_bandwidth = {{1, test::plus_minus<BytesPerSecond>(2.5e12, 0.1, Evidence::published)}};
  EXPECT_GE(count_of(verdicts(1, slow), Agreement::impossible), 100);
}

TEST(ErrorSummary, TakesTheMiddleAndKeepsTheSignOfTheWorst) {
  std::vector<Comparison> comparisons(10);
  const double errors[] = {0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08, 0.09, -0.5};
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    comparisons[i].error = errors[i];
    comparisons[i].is_inside = i < 7;
    comparisons[i].measured.value = {2};
    comparisons[i].predicted = {{1}, {2}, {i < 7 ? 3.0 : 1.5}};
  }
  const ErrorSummary summary = summary_of(comparisons);
  EXPECT_EQ(summary.cases, 10U);
  EXPECT_DOUBLE_EQ(summary.median, 0.055);
  EXPECT_EQ(summary.p90, 0.09);
  EXPECT_EQ(summary.worst, -0.5);
  EXPECT_EQ(summary.inside, 0.7);
  // Seven of (3 - 1) / 2, three of (0.5 + 20 x 0.5) / 2.
  EXPECT_DOUBLE_EQ(summary.score, (7 * 1 + 3 * 5.25) / 10);
  EXPECT_EQ(summary_of({}).cases, 0U);
}

TEST(IntervalScore, IsTheWidthAndTwentyTimesWhatLiesOutside) {
  const Estimate<Seconds> predicted{{80e-6}, {100e-6}, {120e-6}};
  EXPECT_DOUBLE_EQ(interval_score(predicted, {100e-6}), 0.4);             // 40 / 100
  EXPECT_DOUBLE_EQ(interval_score(predicted, {80e-6}), 0.5);              // 40 / 80
  EXPECT_DOUBLE_EQ(interval_score(predicted, {160e-6}), 5.25);            // (40 + 20 x 40) / 160
  EXPECT_DOUBLE_EQ(interval_score(predicted, {50e-6}), 12.8);             // (40 + 20 x 30) / 50
  EXPECT_DOUBLE_EQ(interval_score({{1e-6}, {1e-6}, {1e-6}}, {1e-6}), 0);  // exact
}

TEST(ComparedCase, IsBlockedByAFailureThatItsRulePromisesOrByWhatCannotBe) {
  ComparedCase it;
  it.stacks = {{"", {1}}, {"", {1.5}}};
  EXPECT_DOUBLE_EQ(it.scatter(), 0.5);
  const auto is_blocked = [&](Agreement agreement, bool blocks) {
    it.comparison.agreement = agreement;
    it.rule.blocks = blocks;
    return it.is_blocked();
  };
  EXPECT_TRUE(is_blocked(Agreement::fail, true));
  EXPECT_FALSE(is_blocked(Agreement::fail, false));
  EXPECT_FALSE(is_blocked(Agreement::ambiguous, true));
  EXPECT_TRUE(is_blocked(Agreement::impossible, false));
  it.ambiguities = Ambiguities::fail;
  EXPECT_TRUE(is_blocked(Agreement::ambiguous, true));
  EXPECT_FALSE(is_blocked(Agreement::ambiguous, false));
  EXPECT_FALSE(is_blocked(Agreement::pass, true));
}

}  // namespace
}  // namespace depthcost::comparison_test
