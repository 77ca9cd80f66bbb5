// Groups of replicas counted device by device, and what they exchange.
#include "model/training/replicas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

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

/// Every device of a step, numbered tensor first, then context, data and stage; those that hold the
/// same weights by node.
struct Counted {
  std::map<Count, Count> by_node;

  ReplicaGroup group() const {
    ReplicaGroup counted{0, 0, by_node.begin()->second, 0};
    for (const auto& [node, replicas] : by_node) {
      counted.replicas += replicas;
      ++counted.nodes;
      counted.fewest_in_a_node = std::min(counted.fewest_in_a_node, replicas);
      counted.most_in_a_node = std::max(counted.most_in_a_node, replicas);
    }
    return counted;
  }
};

/// The replicas of the first `share` of a stage's weights, which `stride` ranks hold together.
Counted counted(const Study& study, Count stage, Count stride) {
  Counted replicas;
  const Count stages = study.pipeline ? study.pipeline->num_stages : 1;
  const bool has_copies = study.training->schedule == PipelineSchedule::dualpipe;
  Count rank = 0;
  for (Count p = 0; p < stages; ++p)
    for (Count in_stage = 0; in_stage < ranks_per_stage(study); ++in_stage, ++rank)
      if (in_stage % stride == 0 && (p == stage || (has_copies && p == stages - 1 - stage)))
        ++replicas.by_node[rank / study.machine->devices_per_node];
  return replicas;
}

void expect_group(const ReplicaGroup& group, const ReplicaGroup& expected) {
  EXPECT_EQ(group.replicas, expected.replicas);
  EXPECT_EQ(group.nodes, expected.nodes);
  EXPECT_EQ(group.fewest_in_a_node, expected.fewest_in_a_node);
  EXPECT_EQ(group.most_in_a_node, expected.most_in_a_node);
}

TEST(Replicas, AreNeighboursInAStage) {
  for (const Count tensor : {1, 2, 8})
    for (const Count context : {1, 2})
      for (const Count data : {1, 2, 4, 16}) {
        const Study study = study_of(tensor, context, data, tensor);
        expect_group(dense_replicas(study), counted(study, 0, tensor).group());
      }
}

/// Nodes of 72 devices end inside the fifth stage of 16 ranks: its two replicas lie apart.
TEST(Replicas, AreThoseOfTheStageWhereTheyLieWorst) {
  Study study = study_of(8, 1, 2, 8);
  study.machine->devices_per_node = 72;
  expect_group(dense_replicas(study), {2, 1, 2, 2});
  study.pipeline = even_layout(8, 1, study.model.num_layers, 1);
  expect_group(dense_replicas(study), counted(study, 4, 8).group());
  expect_group(dense_replicas(study), {2, 2, 1, 1});
}

/// Stages 0 and 3 have copies of the same chunks: in one node of 8, and with 2 replicas in two.
TEST(Replicas, OfTwoDirectionsAreCopiesOnStagesFarApart) {
  Study study = study_of(2, 1, 1, 1);
  study.pipeline = even_layout(4, 1, study.model.num_layers, 1);
  study.training->schedule = PipelineSchedule::dualpipe;
  expect_group(dense_replicas(study), counted(study, 0, 2).group());
  expect_group(dense_replicas(study), {2, 1, 2, 2});
  study.data_parallel_size = 2;
  expect_group(dense_replicas(study), counted(study, 0, 2).group());
  expect_group(dense_replicas(study), {4, 2, 2, 2});
}

TEST(Replicas, OfExpertsAreWhatExpertRanksLeave) {
  for (const Count expert : {1, 4, 8, 16, 32}) {
    const Study study = study_of(1, 1, 32, expert);
    expect_group(expert_replicas(study), counted(study, 0, expert).group());
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
  EXPECT_NEAR(time->once.value.value, 6e9 * 0.75 / 8 / (0.8 * 50e9) + 6e9 * 0.875 / (0.8 * 400e9),
              1e-9);
  // At the low end the work on one of eight micro-batches hides it.
  EXPECT_EQ(time->exposed(IntervalEnd::low, Seconds{1}, {}), Seconds{});
  EXPECT_NEAR(time->exposed(IntervalEnd::low, Seconds{0.01}, {}).value, time->once.low.value - 0.01,
              1e-12);
  EXPECT_EQ(time->exposed(IntervalEnd::value, Seconds{1}, {}), time->once.value);
  EXPECT_GT(time->exposed(IntervalEnd::high, Seconds{1}, {}), time->once.value);
}

/// What is not shared out comes back as it went: the sum of the gradients. A device that keeps a
/// share of the gradients sends each micro-batch's.
TEST(Reduction, SendsTheTypesOfTheStep) {
  struct Row {
    StateSharding sharding;
    Dtype gradients;
    double once;
    double forward;
    double backward;
  };
  for (const Row& row : {Row{StateSharding::none, Dtype::f32, 80, 0, 0},
                         Row{StateSharding::none, Dtype::bf16, 40, 0, 0},
                         Row{StateSharding::optimizer, Dtype::f32, 60, 0, 0},
                         Row{StateSharding::gradients, Dtype::f32, 20, 0, 40},
                         Row{StateSharding::gradients, Dtype::bf16, 20, 0, 20},
                         Row{StateSharding::weights, Dtype::f32, 0, 20, 60},
                         Row{StateSharding::weights, Dtype::bf16, 0, 20, 40}}) {
    const ReplicaBytes bytes =
        replica_bytes({.sharding = row.sharding, .main_gradients = row.gradients}, 10);
    EXPECT_EQ(bytes.once.value, row.once);
    EXPECT_EQ(bytes.forward.value, row.forward);
    EXPECT_EQ(bytes.backward.value, row.backward);
  }
}

/// A pass lasts as long as what is exchanged beside it, or the other way round. At the high end
/// neither hides the other.
TEST(Reduction, LastsAsLongAsThePassBesideIt) {
  for (const IntervalEnd end : {IntervalEnd::low, IntervalEnd::value}) {
    EXPECT_EQ(beside_exchange(Seconds{2}, Seconds{3}, end), Seconds{3});
    EXPECT_EQ(beside_exchange(Seconds{3}, Seconds{2}, end), Seconds{3});
  }
  EXPECT_EQ(beside_exchange(Seconds{2}, Seconds{3}, IntervalEnd::high), Seconds{5});
}

/// What is exchanged with the last backward pass has nothing to hide beside it.
TEST(Reduction, OfTheLastBackwardPassIsLeft) {
  Study study = study_of(1, 1, 8, 1);
  study.training->sharding = StateSharding::gradients;
  const ReductionTime time = reduction_time(study, {.dense = 1e9}).value();
  const auto exposed = [&](IntervalEnd end, double last_backward) {
    return time.exposed(end, Seconds{1}, Seconds{last_backward});
  };
  EXPECT_EQ(exposed(IntervalEnd::value, 1), time.once.value + time.backward.value);
  EXPECT_NEAR(exposed(IntervalEnd::value, 1e-3).value, time.once.value.value + 1e-3, 1e-12);
  EXPECT_EQ(exposed(IntervalEnd::low, 1), Seconds{});
  EXPECT_EQ(exposed(IntervalEnd::high, 1), time.once.high);
}

/// Each micro-batch's passes over two links: nothing of it comes once a step.
TEST(Reduction, OfSharedWeightsGoesInEveryPass) {
  Study study = study_of(1, 1, 8, 1);
  study.training->sharding = StateSharding::weights;
  const auto time = reduction_time(study, {.dense = 1e9});
  ASSERT_TRUE(time);
  const double byte = 0.875 / (0.8 * 400e9);
  EXPECT_EQ(time->once.value, Seconds{});
  EXPECT_NEAR(time->forward.value.value, 2e9 * byte, 1e-9);
  EXPECT_NEAR(time->backward.value.value, 6e9 * byte, 1e-9);
  EXPECT_NEAR(time->backward.high.value, 6e9 * byte * 0.8 / 0.5, 1e-9);
}

/// Stages with two copies of each chunk reduce both once a step; a pass goes through one of them.
TEST(Reduction, OfAPassIsThatOfOneCopy) {
  Study study = study_of(1, 1, 8, 1);
  study.pipeline = even_layout(4, 1, study.model.num_layers, 1);
  study.training->sharding = StateSharding::gradients;
  const Study one_copy = study;
  study.training->schedule = PipelineSchedule::dualpipe;
  const auto backward_over_once = [](const Study& of) {
    const ReductionTime time = reduction_time(of, {.dense = 1e9}).value();
    return time.backward.value / time.once.value;
  };
  EXPECT_NEAR(backward_over_once(one_copy), 2, 1e-12);
  EXPECT_NEAR(backward_over_once(study), 1, 1e-12);
}

/// One of nine replicas lies alone: it sends 8/9 of all bytes over its adapter.
TEST(Reduction, WaitsForAReplicaThatLiesAlone) {
  const auto time = reduction_time(study_of(1, 1, 9, 1), {.dense = 1e9});
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->once.value.value, 6e9 * (8.0 / 9) / (0.8 * 50e9) + 6e9 * 0.875 / (0.8 * 400e9),
              1e-9);
}

/// 8 bytes of a gain's gradient, between 4 tensor ranks that share out the tokens.
TEST(Reduction, OfWhatEveryTensorRankHasIsBetweenThem) {
  Study study = study_of(4, 1, 1, 1);
  study.layout = Layout::sequence_sharded;
  EXPECT_NEAR(tensor_reduction_time(study, 1e9).once.value.value, 8e9 * 0.75 / (0.8 * 400e9), 1e-9);
  // A device of DualPipe has two chunks, one of each direction.
  study.training->schedule = PipelineSchedule::dualpipe;
  EXPECT_NEAR(tensor_reduction_time(study, 1e9).once.value.value, 16e9 * 0.75 / (0.8 * 400e9),
              1e-9);
  study.layout = Layout::replicated;
  EXPECT_EQ(tensor_reduction_time(study, 1e9).once.high, Seconds{});
}

/// Experts over 32 ranks have no replica.
TEST(Reduction, LeavesOutWhatIsThereOnce) {
  const auto time = reduction_time(study_of(1, 1, 32, 32), {.experts = 1e9});
  ASSERT_TRUE(time);
  EXPECT_EQ(time->once.high.value, 0);
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
  const Seconds of_tensor_ranks = one.runs.front().reduction;
  EXPECT_GT(of_tensor_ranks, Seconds{});
  EXPECT_GT(run.reduction, of_tensor_ranks);
  EXPECT_EQ(run.makespan, one.runs.front().makespan);
  const Seconds grown =
      many.steps.front().baseline_step->value - one.steps.front().baseline_step->value;
  const Seconds added = many.steps.front().delta.value - one.steps.front().delta.value;
  EXPECT_NEAR((grown + added).value, (run.reduction - of_tensor_ranks).value, 1e-9);
}

}  // namespace
}  // namespace depthcost::replicas_test
