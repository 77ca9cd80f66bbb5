// Which of the usual batches are answered, and that written ones are.
#include "scenarios/read/unasked_batches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "scenarios/read/scenario_options.hpp"
#include "scenarios/read/sweep_plan.hpp"

namespace depthcost {
namespace {

ScenarioOptions llama_70b(const std::string& tensor) {
  ScenarioOptions options;
  options.model = "llama_3_1_70b";
  options.hardware = "h100_sxm";
  options.tensor = tensor;
  return options;
}

const ResolvedValue& batches_of(const Scenario& scenario) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == "workload.decode.sequences") return value;
  throw std::logic_error("no batches");
}

void expect_batches(const ScenarioOptions& options, const std::vector<Count>& batches,
                    const std::string& left_out) {
  const Scenario scenario = asked_scenario("", options);
  EXPECT_EQ(scenario.study.decode->sequences, batches);
  EXPECT_EQ(batches_of(scenario).value, fmt::format("{}", fmt::join(batches, ", ")));
  EXPECT_EQ(batches_of(scenario).origin, "default: [ours] a user to a crowd" + left_out);
}

TEST(UnaskedBatches, ThatDoNotFitAreLeftOut) {
  expect_batches(
      llama_70b("8"), {1, 64},
      "; without 512, with which the standard residual leaves less than a tenth of the memory "
      "free");
}

TEST(UnaskedBatches, StayWhereTheyFit) {
  ScenarioOptions options = llama_70b("8");
  options.context = "512";
  expect_batches(options, {1, 64, 512}, "");
}

TEST(UnaskedBatches, LeaveTheSmallestWhereNoneFits) {
  expect_batches(
      llama_70b("1"), {1},
      "; without 64 and 512, with which the standard residual leaves less than a tenth of the "
      "memory free");
}

TEST(UnaskedBatches, StayWhereTheirStepsWereMeasured) {
  ScenarioOptions options = llama_70b("8");
  options.settings = {"baseline_step.decode=[1 s, 1 s, 1 s]"};
  expect_batches(options, {1, 64, 512}, "");
}

/// 70B fits on one H200 with one sequence, on eight with 64, and on no RTX 4090.
TEST(UnaskedBatches, AreTheSameInAllScenesOfASweep) {
  const auto batches_of = [](const std::string& axis) {
    ScenarioOptions options = llama_70b("");
    options.hardware = "h200_sxm";
    options.scheme = "block_attnres";
    std::vector<std::vector<Count>> batches;
    const SweepPlan plan =
        plan_sweep(asked_document("", options), {"block_size=16", axis}, kDefaultMaxPoints);
    for (const SweepScene& scene : plan.scenes)
      batches.push_back(scene.study.value().decode->sequences);
    return batches;
  };
  using Batches = std::vector<std::vector<Count>>;
  EXPECT_EQ(batches_of("parallelism.tensor=8"), (Batches{{1, 64}}));
  EXPECT_EQ(batches_of("parallelism.tensor=1,8"), (Batches{{1}, {1}}));
  EXPECT_EQ(batches_of("hardware=rtx_4090"), (Batches{{1}}));
  EXPECT_EQ(batches_of("hardware=rtx_4090,h200_sxm"), (Batches{{1}, {1}}));
  EXPECT_EQ(batches_of("workload.decode.sequences=64"), (Batches{{64}}));
}

TEST(UnaskedBatches, AreNotThoseThatAreWritten) {
  ScenarioOptions options = llama_70b("8");
  options.decode = "1,64,512";
  EXPECT_EQ(asked_scenario("", options).study.decode->sequences, (std::vector<Count>{1, 64, 512}));
}

TEST(UnaskedBatches, StayWhereEverythingMustFit) {
  ScenarioOptions options = llama_70b("8");
  options.budgets = {"device_memory=fits"};
  EXPECT_EQ(asked_scenario("", options).study.decode->sequences, (std::vector<Count>{1, 64, 512}));
}

TEST(UnaskedBatches, NeedAMemoryThatIsKnown) {
  ScenarioOptions options = llama_70b("");
  options.hardware = "";
  EXPECT_EQ(asked_scenario("", options).study.decode->sequences, (std::vector<Count>{1, 64, 512}));
}

}  // namespace
}  // namespace depthcost
