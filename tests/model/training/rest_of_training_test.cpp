// Products by hand: operations over a share of a rate, and rows that travel to other nodes.
#include "model/training/rest_of_training.hpp"

#include <gtest/gtest.h>

#include "model/training/training_work.hpp"
#include "tests/architectures.hpp"
#include "tests/constants.hpp"
#include "tests/studies.hpp"

namespace depthcost::rest_of_training_test {
namespace {

constexpr double kTokens = 4096;
constexpr double kWidth = 1000;

/// Two decoder layers of one small attention and `mlp`, on a machine with round rates.
Study round_study(const Mlp& mlp) {
  Study study = test::kimi_k3_study();
  study.model = {.name = "round", .num_layers = 4, .hidden_size = 1000};
  study.model.architecture = Architecture{
      .attention = {{GroupedAttention{.num_heads = 10, .num_kv_heads = 5, .head_dim = 100}, 2}},
      .mlp = {{mlp, 2}},
      .tables = {},
      .vocabulary_size = 5000,
      .weight_dtype = WeightDtype::mxfp4,
      .expert_dtype = WeightDtype::mxfp4};
  study.path = {Scheme{}, 4};
  study.pipeline.reset();
  study.decode.reset();
  study.prefill.reset();
  study.tensor_parallel_size = 1;
  study.training = Training{.sequence_length = static_cast<Count>(kTokens)};
  Machine& machine = *study.machine;
  machine.tensor_rate = FlopsPerSecond{1e15};
  machine.fp8_rate = FlopsPerSecond{2e15};
  machine.mxfp4_rate = FlopsPerSecond{4e15};
  machine.engine.training = test::constants().engine.training;  // 0.6, 0.4 and 0.2
  machine.network_bandwidth = BytesPerSecond{50e9};
  machine.devices_per_node = 8;
  return study;
}

ExpertMlp experts() { return {.num_experts = 64, .num_active = 2, .num_shared = 1, .width = 400}; }

RestRow row_of(const Study& study, RestTerm term) {
  for (const RestRow& row : rest_of_training(study, training_workload(study)).rows)
    if (row.term == term) return row;
  throw std::logic_error("no such term");
}

// Projections: d x (10 + 5 + 5) heads x 100, and 10 x 100 x d; each token sees 2048.5 keys.
TEST(RestOfTraining, DividesOperationsByShares) {
  const Study study = round_study(DenseMlp{3000});
  const double projections = 2 * (20 * 100 + 10 * 100) * kWidth * kTokens;
  const double core = 2 * 2 * 10 * 100 * 2048.5 * kTokens;
  const RestRow attention = row_of(study, RestTerm::attention);
  EXPECT_NEAR(attention.time.value.value, 2 * (projections + core) / 0.6e15, 1e-9);
  EXPECT_NEAR(attention.time.low / attention.time.value, 0.75, 1e-9);
  EXPECT_NEAR(attention.time.high / attention.time.value, 1.4, 1e-9);
  const double mlp = 2 * 3 * kWidth * 3000 * kTokens;
  EXPECT_NEAR(row_of(study, RestTerm::mlp).time.value.value, 2 * mlp / 0.6e15, 1e-9);
  EXPECT_NEAR(row_of(study, RestTerm::head).time.value.value, 2 * 5000 * kWidth * kTokens / 0.6e15,
              1e-9);
  EXPECT_EQ(row_of(study, RestTerm::launches).time.value.value, 0);
}

/// fp8 speeds up the products with weights. Scores, mixes and the head stay bf16.
TEST(RestOfTraining, ComputesProductsInFp8) {
  Study study = round_study(DenseMlp{3000});
  study.training->precision = Precision::fp8;
  const double projections = 2 * (20 * 100 + 10 * 100) * kWidth * kTokens;
  const double core = 2 * 2 * 10 * 100 * 2048.5 * kTokens;
  EXPECT_NEAR(row_of(study, RestTerm::attention).time.value.value,
              2 * (projections / 0.8e15 + core / 0.6e15), 1e-9);
  EXPECT_NEAR(row_of(study, RestTerm::head).time.value.value, 2 * 5000 * kWidth * kTokens / 0.6e15,
              1e-9);
  study.machine->fp8_rate.reset();
  EXPECT_NEAR(row_of(study, RestTerm::attention).time.value.value,
              2 * (projections + core) / 0.6e15, 1e-9);
}

/// Routed experts have a share of their own, in either precision, whatever type the model ships.
TEST(RestOfTraining, RunsExpertsAtTheirOwnShare) {
  Study study = round_study(experts());
  const auto mlp_time = [&] { return row_of(study, RestTerm::mlp).time.value.value; };
  const double common = 2 * (64 * kWidth + 3 * kWidth * 400) * kTokens;
  const double routed = 2 * 2 * 3 * kWidth * 400 * kTokens;
  EXPECT_NEAR(mlp_time(), 2 * (common / 0.6e15 + routed / 0.2e15), 1e-9);
  study.training->precision = Precision::fp8;
  EXPECT_NEAR(mlp_time(), 2 * (common / 0.8e15 + routed / 0.2e15), 1e-9);
}

/// A token's two experts lie on 4 (1 - (3/4)^2) = 1.75 of four nodes, and three of
/// four of these are others. A row goes there and comes back, in bf16.
TEST(RestOfTraining, SendsTokensToOtherNodesOnce) {
  Study study = round_study(experts());
  EXPECT_EQ(row_of(study, RestTerm::collectives).time.value.value, 0);
  study.data_parallel_size = 32;
  study.expert_parallel_size = 32;
  const Estimate<Seconds> time = row_of(study, RestTerm::collectives).time;
  const double bytes = 2 * kTokens * 1.75 * 0.75 * kWidth * 2;
  EXPECT_NEAR(time.value.value, 2 * bytes / (0.8 * 50e9), 1e-9);
  EXPECT_EQ(time.low.value, 0);  // it may hide behind another micro-batch
  EXPECT_NEAR(time.high.value, 2 * bytes / (0.5 * 50e9), 1e-9);
  study.training->schedule = PipelineSchedule::dualpipe;  // which hides them
  EXPECT_EQ(row_of(study, RestTerm::collectives).time.value.value, 0);
  study.machine->network_bandwidth.reset();
  EXPECT_EQ(rest_of_training(study, training_workload(study)).missing,
            "the hardware has no network_bandwidth, which experts in several nodes need");
}

/// Tensor ranks of one node are in the shares. Those of two join four sublayers over the network,
/// each by a reduce-scatter and an all-gather.
TEST(RestOfTraining, JoinsTensorRanksOfSeveralNodes) {
  Study study = round_study(DenseMlp{3000});
  study.layout = Layout::sequence_sharded;
  for (const TransferKind kind : {TransferKind::reduce_scatter, TransferKind::all_gather})
    for (const double size : {1.0, 1e9})
      study.machine->transfers.push_back(
          {kind, TransferScope::network, 16, Bytes{size},
           test::plus_minus<Seconds>(1e-5 + size / 1e11, 0.1, Evidence::published)});
  study.tensor_parallel_size = 8;
  EXPECT_EQ(row_of(study, RestTerm::collectives).time.value.value, 0);
  study.tensor_parallel_size = 16;
  const RestRow row = row_of(study, RestTerm::collectives);
  EXPECT_NEAR(row.time.value.value, 4 * 2 * (1e-5 + kTokens * kWidth * 2 / 1e11), 1e-9);
  study.machine->transfers.clear();
  study.machine->network_bandwidth.reset();
  EXPECT_EQ(
      rest_of_training(study, training_workload(study)).missing,
      "the hardware has no transfers between nodes, which tensor ranks in several nodes need");
}

TEST(RestOfTraining, KeepsWhatTheUserHasMeasured) {
  Study study = round_study(experts());
  study.written_terms = {{WorkloadKind::training, RestTerm::mlp, {Seconds{3}}}};
  EXPECT_EQ(row_of(study, RestTerm::mlp).time.high.value, 3);
  EXPECT_EQ(row_of(study, RestTerm::mlp).origin, RestOrigin::written);
}

/// No shares were fitted on CPUs.
TEST(RestOfTraining, IsThatOfAnyStepOnACpu) {
  Study study = round_study(DenseMlp{3000});
  study.machine->core = Core{};
  const RestOfStep training = rest_of_training(study, training_workload(study));
  const RestOfStep step = rest_of_step(study, training_workload(study));
  ASSERT_EQ(training.rows.size(), step.rows.size());
  EXPECT_EQ(training.total().value.value, step.total().value.value);
}

}  // namespace
}  // namespace depthcost::rest_of_training_test
