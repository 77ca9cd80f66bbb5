// Memory of a training step against a walk that holds tensors by name: a block that two chunks of a
// stage read is there once where the stage caches blocks.
#include "model/training/training_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/ledger/backward.hpp"
#include "model/schemes/list.hpp"
#include "model/training/training_work.hpp"
#include "tests/studies.hpp"

namespace depthcost::training_memory_test {
namespace {

constexpr double kTokens = 16;
constexpr double kVectorBytes = kTokens * 256 * 2;
constexpr double kScalarBytes = kTokens * 4;

struct Case {
  PipelineSchedule schedule = PipelineSchedule::interleaved;
  PipelineLayout layout;
  Count num_micro_batches = 1;
  Count block_size = 1;
};

Study study_of(const Case& at) {
  Count L = 0;
  for (const Count layers : at.layout.chunk_layers) L += layers;
  Study study = test::kimi_k3_study();
  study.model = {.name = "small", .num_layers = L, .hidden_size = 256};
  study.path = {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(L, at.block_size)}}, L};
  study.pipeline = at.layout;
  study.tensor_parallel_size = 1;
  study.decode.reset();
  study.prefill.reset();
  study.training = Training{.sequence_length = static_cast<Count>(kTokens),
                            .num_micro_batches = at.num_micro_batches,
                            .schedule = at.schedule};
  return study;
}

/// What one chunk has of one micro-batch between its passes, kept whole.
struct Open {
  std::set<Count> blocks;  // ids that it was handed, or has completed and reads
  Count handed = 0;        // ids below are handed
  double others = 0;       // partial sums, mixes and normalised inputs, in vectors
  double inputs = 0;       // the normalised inputs of those
  double scalars = 0;
};

Open open_chunk(const Study& study, std::size_t chunk) {
  const ChunkOfLayers at = chunks_of(*study.pipeline)[chunk];
  const Partition& blocks = study.path.scheme.parameters.blocks;
  Open open;
  const auto mix = [&](Count num_blocks, Count partials) {
    if (open.inputs == 0) open.handed = num_blocks;
    for (Count id = 0; id < num_blocks; ++id) open.blocks.insert(id);
    const auto sources = static_cast<double>(num_blocks + partials);
    open.others += static_cast<double>(partials) + 2;
    open.inputs += 1;
    open.scalars += 2 * sources + 1;
  };
  for (Count i = 0; i < at.num_layers; ++i) {
    const LayerPosition layer = position_of_layer(blocks, at.first_layer + i);
    mix(layer.block, layer.index > 1 ? 1 : 0);
  }
  if (at.output == OutputAggregation::here) mix(blocks.num_blocks + 1, 0);
  return open;
}

/// The most bytes that a stage has at once.
double walked_peak(const Study& study, const PipelineOrder& order, std::size_t stage) {
  std::map<std::pair<Count, Count>, Open> open;  // by micro-batch and chunk
  double waiting = 0;                            // inputs, for the weights' task
  double most = 0;
  const auto bytes = [&] {
    std::map<Count, std::set<Count>> cached;
    double vectors = waiting;
    double scalars = 0;
    for (const auto& [key, chunk] : open) {
      cached[key.first].insert(chunk.blocks.begin(), chunk.blocks.end());
      if (study.training->cache == Cache::none) vectors += static_cast<double>(chunk.blocks.size());
      vectors += chunk.others;
      scalars += chunk.scalars;
    }
    if (study.training->cache != Cache::none)
      for (const auto& entry : cached) vectors += static_cast<double>(entry.second.size());
    return vectors * kVectorBytes + scalars * kScalarBytes;
  };
  for (const PipelineTask& task : order.stages[stage]) {
    const std::pair<Count, Count> key{task.micro_batch, task.chunk};
    if (task.kind == TaskKind::forward)
      open[key] = open_chunk(study, static_cast<std::size_t>(task.chunk));
    const double inputs = open_chunk(study, static_cast<std::size_t>(task.chunk)).inputs;
    if (task.kind == TaskKind::backward_input) {
      open.erase(key);
      waiting += inputs;
    }
    if (task.kind == TaskKind::backward_weight) waiting -= inputs;
    // Whole backward passes have no moment between their tasks.
    if (task.kind == TaskKind::forward) most = std::max(most, bytes());
  }
  return most;
}

const std::vector<Case>& cases() {
  using enum PipelineSchedule;
  static const std::vector<Case> all{
      {interleaved, {2, 2, {4, 4, 4, 4}}, 2, 1},
      {interleaved, {3, 2, {5, 4, 6, 0, 7, 4}}, 6, 5},
      {interleaved, {4, 3, {2, 3, 1, 2, 2, 2, 4, 1, 2, 2, 2, 2}}, 8, 4},
      {one_forward_one_backward, {4, 1, {6, 6, 6, 6}}, 8, 3},
      {one_forward_one_backward, {3, 1, {0, 7, 5}}, 4, 2},
      {zb_h1, {4, 1, {6, 7, 5, 6}}, 8, 4},
      {dualpipe, {4, 1, {6, 7, 5, 6}}, 8, 4},
  };
  return all;
}

TEST(TrainingMemory, IsThatOfAWalkThatHoldsTensorsByName) {
  for (const Case& at : cases())
    for (const Cache cache : {Cache::none, Cache::received, Cache::own}) {
      Study study = study_of(at);
      study.training->cache = cache;
      const PipelineOrder order = training_order(study, at.num_micro_batches);
      const auto stages = training_memory(study, study.path, Schedule::single_pass, order);
      for (std::size_t stage = 0; stage < stages.size(); ++stage)
        EXPECT_EQ(stages[stage].all().value, walked_peak(study, order, stage))
            << name(at.schedule) << " " << name(cache) << " stage " << stage;
    }
}

TEST(TrainingMemory, IsNeverMoreWithACache) {
  for (const Case& at : cases()) {
    Study study = study_of(at);
    const PipelineOrder order = training_order(study, at.num_micro_batches);
    const auto cached = training_memory(study, study.path, Schedule::single_pass, order);
    study.training->cache = Cache::none;
    const auto uncached = training_memory(study, study.path, Schedule::single_pass, order);
    for (std::size_t stage = 0; stage < cached.size(); ++stage)
      EXPECT_LE(cached[stage].all(), uncached[stage].all()) << name(at.schedule) << stage;
  }
}

// Two stages, the second of six layers: one micro-batch is in flight there, and one more x a layer
// waits for the weights: h and x of one, x of the other.
TEST(TrainingMemory, HoldsInputsUntilTheWeightsOfZeroBubbleHaveReadThem) {
  Study study = study_of({PipelineSchedule::zb_h1, {2, 1, {2, 6}}, 8, 1});
  const ResidualPath standard{Scheme{schemes::kStandard}, 8};
  const auto vectors = [&](PipelineSchedule schedule) {
    study.training->schedule = schedule;
    const auto stages = training_memory(study, standard, Schedule::fused, training_order(study, 8));
    return (stages[1].all().value - 6 * kScalarBytes) / kVectorBytes;
  };
  EXPECT_EQ(vectors(PipelineSchedule::one_forward_one_backward), 6 * 2);
  EXPECT_EQ(vectors(PipelineSchedule::zb_h1), 6 * 2 + 6);
}

/// [sequence_parallel] Table 2: one input a decoder layer. Streams are kept there, too, and of
/// blocks each one once, with the partial sum where a decoder layer begins inside one.
TEST(TrainingMemory, KeepsOneInputOfADecoderLayerThatRunsAgain) {
  const Count L = 8;
  Study study = study_of({PipelineSchedule::one_forward_one_backward, {1, 1, {L}}, 1, 4});
  study.training->activations = ActivationPolicy::recompute;
  const auto kept = [&](const Scheme& scheme, LayerActivations layers) {
    study.training->layers = layers;
    ChunkActivations of_chunk = chunk_activations(
        {scheme, L}, {1, L},
        {.policy = ActivationPolicy::recompute,
         .recomputation = layers == LayerActivations::recompute ? LayerRecomputation::decoder_layer
                                                                : LayerRecomputation::none});
    return of_chunk.kept.vectors;
  };
  using enum LayerActivations;
  EXPECT_EQ(kept(Scheme{schemes::kStandard}, keep), L);
  EXPECT_EQ(kept(Scheme{schemes::kStandard}, recompute), L / 2);
  EXPECT_EQ(kept(Scheme{schemes::kMhc, {.num_streams = 4}}, keep), (4 + 1) * L);
  EXPECT_EQ(kept(Scheme{schemes::kMhc, {.num_streams = 4}}, recompute), 4 * L / 2);
  // Blocks of four layers: b_0 is handed, b_1 completed; partial sums at layers 2 to 4 and 6 to 8.
  const Scheme blocks{schemes::kBlockAttnRes, {.blocks = partition_by_size(L, 4)}};
  EXPECT_EQ(kept(blocks, keep), 1 + 6);
  EXPECT_EQ(kept(blocks, recompute), 1 + 2);

  const Scheme standard{schemes::kStandard};
  const auto memory = [&](LayerActivations layers) {
    study.training->layers = layers;
    return training_memory(study, {standard, L}, Schedule::fused, training_order(study, 1))[0]
        .activations.value;
  };
  EXPECT_LT(memory(recompute), memory(keep));
}

/// Not the path of one stage beside the layers of another.
TEST(TrainingMemory, OfADeviceIsOfTheStageWithMostOfPathAndLayers) {
  const std::vector<StageMemory> stages{{Bytes{1}, Bytes{0}, 1}, {Bytes{1}, Bytes{4}, 1}};
  EXPECT_EQ(fullest_stage(stages, {}), 1U);
  EXPECT_EQ(fullest_stage(stages, {Bytes{9}, Bytes{2}}), 0U);
  const Study study = test::training_study();
  const BesideThePath beside = beside_the_path(study);
  const auto by_stage = training_memory(study, study.path, study.schedule, beside.order);
  ASSERT_EQ(beside.layers.size(), by_stage.size());
  double most = 0;
  for (std::size_t stage = 0; stage < by_stage.size(); ++stage)
    most = std::max(most, (by_stage[stage].all() + beside.layers[stage]).value);
  double held = 0;
  for (const MemoryRow& row : training_memory_rows(study, study.path, study.schedule))
    if (row.item == MemoryItem::activations || row.item == MemoryItem::pipeline_blocks ||
        row.item == MemoryItem::layer_activations)
      held += row.bytes.value;
  EXPECT_DOUBLE_EQ(held, most);
}

TEST(TrainingMemory, OfTheFullestStageIsOfOneStage) {
  const std::vector<StageMemory> stages{
      {Bytes{10}, Bytes{1}, 3}, {Bytes{8}, Bytes{4}, 2}, {Bytes{1}, Bytes{9}, 1}};
  const StageMemory most = fullest(stages);
  EXPECT_EQ(most.activations, Bytes{8});
  EXPECT_EQ(most.blocks, Bytes{4});
  EXPECT_EQ(most.micro_batches, 2);
  EXPECT_EQ(fullest({}).all(), Bytes{0});
}

}  // namespace
}  // namespace depthcost::training_memory_test
