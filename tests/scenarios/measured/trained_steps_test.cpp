// Measured training steps as scenarios, and how well what has not seen them predicts them.
#include "scenarios/measured/trained_steps.hpp"

#include <gtest/gtest.h>

#include "scenarios/text/input_error.hpp"

namespace depthcost::trained_steps_test {
namespace {

const std::string kHeader =
    "model,gpu,devices,precision,sequence_length,micro_batch,global_batch,tensor,context,pipeline,"
    "virtual_stages,expert,tokens_per_second,release\n";

TEST(TrainedSteps, AreScenarios) {
  const auto steps = parse_trained_steps(
      kHeader + "deepseek_v3,h100_sxm,1024,fp8,4096,1,8192,2,1,8,4,64,1297,25.09\n", "it.csv",
      shipped_constants());
  ASSERT_EQ(steps.size(), 1U);
  const TrainedStep& step = steps.front();
  EXPECT_EQ(step.id,
            "deepseek_v3/h100_sxm/fp8/devices:1024/tensor:2/context:1/pipeline:8x4/expert:64/"
            "8192x1x4096");
  EXPECT_EQ(step.study.data_parallel_size, 64);
  EXPECT_EQ(step.study.training->num_micro_batches, 128);
  EXPECT_EQ(step.study.training->precision, Precision::fp8);
  EXPECT_DOUBLE_EQ(step.seconds.value, 8192.0 * 4096 / (1297.0 * 1024));
}

TEST(TrainedSteps, NeedACellForEachColumn) {
  try {
    parse_trained_steps(kHeader + "deepseek_v3,h100_sxm\n", "it.csv", shipped_constants());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "it.csv:2:1: error: row of 2 cells (the header has 14)");
  }
}

/// The promise of the intervals, kept on rows that nobody has fitted. Of 42 rows one in ten may
/// lie outside, and by chance two more.
TEST(Intervals, HoldTrainingSteps) {
  for (const Unseen unseen : {Unseen::model, Unseen::gpu}) {
    std::vector<Comparison> all;
    for (const ComparedRun& run : compared_training(trained_steps(unseen)))
      all.push_back(run.comparison);
    EXPECT_EQ(all.size(), 42U);
    const ErrorSummary errors = summary_of(all);
    EXPECT_GE(errors.inside, 0.85);
    EXPECT_LE(errors.median, 0.16);
    EXPECT_LE(errors.p90, 0.40);
  }
}

}  // namespace
}  // namespace depthcost::trained_steps_test
