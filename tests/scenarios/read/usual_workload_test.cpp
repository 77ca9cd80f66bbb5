// A named workload is the one that a user would have written out.
#include <gtest/gtest.h>

#include "tests/scenarios/read/refused_case.hpp"

namespace depthcost::usual_workload_test {
namespace {

const std::string kModel = "schema: depthcost/1\nmodel: kimi_k3\n";

Study asked(const std::string& text) {
  return test::parse_scenario(kModel + text, "it.yaml").study;
}

TEST(UsualWorkload, OfTrainingIsOneSequenceAtATime) {
  const Study study = asked("workload: training\n");
  ASSERT_TRUE(study.training);
  EXPECT_FALSE(study.decode || study.prefill);
  EXPECT_EQ(study.training->sequence_length, 8192);
  EXPECT_EQ(study.training->micro_batch_size, 1);
  EXPECT_EQ(study.training->num_micro_batches, 512);
}

TEST(UsualWorkload, StandsForAnEmptyMapToo) {
  const Study study = asked("workload: {training: {}, prefill: {tokens: 4096}}\n");
  EXPECT_EQ(study.training->sequence_length, 8192);
  EXPECT_EQ(study.prefill->tokens, 4096);
}

TEST(UsualWorkload, OfTrainingFillsAPipeline) {
  const Study study = asked("parallelism: {pipeline: 6}\nworkload: training\n");
  EXPECT_EQ(study.training->num_micro_batches, 24);
}

TEST(UsualWorkload, OfDecodeAndPrefillIsThatOfTheCommandLine) {
  const Study decode = asked("workload: decode\n");
  EXPECT_EQ(decode.decode->sequences, (std::vector<Count>{1, 64, 512}));
  EXPECT_EQ(decode.decode->context, 8192);
  EXPECT_FALSE(decode.prefill);
  EXPECT_EQ(asked("workload: prefill\n").prefill->tokens, 131072);
  EXPECT_EQ(asked("workload: prefill\n").prefill->chunk, 16384);
}

TEST(UsualWorkload, OfPrefillIsSharedByTheTensorRanks) {
  EXPECT_EQ(asked("workload: prefill\n").prefill->sequence_shards, 1);
  for (const char* ranks : {"4", "{value: 4, source: mine, date: 2026-01-01}"})
    EXPECT_EQ(asked("parallelism: {tensor: " + std::string(ranks) + "}\nworkload: prefill\n")
                  .prefill->sequence_shards,
              4)
        << ranks;
}

TEST(UsualWorkload, NamesTheSourceOfEachValue) {
  const Scenario scenario =
      test::parse_scenario(kModel + "parallelism: {pipeline: 2}\nworkload: training\n", "it.yaml");
  const auto origin = [&](const std::string& key) {
    for (const ResolvedValue& value : scenario.values)
      if (value.key == key) return value.value + " <- " + value.origin;
    return std::string();
  };
  EXPECT_EQ(origin("workload.training.sequence_length"),
            "8192 <- it.yaml:4: default: Llama 3 is trained on 8K tokens, arXiv:2407.21783");
  EXPECT_EQ(origin("workload.training.micro_batches"),
            "8 <- it.yaml:4: default: four a stage, arXiv:1811.06965 Sec. 2.3");
}

TEST(UsualWorkload, RefusesOtherNames) {
  test::expect_refused({"Name", kModel + "workload: serving\n",
                        "it.yaml:3:11: error: invalid workload 'serving' (must be decode | prefill "
                        "| training, or a map of them)"});
  test::expect_refused({"Stages", kModel + "parallelism: {pipeline: x}\nworkload: training\n",
                        "it.yaml:3:25: error: invalid parallelism.pipeline 'x' (must be a "
                        "positive integer)"});
}

}  // namespace
}  // namespace depthcost::usual_workload_test
