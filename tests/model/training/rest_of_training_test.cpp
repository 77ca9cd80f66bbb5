// Products by hand: operations over a share of a rate, and rows that travel to other nodes.
#include "model/training/rest_of_training.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/training/model_state.hpp"
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

Estimate<Seconds> products_of(const Study& study) {
  Estimate<Seconds> products{{}, {}, {}, Evidence::measured};
  for (const RestTerm term : {RestTerm::attention, RestTerm::mlp})
    products += row_of(study, term).time;
  return products;
}

/// A token's two experts lie on 4 (1 - (3/4)^2) = 1.75 of four nodes, and three of
/// four of these are others. A row goes there and comes back, in bf16. At the low end the products
/// of another micro-batch hide what they can.
TEST(RestOfTraining, SendsTokensToOtherNodesOnce) {
  Study study = round_study(experts());
  EXPECT_EQ(row_of(study, RestTerm::collectives).time.value.value, 0);
  study.data_parallel_size = 32;
  study.expert_parallel_size = 32;
  const Estimate<Seconds> time = row_of(study, RestTerm::collectives).time;
  const double bytes = 2 * kTokens * 1.75 * 0.75 * kWidth * 2;
  EXPECT_NEAR(time.value.value, 2 * bytes / (0.8 * 50e9), 1e-9);
  EXPECT_NEAR(time.low.value, 2 * bytes / (0.95 * 50e9) - products_of(study).high.value, 1e-9);
  EXPECT_NEAR(time.high.value, 2 * bytes / (0.5 * 50e9), 1e-9);
  study.training->schedule = PipelineSchedule::dualpipe;  // which hides them so
  EXPECT_NEAR(row_of(study, RestTerm::collectives).time.value.value,
              time.value.value - products_of(study).value.value, 1e-9);
  study.machine->network_bandwidth = BytesPerSecond{1e15};
  EXPECT_EQ(row_of(study, RestTerm::collectives).time.value.value, 0);
  study.machine->network_bandwidth.reset();
  EXPECT_EQ(rest_of_training(study, training_workload(study)).missing,
            "the hardware has no network_bandwidth, which experts in several nodes need");
}

/// Links on which a collective takes 10 us and a second for so many bytes.
void set_links(Study& study, TransferScope scope, double bytes_per_second) {
  for (const TransferKind kind : {TransferKind::reduce_scatter, TransferKind::all_gather})
    for (const double size : {1.0, 1e9})
      study.machine->transfers.push_back(
          {kind, scope, study.tensor_parallel_size, Bytes{size},
           test::plus_minus<Seconds>(1e-5 + size / bytes_per_second, 0.1, Evidence::published)});
}

Study sharded_study(Count tensor) {
  Study study = round_study(DenseMlp{3000});
  study.layout = Layout::sequence_sharded;
  study.tensor_parallel_size = tensor;
  study.machine->transfers.clear();
  return study;
}

/// Tensor ranks join four sublayers, each by a reduce-scatter and an all-gather. Inside a node they
/// hide behind the products as long as these last.
TEST(RestOfTraining, JoinsTensorRanksOfANodeBesideTheProducts) {
  for (const double bytes_per_second : {1e13, 1e9}) {
    Study study = sharded_study(8);
    set_links(study, TransferScope::node, bytes_per_second);
    const double joins = 4 * 2 * (1e-5 + kTokens * kWidth * 2 / bytes_per_second);
    const Estimate<Seconds> products = products_of(study);
    const Estimate<Seconds> time = row_of(study, RestTerm::collectives).time;
    EXPECT_NEAR(time.value.value, std::max(0.0, joins - products.value.value), 1e-9);
    EXPECT_NEAR(time.low.value, std::max(0.0, 0.9 * joins - products.high.value), 1e-9);
    EXPECT_NEAR(time.high.value, 1.1 * joins, 1e-9);
  }
}

/// 7/8 of the bytes at half of 1 GB/s at the high end, where nobody has measured a collective.
TEST(RestOfTraining, JoinsTensorRanksAtTheRateOfTheirLinks) {
  Study study = sharded_study(8);
  study.machine->link_bandwidth = BytesPerSecond{1e9};
  EXPECT_NEAR(row_of(study, RestTerm::collectives).time.high.value,
              4 * 2 * kTokens * kWidth * 2 * 0.875 / 0.5e9, 1e-9);
  study.layout = Layout::replicated;  // four all-reduces
  EXPECT_NEAR(row_of(study, RestTerm::collectives).time.high.value,
              4 * 2 * kTokens * kWidth * 2 * 0.875 / 0.5e9, 1e-9);
}

/// Over the network nothing hides.
TEST(RestOfTraining, JoinsTensorRanksOfSeveralNodes) {
  Study study = sharded_study(16);
  set_links(study, TransferScope::network, 1e11);
  const RestRow row = row_of(study, RestTerm::collectives);
  EXPECT_NEAR(row.time.value.value, 4 * 2 * (1e-5 + kTokens * kWidth * 2 / 1e11), 1e-9);
  study.machine->transfers.clear();
  study.machine->network_bandwidth.reset();
  EXPECT_EQ(rest_of_training(study, training_workload(study)).missing,
            "the hardware has no transfers or link_bandwidth, which tensor ranks need");
  // A written time replaces what the hardware does not know.
  study.written_terms = {{WorkloadKind::training, RestTerm::collectives, {Seconds{1e-3}}}};
  EXPECT_EQ(rest_of_training(study, training_workload(study)).missing, "");
}

/// In fp8 a row is d bytes and a scale in f32 for 128 of them, on its way out.
TEST(RestOfTraining, SendsTokensInTheTypeThatIsAskedFor) {
  Study study = round_study(experts());
  study.data_parallel_size = study.expert_parallel_size = 32;
  const double in_bf16 = row_of(study, RestTerm::collectives).time.value.value;
  study.dispatch_dtype = Dtype::fp8;
  EXPECT_NEAR(row_of(study, RestTerm::collectives).time.value.value / in_bf16,
              (2 + 1 + 4.0 / 128) / 4, 1e-12);
}

/// Layers that draft tokens serve a decode step.
TEST(RestOfTraining, TrainsNoLayersThatDraft) {
  Study study = round_study(DenseMlp{3000});
  study.model.architecture->draft = DraftLayers{
      .attention = GroupedAttention{.num_heads = 10, .num_kv_heads = 10, .head_dim = 100},
      .mlp = DenseMlp{3000}};
  const Bytes alone = model_state(study, study.path, 0).weights;
  study.decode = Decode{.sequences = {1}, .speculation = {.tokens = 3}};
  EXPECT_EQ(model_state(study, study.path, 0).weights, alone);
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
