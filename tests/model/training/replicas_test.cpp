// Groups of replicas counted device by device, and what they exchange.
#include "model/training/replicas.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/step/layer_cost.hpp"
#include "model/training/training_step.hpp"
#include "tests/studies.hpp"

namespace depthcost::replicas_test {
namespace {

Study study_of(Count tensor, Count context, Count data, Count expert) {
  Study study = test::kimi_k3_study();
  study.training = Training{};
  study.tensor_parallel_size = tensor;
  study.context_parallel_size = context;
  study.data_parallel_size = data;
  study.expert_parallel_size = expert;
  study.machine->devices_per_node = 8;
  study.machine->network_bandwidth = BytesPerSecond{50e9};
  study.machine->link_bandwidth = BytesPerSecond{400e9};
  return study;
}

/// Every `stride`-th device of a stage, from the first, and how many of them its first node has.
ReplicaGroup counted(Count devices, Count stride) {
  ReplicaGroup group{0, 0};
  for (Count device = 0; device < devices; device += stride) {
    ++group.replicas;
    if (device < 8) ++group.in_a_node;
  }
  return group;
}

TEST(Replicas, AreNeighboursInAStage) {
  for (const Count tensor : {1, 2, 8})
    for (const Count context : {1, 2})
      for (const Count data : {1, 2, 4, 16}) {
        const Study study = study_of(tensor, context, data, tensor);
        const ReplicaGroup expected = counted(tensor * context * data, tensor);
        const ReplicaGroup dense = dense_replicas(study);
        EXPECT_EQ(dense.replicas, expected.replicas);
        EXPECT_EQ(dense.in_a_node, expected.in_a_node);
      }
}

TEST(Replicas, OfExpertsAreWhatExpertRanksLeave) {
  for (const Count expert : {1, 4, 8, 16, 32}) {
    const ReplicaGroup experts = expert_replicas(study_of(1, 1, 32, expert));
    const ReplicaGroup expected = counted(32, expert);
    EXPECT_EQ(experts.replicas, expected.replicas) << expert;
    EXPECT_EQ(experts.in_a_node, expected.in_a_node) << expert;
  }
  // Eight tensor ranks cut each of two shares of the experts in four.
  EXPECT_EQ(expert_replicas(study_of(8, 1, 4, 2)).replicas, 4);
}

/// 6 bytes of each weight. Of 32 replicas 8 are in each of 4 nodes: an eighth of 3/4 crosses the
/// network, 7/8 the links of a node.
TEST(Reduction, CrossesNodesInParts) {
  const Study study = study_of(1, 1, 32, 1);
  const auto time = reduction_time(study, {.dense = 1e9});
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->value.value, 6e9 * 0.75 / 8 / (0.8 * 50e9) + 6e9 * 0.875 / (0.8 * 400e9), 1e-9);
  EXPECT_EQ(time->low.value, 0);
  EXPECT_GT(time->high, time->value);
}

/// What is not shared out comes back as it went: the sum of the gradients.
TEST(Reduction, SendsTheTypesOfTheStep) {
  Training training{.sharding = StateSharding::none, .main_gradients = Dtype::f32};
  EXPECT_EQ(reduced_bytes(training, 10).value, 80);
  training.main_gradients = Dtype::bf16;
  EXPECT_EQ(reduced_bytes(training, 10).value, 40);
  training.sharding = StateSharding::weights;
  EXPECT_EQ(reduced_bytes(training, 10).value, 40);
  training.main_gradients = Dtype::f32;
  EXPECT_EQ(reduced_bytes(training, 10).value, 60);
}

/// Experts over 32 ranks have no replica.
TEST(Reduction, LeavesOutWhatIsThereOnce) {
  const auto time = reduction_time(study_of(1, 1, 32, 32), {.experts = 1e9});
  ASSERT_TRUE(time);
  EXPECT_EQ(time->high.value, 0);
}

TEST(Reduction, NeedsTheLinksThatItCrosses) {
  Study study = study_of(1, 1, 32, 1);
  study.machine->network_bandwidth.reset();
  EXPECT_FALSE(reduction_time(study, {.dense = 1}));
  study.data_parallel_size = 8;
  EXPECT_TRUE(reduction_time(study, {.dense = 1}));
  study.machine->link_bandwidth.reset();
  EXPECT_FALSE(reduction_time(study, {.dense = 1}));
  study.data_parallel_size = 1;
  EXPECT_TRUE(reduction_time(study, {.dense = 1}));
}

/// A scheme's own parameters are reduced, too: what the step adds grows by their time.
TEST(Reduction, IsPartOfAStep) {
  Study study = study_of(8, 1, 4, 8);
  study.decode.reset();
  study.prefill.reset();
  study.budgets.clear();
  study.pipeline.reset();
  study.training = Training{.sequence_length = 8192};
  const TrainingAnswer many = training_answer(study, paths_of(study));
  study.data_parallel_size = 1;
  const TrainingAnswer one = training_answer(study, paths_of(study));
  ASSERT_FALSE(many.runs.empty());
  const TrainingRun& run = many.runs.front();
  EXPECT_GT(run.reduction, Seconds{});
  EXPECT_EQ(one.runs.front().reduction, Seconds{});
  EXPECT_EQ(run.makespan, one.runs.front().makespan);
  const Seconds grown =
      many.steps.front().baseline_step->value - one.steps.front().baseline_step->value;
  const Seconds added = many.steps.front().delta.value - one.steps.front().delta.value;
  EXPECT_NEAR((grown + added).value, run.reduction.value, 1e-9);
}

}  // namespace
}  // namespace depthcost::replicas_test
