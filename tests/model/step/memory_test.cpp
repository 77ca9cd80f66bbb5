// What each scheme keeps between layers, item by item, on the fullest device.
#include "model/step/memory.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "model/schemes/list.hpp"
#include "model/step/weights_and_cache.hpp"
#include "tests/model/machine/any_machine.hpp"
#include "tests/studies.hpp"

namespace depthcost::memory_test {
namespace {

using Items = std::map<std::string, double>;

const Partition kBlocks = partition_by_size(186, 24);
const ResidualPath kBlock{Scheme{schemes::kBlockAttnRes, {.blocks = kBlocks}}, 186};

// 131,072 tokens in chunks of 16,384 over 8 devices: 2,048 tokens of 7,168 elements in bf16.
constexpr double kPrefillVector = 2048.0 * 7168 * 2;

// The fullest of four stages has 24 of 93 decoder layers. A site of mHC has 24 rows of four streams
// and 27 scalars; each of the 187 aggregations has a query and a gain. All are in f32.
constexpr double kMhcWeights = 2 * 24 * (24 * 4 * 7168 + 27) * 4.0;
constexpr double kAttnresWeights = 187.0 * 2 * 7168 * 4 * 24 / 93;

Items items_of(const Study& study, const ResidualPath& path, WorkloadId workload) {
  Items items;
  for (const MemoryRow& row : memory_rows(study, path)) {
    EXPECT_EQ(row.path, &path);
    if (row.workload == workload) items[std::string(name(row.item))] += row.bytes.value;
  }
  return items;
}

TEST(Memory, HoldsTheItemsOfEachScheme) {
  const Study study = test::kimi_k3_study();
  const double v = kPrefillVector;
  EXPECT_EQ(items_of(study, {Scheme{schemes::kStandard}, 186}, WorkloadId::prefill()),
            (Items{{"hidden_state", v}}));
  EXPECT_EQ(
      items_of(study, {Scheme{schemes::kMhc, {.num_streams = 4}}, 186}, WorkloadId::prefill()),
      (Items{{"streams", 4 * v}, {"scheme_weights", kMhcWeights}}));
  EXPECT_EQ(items_of(study, kBlock, WorkloadId::prefill()),
            (Items{{"bank", 8 * v}, {"embedding", v}, {"scheme_weights", kAttnresWeights}}));
  EXPECT_EQ(items_of(study, {Scheme{schemes::kFullAttnRes, {.blocks = kBlocks}}, 186},
                     WorkloadId::prefill()),
            (Items{{"bank", 186 * v}, {"embedding", v}, {"scheme_weights", kAttnresWeights}}));
}

/// Activations of the chunk lie beside those of the sequences, and its cache beside theirs.
TEST(Memory, HoldsThePromptThatADecodeStepTakesAlong) {
  Study study = test::modelled_study();
  study.layout = Layout::replicated;
  study.decode->sequences = {64};
  study.decode->context = 1000;
  const WorkloadId decode = WorkloadId::decode(64);
  const Items without = items_of(study, study.path, decode);
  study.decode->prompt = PromptChunk{.tokens = 128, .context = 300};
  const Items with = items_of(study, study.path, decode);
  EXPECT_NEAR(with.at("bank") / without.at("bank"), 192.0 / 64, 1e-12);
  EXPECT_EQ(with.at("weights"), without.at("weights"));
  EXPECT_NEAR(with.at("kv_cache") - without.at("kv_cache"), device_cache(study, 1, {428}).value, 1);
}

Study on_one_device(Count decoder_layers, Count hidden_size, Count tensor_ranks) {
  Study study = test::kimi_k3_study();
  study.model.num_layers = 2 * decoder_layers;
  study.model.hidden_size = hidden_size;
  study.tensor_parallel_size = tensor_ranks;
  study.pipeline.reset();
  return study;
}

/// DeepSeek-V4-Pro has 61 decoder layers: 122 sites of 24 x 4 x 7,168 + 27 numbers in f32.
TEST(SchemeWeights, AreWhatReleasedModelsStore) {
  const Study pro = on_one_device(61, 7168, 1);
  EXPECT_EQ(scheme_weights(pro, {Scheme{schemes::kMhc, {.num_streams = 4}}, 122}).value,
            122 * (24 * 4 * 7168 + 27) * 4.0);
  const Study qwen = on_one_device(48, 2560, 1);
  const ResidualPath gated{Scheme{schemes::kGatedResidual}, 96};
  EXPECT_EQ(scheme_weights(qwen, gated).value, 640'624'640 * 2.0)
      << "Qwen3.8-Flash-Next, from its released sum of parameters, in bf16";
}

/// Tensor ranks have all of them, pipeline stages those of their layers.
TEST(SchemeWeights, AreNotDividedByTensorRanks) {
  const ResidualPath gated{Scheme{schemes::kGatedResidual}, 96};
  Study study = on_one_device(48, 2560, 8);
  EXPECT_EQ(items_of(study, gated, WorkloadId::decode(1)).at("scheme_weights"), 640'624'640 * 2.0);
  study.pipeline = even_layout(4, 1, 48, 2);
  EXPECT_EQ(items_of(study, gated, WorkloadId::decode(1)).at("scheme_weights"),
            640'624'640 * 2.0 / 4);
}

// 24 outputs of a block wait for Phase 2, each with a maximum and a sum in f32.
TEST(Phase1Outputs, TakeMemoryUnderTwoPhasesAlone) {
  Study study = test::kimi_k3_study();
  for (const Schedule schedule : {Schedule::unfused, Schedule::single_pass}) {
    study.schedule = schedule;
    EXPECT_FALSE(items_of(study, kBlock, WorkloadId::prefill()).contains("phase1_outputs"));
  }
  study.schedule = Schedule::two_phase;
  EXPECT_EQ(items_of(study, kBlock, WorkloadId::prefill())["phase1_outputs"],
            24 * (kPrefillVector + 2048 * 8));
  study.phase1_dtype = Dtype::f32;
  EXPECT_EQ(items_of(study, kBlock, WorkloadId::prefill())["phase1_outputs"],
            24 * (2 * kPrefillVector + 2048 * 8));
  EXPECT_TRUE(items_of(study, {Scheme{schemes::kFullAttnRes, {.blocks = kBlocks}}, 186},
                       WorkloadId::prefill())
                  .contains("phase1_outputs"))
      << "AttnRes schemes are compared under one schedule";
  EXPECT_FALSE(
      items_of(study, {Scheme{schemes::kMhc, {.num_streams = 4}}, 186}, WorkloadId::prefill())
          .contains("phase1_outputs"));
}

TEST(Phase1Outputs, AreThoseOfTheLongestBlock) {
  EXPECT_EQ(largest_block(kBlocks), 24);
  EXPECT_EQ(largest_block(partition_by_size(5, 5)), 5);
  EXPECT_EQ(largest_block(partition_by_count(7, 4, Remainder::paper)), 3);  // 1, 1, 1, 1, 3
  EXPECT_EQ(largest_block({.num_layers = 3, .block_size = 4, .num_blocks = 1, .last_size = 3}), 3);
}

TEST(DecodeMemory, IsOneTokenOfEverySequenceOnEveryRankUnlessSharded) {
  Study study = test::kimi_k3_study();
  const double v = 7168 * 2;
  EXPECT_EQ(items_of(study, kBlock, WorkloadId::decode(1)),
            (Items{{"bank", 8 * v}, {"embedding", v}, {"scheme_weights", kAttnresWeights}}));
  EXPECT_EQ(
      items_of(study, kBlock, WorkloadId::decode(512)),
      (Items{{"bank", 512 * 8 * v}, {"embedding", 512 * v}, {"scheme_weights", kAttnresWeights}}));
  study.layout = Layout::sequence_sharded;
  EXPECT_EQ(items_of(study, kBlock, WorkloadId::decode(1)),
            (Items{{"bank", 8 * v}, {"embedding", v}, {"scheme_weights", kAttnresWeights}}));
  EXPECT_EQ(
      items_of(study, kBlock, WorkloadId::decode(512)),
      (Items{{"bank", 64 * 8 * v}, {"embedding", 64 * v}, {"scheme_weights", kAttnresWeights}}));
}

TEST(Memory, IsEmptyWithoutAWorkload) {
  Study study = test::kimi_k3_study();
  study.decode.reset();
  study.prefill.reset();
  EXPECT_TRUE(memory_rows(study, kBlock).empty());
}

TEST(Memory, IsTooLargeBeyondWhatTheDeviceHas) {
  Study study = test::kimi_k3_study();
  const std::vector<MemoryRow> rows = memory_rows(study, kBlock);
  const Bytes need = memory_of(rows, WorkloadId::decode(512), kBlock.scheme);
  const Items items = items_of(study, kBlock, WorkloadId::decode(512));
  EXPECT_EQ(need.value, items.at("bank") + items.at("embedding") + items.at("scheme_weights"));
  study.machine->memory_capacity = need;
  EXPECT_FALSE(is_too_large(study, rows, WorkloadId::decode(512), kBlock.scheme));
  study.machine->memory_capacity = Bytes{need.value - 1};
  EXPECT_TRUE(is_too_large(study, rows, WorkloadId::decode(512), kBlock.scheme));
  EXPECT_FALSE(is_too_large(study, rows, WorkloadId::decode(1), kBlock.scheme));
  EXPECT_FALSE(is_too_large(study, rows, WorkloadId::training(), kBlock.scheme));
}

RC_GTEST_PROP(PrefillMemory, IsTheSumOfTheItems, ()) {
  Study study = test::kimi_k3_study();
  study.path = test::any_path(40);
  study.schedule = test::any_schedule(study.path.scheme);
  study.prefill->tokens = *rc::gen::inRange<Count>(1, 1'000'000);
  study.prefill->sequence_shards = *rc::gen::inRange<Count>(1, 20);
  study.model.dtype = *rc::gen::element(Dtype::bf16, Dtype::f32);
  study.phase1_dtype = *rc::gen::element(Dtype::bf16, Dtype::f32);
  Items items = items_of(study, study.path, WorkloadId::prefill());
  const PrefillMemory memory = prefill_memory(study, study.path);
  RC_ASSERT(memory.bank.value == items["bank"] + items["streams"] + items["hidden_state"]);
  RC_ASSERT(memory.bank_with_embedding.value == memory.bank.value + items["embedding"]);
  if (study.schedule == Schedule::two_phase)
    RC_ASSERT(memory.phase1.value == items["phase1_outputs"]);
}

}  // namespace
}  // namespace depthcost::memory_test
