// A step that takes as long as the model says has no error. Its baseline has the same shape.
#include "profile/measured_steps.hpp"

#include <gtest/gtest.h>

#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/step/step.hpp"
#include "tests/profile/synthetic.hpp"

namespace depthcost::profile::steps_test {
namespace {

constexpr double kBaseline = 20e-3;

StepSample step_of(const std::string& scheme, Schedule schedule, Count tokens, double seconds) {
  return {.name = scheme,
          .scheme = scheme,
          .schedule = schedule,
          .tokens = tokens,
          .hidden_size = 2304,
          .num_layers = 48,
          .block_size = 8,
          .num_streams = 4,
          .weight_bytes = {8e6},
          .seconds = Repetitions(3, seconds)};
}

/// The time that 48 layers of a fused mHC add, summed launch by launch.
double added_by_mhc(const Machine& machine, double tokens) {
  const Execution execution{.tokens = tokens,
                            .launch = Launch::stream,
                            .storage = {2304, Dtype::bf16, Dtype::bf16},
                            .layer_bytes = Bytes{8e6}};
  const auto seconds = [&](const Operation& operation) {
    return LaunchTime(machine, operation, execution).terms({}).total().value;
  };
  return 48 * (seconds(operations::mhc_post(4)) + seconds(operations::mhc_pre(4)) -
               seconds(operations::residual_add_rmsnorm()));
}

TEST(Steps, AreHeldAgainstTheBaselineOfTheSameBatch) {
  const Machine machine = test::synthetic_machine();
  Samples samples;
  for (const Count tokens : {64, 8}) {
    const auto batch = static_cast<double>(tokens);
    samples.steps.push_back(step_of("standard", Schedule::fused, tokens, batch * kBaseline));
    samples.steps.push_back(
        step_of("mhc", Schedule::fused, tokens, batch * kBaseline + added_by_mhc(machine, batch)));
  }
  const auto compared = compared_steps(machine, samples);
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_LT(compared[0].tokens, compared[1].tokens);
  for (const StepComparison& step : compared) {
    EXPECT_NEAR(step.error(), 0, 1e-9);
    EXPECT_DOUBLE_EQ(step.baseline.value.value, static_cast<double>(step.tokens) * kBaseline);
    EXPECT_NEAR(step.overhead(), step.added().value / step.baseline.value, 1e-12);
  }
}

/// A difference of two steps that vary by a tenth each is no exact number.
TEST(Steps, SayHowFarTheAddedTimeIsKnown) {
  Samples samples;
  samples.steps = {step_of("standard", Schedule::fused, 8, kBaseline),
                   step_of("mhc", Schedule::fused, 8, 1.05 * kBaseline)};
  for (StepSample& step : samples.steps)
    step.seconds = {step.seconds[0], 1.1 * step.seconds[0], 1.05 * step.seconds[0]};
  const Estimate<Seconds> added =
      compared_steps(test::synthetic_machine(), samples).front().added();
  EXPECT_LT(added.low.value, 0);
  EXPECT_LT(added.low, added.value);
  EXPECT_GT(added.high.value, 0.1 * kBaseline);
}

TEST(Steps, WithoutABaselineSayNothing) {
  Samples samples;
  samples.steps = {step_of("mhc", Schedule::fused, 8, 1)};
  EXPECT_TRUE(compared_steps(test::synthetic_machine(), samples).empty());
  const StepSample same = step_of("standard", Schedule::fused, 8, 1);
  std::vector<StepSample> others(7, same);
  others[0].tokens = 64;
  others[1].dtype = Dtype::f32;
  others[2].weight_bytes = Bytes{9e6};
  others[3].hidden_size = 4096;
  others[4].num_layers = 64;
  others[5].num_layers = 32;
  others[6].launch = Launch::graph;
  samples.steps.insert(samples.steps.end(), others.begin(), others.end());
  EXPECT_TRUE(compared_steps(test::synthetic_machine(), samples).empty());
  samples.steps.push_back(same);
  EXPECT_EQ(compared_steps(test::synthetic_machine(), samples).size(), 1U);
}

/// The time of a step with 48 layers in blocks of eight, summed launch by launch.
double waited_for_in_two_phases(const Machine& machine, double tokens) {
  Execution execution{.tokens = tokens,
                      .launch = Launch::stream,
                      .storage = {2304, Dtype::bf16, Dtype::bf16},
                      .layer_bytes = Bytes{8e6},
                      .bank_age = 8};
  const auto terms = [&](const Operation& operation) {
    return LaunchTime(machine, operation, execution).terms({});
  };
  double seconds = 0;
  for (const auto& [layer, operation] :
       all_operations({Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(48, 8)}}, 48},
                      Schedule::two_phase))
    seconds += critical_time(operation, execution, terms(operation)).value;
  execution.bank_age = 1;
  return seconds - 48 * terms(operations::residual_add_rmsnorm()).total().value;
}

TEST(Steps, WithPhase1OnASecondBranchWaitForItsFirstQueryAlone) {
  const Machine machine = test::synthetic_machine();
  Samples samples;
  samples.steps = {step_of("standard", Schedule::fused, 8, kBaseline),
                   step_of("block_attnres", Schedule::two_phase, 8, kBaseline),
                   step_of("block_attnres", Schedule::two_phase, 8, kBaseline)};
  samples.steps[2].phase1 = Phase1Order::hoisted;
  const auto compared = compared_steps(machine, samples);
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_EQ(compared[1].phase1, Phase1Order::hoisted);
  const Estimate<Seconds>& hoisted = compared[1].predicted;
  EXPECT_NEAR(hoisted.value.value, waited_for_in_two_phases(machine, 8), 1e-12);
  EXPECT_LT(hoisted.value, compared[0].predicted.value);
  EXPECT_LE(hoisted.low, hoisted.value);
  EXPECT_LE(hoisted.value, hoisted.high);
}

TEST(Steps, OfAttentionOverDepthAreTheModels) {
  Samples samples;
  samples.steps = {step_of("standard", Schedule::fused, 8, kBaseline),
                   step_of("block_attnres", Schedule::single_pass, 8, kBaseline),
                   step_of("block_attnres", Schedule::two_phase, 8, kBaseline)};
  const auto compared = compared_steps(test::synthetic_machine(), samples);
  ASSERT_EQ(compared.size(), 2U);
  for (const StepComparison& step : compared) {
    EXPECT_GT(step.predicted.value.value, 0);
    EXPECT_LT(step.error(), 0);
  }
}

}  // namespace
}  // namespace depthcost::profile::steps_test
