// Which of the usual batches are answered, and that written ones are.
#include "scenarios/read/unasked_batches.hpp"

#include <gtest/gtest.h>

#include "scenarios/read/scenario_options.hpp"

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

TEST(UnaskedBatches, ThatDoNotFitAreLeftOut) {
  const Scenario scenario = asked_scenario("", llama_70b("8"));
  EXPECT_EQ(scenario.study.decode->sequences, (std::vector<Count>{1, 64}));
  EXPECT_EQ(batches_of(scenario).value, "1, 64");
  EXPECT_EQ(batches_of(scenario).origin,
            "default: [ours] a user to a crowd; without 512, which does not fit with the standard "
            "residual");
}

TEST(UnaskedBatches, StayWhereTheyFit) {
  ScenarioOptions options = llama_70b("8");
  options.context = "512";
  const Scenario scenario = asked_scenario("", options);
  EXPECT_EQ(scenario.study.decode->sequences, (std::vector<Count>{1, 64, 512}));
  EXPECT_EQ(batches_of(scenario).origin, "default: [ours] a user to a crowd");
}

TEST(UnaskedBatches, LeaveTheSmallestWhereNoneFits) {
  const Scenario scenario = asked_scenario("", llama_70b("1"));
  EXPECT_EQ(scenario.study.decode->sequences, (std::vector<Count>{1}));
  EXPECT_EQ(batches_of(scenario).origin,
            "default: [ours] a user to a crowd; without 64 and 512, which do not fit with the "
            "standard residual");
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
