// What depthcost writes for a training step is what bench_pipeline reads.
#include "reports/topics/training/pipeline_plan.hpp"

#include <gtest/gtest.h>

#include "microbench/mpi/plan_file.hpp"
#include "tests/studies.hpp"

namespace depthcost::pipeline_plan_test {
namespace {

bench::PipelinePlan read_back(const Evaluation& evaluation) {
  return bench::parse_plan(pipeline_plan(evaluation), "plan.json");
}

void expect_same_step(const Study& study) {
  const Evaluation evaluation = evaluate(study);
  const PipelineWork work = bench::work_of(read_back(evaluation));
  const PipelineWork& expected = *evaluation.training.work;
  ASSERT_EQ(work.forward_messages.size(), expected.forward_messages.size());
  for (std::size_t i = 0; i < work.forward_messages.size(); ++i) {
    EXPECT_EQ(work.forward_messages[i], expected.forward_messages[i]) << i;
    EXPECT_EQ(work.backward_messages[i], expected.backward_messages[i]) << i;
  }
  // Twelve digits of every time are written.
  EXPECT_NEAR(simulate(work).makespan / evaluation.training.simulated->makespan, 1, 1e-9);
}

TEST(Plan, SimulatesToTheStepThatItWasWrittenFor) { expect_same_step(test::training_study()); }

TEST(Plan, SimulatesToItWithOtherSchedulesCachesAndSends) {
  Study study = test::training_study();
  study.training->cache = Cache::own;
  study.training->sends = Sends::blocking;
  study.training->activations = ActivationPolicy::offload;
  expect_same_step(study);
  study.pipeline = even_layout(4, 1, 93, 2);
  study.training->schedule = PipelineSchedule::zb_h1;
  study.training->cache = Cache::none;
  expect_same_step(study);
}

TEST(Plan, SimulatesToItWithGradientsOfAnotherType) {
  Study study = test::training_study();
  study.training->gradient_dtype = Dtype::f32;
  expect_same_step(study);
}

TEST(Plan, SimulatesToItWithStreamsAndFreeLinks) {
  Study study = test::training_study();
  std::swap(study.path, study.compare[1]);
  study.schedule = Schedule::fused;
  study.machine->transfers.resize(2);
  expect_same_step(study);
}

TEST(Plan, TakesAStepWithoutAPipeline) {
  Study study = test::training_study();
  study.pipeline.reset();
  study.training->schedule = PipelineSchedule::one_forward_one_backward;
  expect_same_step(study);
}

}  // namespace
}  // namespace depthcost::pipeline_plan_test
