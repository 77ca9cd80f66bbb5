// What a training step may do without, and what that costs.
#include "model/decision/memory_remedy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/decision/budget.hpp"
#include "model/training/training_memory.hpp"
#include "model/training/training_step.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost::memory_remedy_test {
namespace {

/// Llama 3.1 8B on 8 replicas of one node.
Study llama_training() {
  Study study = test::as_llama_8b(test::kimi_k3_study());
  study.path = {Scheme{schemes::kStandard}, 64};
  study.decode.reset();
  study.data_parallel_size = 8;
  study.expert_parallel_size = 1;
  study.machine->devices_per_node = 8;
  study.machine->link_bandwidth = BytesPerSecond{400e9};
  study.machine->memory_capacity = {};
  study.training = Training{.sequence_length = 8192, .num_micro_batches = 8};
  return study;
}

double bytes_with(Study study, LayerActivations layers, StateSharding sharding) {
  study.training->layers = layers;
  study.training->sharding = sharding;
  return fullest_memory(study, study.path).value;
}

/// A limit that `layers` and `sharding` just keep.
std::string remedy_of(const Study& study, LayerActivations layers, StateSharding sharding) {
  return memory_remedy(study, bytes_with(study, layers, sharding) / kCountedShare * 1.001);
}

/// A dense model has no experts to share out.
TEST(MemoryRemedy, OfADenseModelNamesNoExpertRanks) {
  Study study = llama_training();
  study.training.reset();
  study.decode = Decode{.sequences = {64}, .context = 8192};
  study.data_parallel_size = 1;
  study.tensor_parallel_size = study.expert_parallel_size = 2;
  const std::string remedy = memory_remedy(study, 0.7 * fullest_memory(study, study.path).value);
  EXPECT_FALSE(remedy.empty());
  EXPECT_EQ(remedy.find("expert"), std::string::npos) << remedy;
}

/// What the residual path can make again costs less than layers that run twice.
TEST(MemoryRemedy, OfATrainingStepRecomputesTheResidualPathFirst) {
  Study study = llama_training();
  study.path = {Scheme{schemes::kMhc, {.num_streams = 4}}, 64};
  study.training->activations = ActivationPolicy::recompute;
  const double limit = fullest_memory(study, study.path).value / kCountedShare * 1.001;
  study.training->activations = ActivationPolicy::keep;
  ASSERT_GT(fullest_memory(study, study.path).value, limit);
  EXPECT_TRUE(memory_remedy(study, limit).starts_with("workload.training.activations: recompute"))
      << memory_remedy(study, limit);
}

/// No engine shares out gradients in every micro-batch of a pipeline.
TEST(MemoryRemedy, OfAPipelineSharesOutNeitherGradientsNorWeights) {
  Study study = llama_training();
  study.pipeline = even_layout(2, 1, study.model.num_layers / 2, 2);
  const double limit = bytes_with(study, LayerActivations::keep, StateSharding::weights);
  EXPECT_EQ(memory_remedy(study, limit / kCountedShare * 1.001).find("sharding"),
            std::string::npos);
}

TEST(MemoryRemedy, OfATrainingStepIsTheFastestThatFits) {
  const Study study = llama_training();
  using enum LayerActivations;
  // Selective recomputation costs least.
  EXPECT_EQ(remedy_of(study, selective, StateSharding::optimizer),
            "workload.training.layers: selective");
  // Over slow links running all layers again is faster than gathering their weights, over fast ones
  // it is not.
  Study slow = study;
  slow.machine->link_bandwidth = BytesPerSecond{1e9};
  const double limit = std::max(bytes_with(study, recompute, StateSharding::optimizer),
                                bytes_with(study, keep, StateSharding::weights)) /
                       kCountedShare * 1.001;
  EXPECT_EQ(memory_remedy(slow, limit).find("sharding"), std::string::npos)
      << memory_remedy(slow, limit);
  EXPECT_NE(memory_remedy(study, limit).find("sharding"), std::string::npos)
      << memory_remedy(study, limit);
}

TEST(MemoryRemedy, SaysWhatAStepTakesLonger) {
  Study study = llama_training();
  using enum LayerActivations;
  Study then = study;
  then.training->layers = recompute;
  then.training->sharding = StateSharding::weights;
  const double longer = standard_training_step(then) / standard_training_step(study) - 1;
  EXPECT_EQ(
      remedy_of(study, recompute, StateSharding::weights),
      fmt::format("workload.training.layers: recompute and workload.training.sharding: weights "
                  "(a step takes {:.0f} % longer)",
                  100 * longer));
}

/// Ranks of a node share the weights that every replica would have again.
TEST(MemoryRemedy, OfATrainingStepIsTheFewestDevices) {
  Study study = llama_training();
  study.data_parallel_size = 1;
  study.training->layers = LayerActivations::recompute;
  study.training->activations = ActivationPolicy::recompute;
  study.training->sharding = StateSharding::weights;
  Study shared = study;
  shared.tensor_parallel_size = 4;
  Study replicas = study;
  replicas.data_parallel_size = 4;
  const Bytes need = fullest_memory(shared, shared.path);
  ASSERT_LT(need, fullest_memory(replicas, replicas.path));
  EXPECT_EQ(memory_remedy(study, need.value / kCountedShare * 1.001), "tensor 4 (4 devices)");
}

/// 671 billion parameters of DeepSeek-V3, of which 655 are experts.
Study deepseek_decode() {
  Study study = test::kimi_k3_study();
  study.model.architecture = test::deepseek_v3();
  study.prefill.reset();
  study.pipeline.reset();
  study.decode->sequences = {1, 240};
  return study;
}

/// The same devices are enough, each with all of the attention and a share of the experts.
TEST(MemoryRemedy, DealsExpertsOutToTheDevicesThatThereAre) {
  Study study = deepseek_decode();
  study.tensor_parallel_size = study.expert_parallel_size = 1;
  study.data_parallel_size = 16;
  Study dealt = study;
  dealt.expert_parallel_size = 16;
  const double limit = fullest_memory(dealt, dealt.path).value / kCountedShare * 1.001;
  EXPECT_EQ(memory_remedy(study, limit), "expert 16 (the same 16 devices)");
}

/// For a few sequences less nobody buys devices; a quarter less is another question.
TEST(MemoryRemedy, NamesABatchThatIsALittleSmaller) {
  Study study = deepseek_decode();
  study.tensor_parallel_size = study.expert_parallel_size = 8;
  const auto limit_of = [&](Count sequences) {
    Study smaller = study;
    smaller.decode->sequences = {1, sequences};
    return fullest_memory(smaller, smaller.path).value / kCountedShare * 1.00001;
  };
  EXPECT_EQ(memory_remedy(study, limit_of(233)), "at most 233 sequences");
  EXPECT_EQ(memory_remedy(study, limit_of(180)), "at most 180 sequences");
  EXPECT_EQ(memory_remedy(study, limit_of(179)).find("at most"), std::string::npos);
}

/// Every tensor rank has the whole cache of latent attention; data ranks have that of their own
/// sequences, on the same devices.
TEST(MemoryRemedy, GivesSequencesOfLatentAttentionToFewerRanks) {
  Study study = test::kimi_k3_study();
  study.model.architecture = test::deepseek_v3();
  study.prefill.reset();
  study.pipeline.reset();
  study.tensor_parallel_size = study.expert_parallel_size = 8;
  study.decode->sequences = {1, 255};
  Study spread = study;
  spread.tensor_parallel_size = 2;
  spread.data_parallel_size = 4;
  spread.decode->sequences = {1, 64};
  const double limit = fullest_memory(spread, spread.path).value / kCountedShare * 1.001;
  EXPECT_EQ(memory_remedy(study, limit),
            "tensor 2, expert 8, data 4 (the same 8 devices, up to 64 sequences a replica)");
  // Fewer tensor ranks could not do what is written.
  const auto is_named = [&](const Study& of) {
    return memory_remedy(of, limit).find("the same") != std::string::npos;
  };
  Study fused = study;
  fused.attachment = Attachment::all_reduce;
  EXPECT_FALSE(is_named(fused));
  Study shared = study;
  shared.prefill = Prefill{.tokens = 64, .sequence_shards = 4};
  EXPECT_FALSE(is_named(shared));
}

}  // namespace
}  // namespace depthcost::memory_remedy_test
