// Served steps as scenarios, and how well what has not seen them predicts them.
#include "scenarios/measured/served_steps.hpp"

#include <gtest/gtest.h>

#include <map>

#include "scenarios/measured/comparisons.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::served_steps_test {
namespace {

const std::string kHeader =
    "model,gpu,precision,stack,tensor,expert,sequences,input,output,tpot_ms\n";

/// Between two tokens of one of 9 sequences with 512 tokens of output, 8 others begin.
TEST(ServedSteps, AreADecodeStepAndAShareOfPrefills) {
  const auto steps =
      parse_served_steps(kHeader + "llama_3_1_8b,h100_sxm,fp8,vllm,2,1,9,1024,512,5.5\n", "it.csv",
                         shipped_constants());
  ASSERT_EQ(steps.size(), 1U);
  const ServedStep& step = steps.front();
  EXPECT_EQ(step.id, "llama_3_1_8b/h100_sxm/fp8/tensor:2/expert:1/1024+512/sequences:9");
  EXPECT_EQ(step.prefills, 8.0 / 512);
  EXPECT_EQ(step.seconds.value, 5.5e-3);
  EXPECT_EQ(step.study.decode->context, 1280);
  EXPECT_EQ(step.study.prefill->tokens, 1024);
  EXPECT_EQ(step.study.model.architecture->weight_dtype, WeightDtype::fp8);
  const auto rows = step_rows(step.study, step.study.path, Schedule::fused);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(
      predicted_time(step)->value.value,
      rows[0].baseline_step->value.value + 8.0 / 512 * rows[1].baseline_step->value.value);
}

TEST(ServedSteps, HaveTheWeightsOfTheirPrecision) {
  struct Case {
    std::string model;
    std::string precision;
    WeightDtype weights;
    WeightDtype experts;
  };
  const std::vector<Case> cases{{"deepseek_v3", "fp8", WeightDtype::fp8, WeightDtype::fp8},
                                {"deepseek_v3", "fp4", WeightDtype::fp8, WeightDtype::mxfp4},
                                {"kimi_k2", "int4", WeightDtype::bf16, WeightDtype::mxfp4},
                                {"llama_3_1_70b", "fp4", WeightDtype::mxfp4, WeightDtype::mxfp4},
                                {"llama_3_1_70b", "fp8", WeightDtype::fp8, WeightDtype::fp8}};
  for (const Case& row : cases) {
    const std::string text =
        kHeader + row.model + ",b200_sxm," + row.precision + ",vllm,8,1,1,1024,1024,5\n";
    const auto steps = parse_served_steps(text, "it.csv", shipped_constants());
    const Architecture& architecture = *steps.front().study.model.architecture;
    EXPECT_EQ(architecture.weight_dtype, row.weights) << row.model << " " << row.precision;
    if (!has_experts(architecture)) continue;
    EXPECT_EQ(architecture.expert_dtype, row.experts) << row.model << " " << row.precision;
  }
}

TEST(ServedSteps, NeedACellForEachColumn) {
  try {
    parse_served_steps(kHeader + "llama_3_1_8b,h100_sxm\n", "it.csv", shipped_constants());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "it.csv:2:1: error: row of 2 cells (the header has 10)");
  }
}

/// The promise of the intervals, kept on rows that nobody has fitted.
TEST(Intervals, HoldSteps) {
  for (const Unseen unseen : {Unseen::model, Unseen::gpu}) {
    std::vector<Comparison> all;
    for (const ComparedRun& serving : compared_servings(served_steps(unseen)))
      all.push_back(serving.comparison);
    EXPECT_EQ(all.size(), 463U);
    const ErrorSummary errors = summary_of(all);
    EXPECT_GE(errors.inside, 0.88);
    EXPECT_LE(errors.median, 0.13);
    EXPECT_LE(errors.p90, 0.33);
  }
}

/// A program that measured every kernel of these GPUs is the one to beat.
TEST(ServedSteps, ArePredictedBetterThanByAPeer) {
  std::vector<Comparison> ours;
  std::vector<Comparison> theirs;
  for (const ComparedRun& serving : compared_servings(served_steps())) {
    if (!serving.peer) continue;
    ours.push_back(serving.comparison);
    theirs.push_back({.measured = serving.comparison.measured,
                      .error = serving.comparison.measured.value / *serving.peer - 1});
  }
  EXPECT_EQ(ours.size(), 101U);
  EXPECT_LT(summary_of(ours).median, summary_of(theirs).median);
  EXPECT_LT(summary_of(ours).p90, summary_of(theirs).p90);
}

TEST(Intervals, HoldKernelsOfEachGpu) {
  std::map<std::string, std::vector<Comparison>> by_gpu;
  for (const ComparedCase& compared :
       published_cases(published_measurements(), shipped_rules("published")))
    by_gpu[compared.hardware].push_back(compared.comparison);
  for (const auto& [gpu, comparisons] : by_gpu) {
    if (comparisons.size() < 40) continue;
    EXPECT_GE(summary_of(comparisons).inside, 0.85) << gpu;
  }
}

}  // namespace
}  // namespace depthcost::served_steps_test
