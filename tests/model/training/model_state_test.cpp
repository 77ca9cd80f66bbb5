// Bytes of a weight as Megatron-LM's documentation has them, and devices counted by hand.
#include "model/training/model_state.hpp"

#include <gtest/gtest.h>

#include "model/ledger/arithmetic.hpp"
#include "model/schemes/list.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/training_memory.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost::model_state_test {
namespace {

/// Llama 3.1 8B on `data` replicas.
Study llama(Count data, StateSharding sharding) {
  Study study = test::kimi_k3_study();
  study.model = {.name = "Llama", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = test::llama_8b();
  study.path = {Scheme{}, 64};
  study.pipeline.reset();
  study.tensor_parallel_size = 1;
  study.expert_parallel_size = 1;
  study.data_parallel_size = data;
  study.training = Training{.sequence_length = 4096, .sharding = sharding};
  return study;
}

/// A layer of Llama 3.1 8B: queries and output, keys and values, three matrices of the MLP.
constexpr double kWeightsOfLayer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336;

/// Embedding or head, larger than two layers.
constexpr double kMatrix = 128256.0 * 4096;
static_assert(kMatrix > 2 * kWeightsOfLayer);

/// In bf16: a matrix's gradients before replicas share them, and its gathered weights.
Bytes whole_for_a_moment(const Study& study) {
  if (study.data_parallel_size == 1) return {};
  const StateSharding sharding = study.training->sharding;
  const double matrices = sharding == StateSharding::weights     ? 2
                          : sharding == StateSharding::gradients ? 1
                                                                 : 0;
  return Bytes{matrices * 2 * kMatrix};
}

double bytes_of_a_weight(const Study& study) {
  const ModelState state = model_state(study, study.path, 0);
  const double weights = device_parameters(study).dense() + parameters(study.path, 4096).total;
  return (state.all() - whole_for_a_moment(study)).value / weights;
}

// docs/api-guide/core/dist_optimizer.md, bf16 weights and f32 gradients: 18, and 6 + 12 / d.
TEST(ModelState, HasTheBytesOfMegatron) {
  for (const Count d : {1, 2, 8}) {
    EXPECT_DOUBLE_EQ(bytes_of_a_weight(llama(d, StateSharding::none)), 18);
    EXPECT_DOUBLE_EQ(bytes_of_a_weight(llama(d, StateSharding::optimizer)), 6 + 12 / as_double(d));
    EXPECT_DOUBLE_EQ(bytes_of_a_weight(llama(d, StateSharding::gradients)), 2 + 16 / as_double(d));
    EXPECT_DOUBLE_EQ(bytes_of_a_weight(llama(d, StateSharding::weights)), 18 / as_double(d));
  }
}

TEST(ModelState, AddsUpGradientsInTheTypeThatIsWritten) {
  Study study = llama(4, StateSharding::optimizer);
  const ModelState f32 = model_state(study, study.path, 0);
  study.training->main_gradients = Dtype::bf16;
  EXPECT_DOUBLE_EQ(model_state(study, study.path, 0).gradients / f32.gradients, 0.5);
}

/// One moment in place of two, but for the vocabulary and the scheme's own parameters.
TEST(ModelState, OfMuonHasOneMoment) {
  Study study = llama(1, StateSharding::none);
  const Bytes adamw = model_state(study, study.path, 0).optimizer;
  study.training->optimizer = Optimizer::muon;
  EXPECT_DOUBLE_EQ((adamw - model_state(study, study.path, 0).optimizer).value,
                   4 * device_parameters(study).layers);
}

/// Sixteen devices hold eight experts, two on each of four ranks: four replicas of them.
TEST(ModelState, SharesExpertsOverTheirOwnReplicas) {
  Study study = llama(16, StateSharding::weights);
  study.model.architecture->mlp = {
      {ExpertMlp{.num_experts = 8, .num_active = 2, .width = 1000}, 32}};
  study.expert_parallel_size = 4;
  const double experts = 32 * 2 * 3 * 4096.0 * 1000;
  const DeviceParameters parameters = device_parameters(study);
  EXPECT_DOUBLE_EQ(parameters.experts, experts);
  const double dense = parameters.dense() + path_parameters(study, study.path);
  // Two layers are less than the embedding, which is gathered whole.
  const double gathered = std::max(2 * (parameters.dense_layers() + experts) / 32, kMatrix);
  EXPECT_NEAR(model_state(study, study.path, 0).weights.value,
              2 * (experts / 4 + dense / 16 + gathered), 1);
}

/// [dualpipe]: twice the weights and gradients; twice as many replicas share the optimiser's state.
TEST(ModelState, OfDualPipeHasTwoCopies) {
  Study study = llama(4, StateSharding::optimizer);
  study.pipeline = even_layout(2, 1, study.model.num_layers / 2, 2);
  const ModelState one = model_state(study, study.path, 0);
  study.training->schedule = PipelineSchedule::dualpipe;
  const ModelState two = model_state(study, study.path, 0);
  EXPECT_DOUBLE_EQ(two.weights / one.weights, 2);
  EXPECT_DOUBLE_EQ(two.gradients / one.gradients, 2);
  EXPECT_DOUBLE_EQ(two.optimizer / one.optimizer, 1);
}

/// Each device has the weights of its own stage: the embedding on the first, the head on the last,
/// and in two directions both ends on one device.
TEST(ModelState, IsThatOfTheStage) {
  Study study = llama(1, StateSharding::none);
  study.pipeline = even_layout(4, 1, study.model.num_layers / 2, 2);
  study.pipeline->chunk_layers = {14, 18, 18, 14};
  const double vocabulary = 128256.0 * 4096;
  const auto weights = [&](std::size_t stage) {
    return model_state(study, study.path, stage).weights.value / 2 -
           stage_share(study, stage) * path_parameters(study, study.path);
  };
  EXPECT_DOUBLE_EQ(weights(0), 7 * kWeightsOfLayer + vocabulary);
  EXPECT_DOUBLE_EQ(weights(1), 9 * kWeightsOfLayer);
  EXPECT_DOUBLE_EQ(weights(3), 7 * kWeightsOfLayer + vocabulary);
  study.training->schedule = PipelineSchedule::dualpipe;
  EXPECT_DOUBLE_EQ(weights(0), 14 * kWeightsOfLayer + 2 * vocabulary);
  EXPECT_DOUBLE_EQ(weights(2), 18 * kWeightsOfLayer);
}

/// m streams have phi on every tensor rank.
TEST(ModelState, HoldsTheParametersOfTheScheme) {
  Study study = llama(1, StateSharding::none);
  const ResidualPath mhc{Scheme{schemes::kMhc, {.num_streams = 4}}, 64};
  const double more = path_parameters(study, mhc) - path_parameters(study, study.path);
  EXPECT_GT(more, 64 * 24 * 4 * 4096.0 * 0.9);
  EXPECT_DOUBLE_EQ(
      (model_state(study, mhc, 0).optimizer - model_state(study, study.path, 0).optimizer).value,
      12 * more);
}

TEST(TrainingMemory, OfADeviceHasEveryItem) {
  const Study study = llama(2, StateSharding::optimizer);
  const auto rows = training_memory_rows(study, study.path, Schedule::fused);
  const auto has = [&](MemoryItem item) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const MemoryRow& row) { return row.item == item; });
  };
  for (const MemoryItem item : {MemoryItem::activations, MemoryItem::weights, MemoryItem::gradients,
                                MemoryItem::optimizer_states, MemoryItem::layer_activations})
    EXPECT_TRUE(has(item)) << name(item);
  EXPECT_EQ(all_memory_rows(study, study.path).size(),
            rows.size() + memory_rows(study, study.path).size());
  Study unknown = study;
  unknown.model.architecture.reset();
  EXPECT_EQ(training_memory_rows(unknown, unknown.path, Schedule::fused).size(), 1U);
}

}  // namespace
}  // namespace depthcost::model_state_test
