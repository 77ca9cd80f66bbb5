// Weights and cache on one device, against hand sums of a small model and the size of a large one.
#include "model/step/weights_and_cache.hpp"

#include <gtest/gtest.h>

#include "model/decision/budget.hpp"
#include "model/schemes/list.hpp"
#include "model/training/training_memory.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost::weights_and_cache_test {
namespace {

// As nvidia-smi shows them.
constexpr Bytes kH200{143771.0 * (1 << 20)};
constexpr Bytes kB300{275040.0 * (1 << 20)};

Study kimi_on(Count ranks, Bytes capacity) {
  Study study = test::kimi_k3_study();
  study.model.architecture = test::kimi_k3();
  study.tensor_parallel_size = ranks;
  study.expert_parallel_size = ranks;
  study.pipeline.reset();
  study.machine->memory_capacity = capacity;
  study.budgets = {{BudgetKind::device_memory, 0}};
  return study;
}

// 92 x 112 experts of 33,030,144 weights in 4.25 bits alone are 180.8 GB.
TEST(DeviceWeights, OfKimiK3OnEightDevices) {
  const double experts = 92.0 * 112 * 33030144 * 4.25 / 8;
  const Bytes weights = device_weights(kimi_on(8, {}));
  // Router and latent projections in bf16 are whole on each.
  const double whole = 92.0 * 2 * (7168.0 * 896 + 2 * 7168.0 * 3584);
  EXPECT_GT(weights.value, experts + whole);
  EXPECT_NEAR(weights.value, experts + whole + 14e9, 2e9);
}

/// A draft layer has weights and a cache of its own, and lies there where tokens are drafted.
TEST(DeviceWeights, HoldTheLayersThatDraft) {
  Study study = test::kimi_k3_study();
  study.model = {.name = "small", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = test::llama_8b();
  study.pipeline.reset();
  study.tensor_parallel_size = study.expert_parallel_size = 2;
  Architecture& llama = *study.model.architecture;
  llama.draft = DraftLayers{.attention = llama.attention.front().attention,
                            .mlp = llama.mlp.front().mlp,
                            .num_layers = 2,
                            .projections = 1000};
  const double weights = device_weights(study).value;
  const double cache = device_cache(study, 3, {100}).value;
  study.decode->speculation = {.tokens = 2, .accepted = 1.5};
  const double layer = 41943040.0 + 3.0 * 4096 * 14336;
  EXPECT_EQ(device_weights(study).value - weights, 2 * (2 * layer + 1000) / 2);
  EXPECT_NEAR(device_cache(study, 3, {100}).value, cache * 34 / 32, 1e-6);
}

/// Their projections are read in each step and stay on the devices.
TEST(DeviceWeights, LeaveRowsOfTablesToTheHost) {
  Study study = kimi_on(8, kH200);
  const double without = device_weights(study).value;
  study.model.architecture->tables = {{.rows = 1000, .width = 8, .projections = 4000}};
  const double per_weight = bytes_per_weight(study.model.architecture->weight_dtype);
  EXPECT_NEAR(device_weights(study).value - without, 12000 * per_weight / 8, 1e-3);
  study.tables = TablePlacement::host;
  EXPECT_NEAR(device_weights(study).value - without, 4000 * per_weight / 8, 1e-3);
}

/// Rows may have a type of their own; what takes them in has that of the other weights.
TEST(DeviceWeights, CountRowsInTheirType) {
  Study study = kimi_on(8, {});
  const double per_weight = bytes_per_weight(study.model.architecture->weight_dtype);
  const double without = device_weights(study).value;
  study.model.architecture->tables = {
      {.rows = 1000, .width = 8, .projections = 4000, .dtype = WeightDtype::f32},
      {.rows = 500, .width = 4, .projections = 0}};
  EXPECT_NEAR(device_weights(study).value - without, (8000 * 4 + (4000 + 2000) * per_weight) / 8,
              1e-3);
  study.tables = TablePlacement::host;
  EXPECT_NEAR(device_weights(study).value - without, 4000 * per_weight / 8, 1e-3);
}

/// The first of what would keep the row's budget.
std::string remedy_of(const BudgetRow& row) {
  return row.remedies.empty() ? "" : row.remedies.front().change;
}

BudgetRow device_memory(const Study& study) {
  std::vector<MemoryRow> memory = all_memory_rows(study, study.path);
  return budget_rows({study, {}, memory, nullptr}).front();
}

TEST(DeviceMemory, OfKimiK3FailsOnEightH200WithNeedAndHave) {
  Study study = kimi_on(8, kH200);
  study.decode->sequences = {1};
  const BudgetRow row = device_memory(study);
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_GT(*row.low, 190e9);
  EXPECT_EQ(row.budget.limit, kH200.value);
  EXPECT_EQ(remedy_of(row), "tensor 16, expert 16 (16 devices)");
  study.tensor_parallel_size = study.expert_parallel_size = 16;
  EXPECT_EQ(device_memory(study).verdict, Verdict::pass);
}

// 24 latent layers keep 27,648 bytes a token on every rank: 64 sequences of 100,000 are 177 GB.
TEST(DeviceMemory, OfKimiK3FitsOnEightB300OnceRanksShareTheCache) {
  Study study = kimi_on(8, kB300);
  study.decode->sequences = {1};
  EXPECT_EQ(device_memory(study).verdict, Verdict::pass);
  study.decode->sequences = {64};
  const BudgetRow row = device_memory(study);
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_EQ(row.reason, "largest at decode/64");
  EXPECT_EQ(remedy_of(row),
            "tensor 8, expert 16, data 2 (16 devices, up to 32 sequences a replica)");
}

// Eight experts cannot be dealt out to sixteen ranks.
TEST(DeviceMemory, IsNeverSpreadOverMoreRanksThanExperts) {
  Study study = kimi_on(8, kH200);
  study.model.architecture->mlp = {
      {ExpertMlp{.num_experts = 8, .num_active = 2, .width = 400000, .latent_width = {}}, 93}};
  study.decode->sequences = {1};
  EXPECT_TRUE(remedy_of(device_memory(study)).ends_with("expert 8 (32 devices)"))
      << remedy_of(device_memory(study));
}

// Eight of twelve devices cannot share experts evenly; six can.
TEST(DeviceMemory, IsSpreadOverExpertRanksThatAScenarioMayHave) {
  Study study = kimi_on(3, kH200);
  study.expert_parallel_size = 3;
  study.model.architecture->mlp = {
      {ExpertMlp{.num_experts = 8, .num_active = 2, .width = 90000, .latent_width = {}}, 93}};
  study.decode->sequences = {1};
  EXPECT_EQ(remedy_of(device_memory(study)), "tensor 12, expert 6 (12 devices)");
}

// 512 sequences of 100,000 tokens need the cache shared; the experts go to all of the devices.
TEST(DeviceMemory, SpreadsExpertsOverReplicasToo) {
  Study study = kimi_on(8, kB300);
  study.decode->sequences = {512};
  const std::string nearest = remedy_of(device_memory(study));
  long tensor = 0;
  long expert = 0;
  long data = 0;
  long sequences = 0;
  ASSERT_EQ(std::sscanf(nearest.c_str(),
                        "tensor %ld, expert %ld, data %ld (%*d devices, up to %ld sequences",
                        &tensor, &expert, &data, &sequences),
            4)
      << nearest;
  EXPECT_EQ(expert, tensor * data);
  EXPECT_EQ(sequences * data, 512);
  study.tensor_parallel_size = tensor;
  study.expert_parallel_size = expert;
  study.data_parallel_size = data;
  study.decode->sequences = {sequences};
  EXPECT_EQ(device_memory(study).verdict, Verdict::pass);
  study.expert_parallel_size = expert / 2;
  study.data_parallel_size = data / 2;
  study.decode->sequences = {2 * sequences};
  EXPECT_NE(device_memory(study).verdict, Verdict::pass) << "half the devices";
}

/// 2.7 T weights of 18 bytes on eight devices. More replicas share experts and the optimiser's
/// state.
TEST(DeviceMemory, OfTrainingCountsTheModelsState) {
  Study study = kimi_on(8, kH200);
  study.decode.reset();
  study.prefill.reset();
  study.training = Training{.sequence_length = 4096, .layers = LayerActivations::recompute};
  const BudgetRow row = device_memory(study);
  EXPECT_EQ(row.verdict, Verdict::fail);
  EXPECT_EQ(row.reason, "largest at training");
  EXPECT_GT(row.low.value(), 18 * 2.7e12 / 8);
  long expert = 0;
  long data = 0;
  ASSERT_EQ(std::sscanf(remedy_of(row).c_str(), "tensor 8, expert %ld, data %ld", &expert, &data),
            2)
      << remedy_of(row);
  study.expert_parallel_size = expert;
  study.data_parallel_size = data;
  EXPECT_EQ(device_memory(study).verdict, Verdict::pass);
  study.expert_parallel_size = expert / 2;
  study.data_parallel_size = data / 2;
  EXPECT_NE(device_memory(study).verdict, Verdict::pass) << "half the replicas";
}

/// Layers that run again keep nothing; replicas that share out weights hold a part.
TEST(DeviceMemory, OfTrainingNamesTheSettingThatKeepsIt) {
  Study study = kimi_on(8, kH200);
  study.model = {.name = "Llama", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = test::llama_8b();
  study.path = {Scheme{}, 64};
  study.tensor_parallel_size = study.expert_parallel_size = 1;
  study.data_parallel_size = 8;
  study.decode.reset();
  study.prefill.reset();
  study.training = Training{.sequence_length = 32768};
  EXPECT_EQ(device_memory(study).verdict, Verdict::fail);
  // The residual path runs again with its layers.
  EXPECT_EQ(remedy_of(device_memory(study)),
            "workload.training.layers: recompute (a step takes 53 % longer)");
}

/// What little work makes again comes first, all of the layers where that is not enough.
TEST(DeviceMemory, OfTrainingKeepsTheLayersInPartIfThatIsEnough) {
  Study study = kimi_on(8, kH200);
  study.model = {.name = "DeepSeek", .num_layers = 122, .hidden_size = 7168};
  study.model.architecture = test::deepseek_v3();
  study.path = {Scheme{}, 122};
  study.tensor_parallel_size = 1;
  study.expert_parallel_size = 64;
  study.data_parallel_size = 128;
  study.pipeline = even_layout(16, 1, 61, 2);
  study.decode.reset();
  study.prefill.reset();
  study.training = Training{.sequence_length = 4096,
                            .micro_batch_size = 2,
                            .num_micro_batches = 120,
                            .precision = Precision::fp8,
                            .activations = ActivationPolicy::recompute};
  EXPECT_EQ(device_memory(study).verdict, Verdict::fail);
  EXPECT_EQ(remedy_of(device_memory(study)), "workload.training.layers: selective");
  study.training->layers = LayerActivations::selective;
  EXPECT_EQ(device_memory(study).verdict, Verdict::pass);
}

/// Rows of tables that are looked up may lie with the host.
TEST(DeviceMemory, NamesTheHostForTablesThatDoNotFit) {
  Study study = kimi_on(8, kH200);
  study.model = {.name = "tables", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = test::llama_8b();
  study.model.architecture->tables = {{.rows = 100'000'000, .width = 4096, .projections = 0}};
  study.path = {Scheme{}, 64};
  study.decode = Decode{.sequences = {1}, .context = 1000};
  study.prefill.reset();
  study.tensor_parallel_size = study.expert_parallel_size = 1;
  study.context_parallel_size = 1;
  ASSERT_EQ(device_memory(study).verdict, Verdict::fail);
  EXPECT_EQ(remedy_of(device_memory(study)), "parallelism.tables: host");
  study.tables = TablePlacement::host;
  EXPECT_EQ(device_memory(study).verdict, Verdict::pass);
}

Study llama() {
  Study study = test::kimi_k3_study();
  study.model = {.name = "Llama", .num_layers = 64, .hidden_size = 4096};
  study.model.architecture = test::llama_8b();
  study.tensor_parallel_size = 1;
  study.pipeline.reset();
  return study;
}

TEST(DeviceWeights, AreAllOfThemOnOneDevice) {
  EXPECT_EQ(device_weights(llama()).value, 2 * (8030261248.0 - 65 * 4096));
}

// One stage needs one table; the first and the last of several need one each.
TEST(DeviceWeights, HoldATiedTableOnce) {
  Study study = llama();
  const double untied = device_weights(study).value;
  study.model.architecture->output_head = OutputHead::tied;
  EXPECT_DOUBLE_EQ(device_weights(study).value, untied - 2.0 * 128256 * 4096);
  study.pipeline = PipelineLayout{2, 2, {16, 8, 24, 16}};
  const double tied = device_weights(study).value;
  study.model.architecture->output_head = OutputHead::own;
  EXPECT_DOUBLE_EQ(device_weights(study).value, tied);
}

TEST(DeviceWeights, HoldTablesBesideTheEmbedding) {
  Study study = llama();
  const double without = device_weights(study).value;
  study.model.architecture->tables = {{.rows = 1000, .width = 160, .projections = 5000},
                                      {.rows = 10, .width = 20}};
  EXPECT_DOUBLE_EQ(device_weights(study).value, without + 2 * (160000 + 5000 + 200));
  study.model.architecture->weight_dtype = WeightDtype::fp8;
  study.tensor_parallel_size = 4;
  const double with = device_weights(study).value;
  study.model.architecture->tables.clear();
  EXPECT_DOUBLE_EQ(with - device_weights(study).value, (160000 + 5000 + 200) / 4.0);
}

// A fifth of the layers and one of the two matrices.
TEST(DeviceWeights, AreThoseOfTheFullestStage) {
  Study study = llama();
  const double matrix = 2.0 * 128256 * 4096;
  const double layers = device_weights(study).value - 2 * matrix;
  study.pipeline = PipelineLayout{2, 2, {16, 8, 24, 16}};
  EXPECT_DOUBLE_EQ(largest_stage_share(study), 40.0 / 64);
  EXPECT_DOUBLE_EQ(device_weights(study).value, layers * 40 / 64 + matrix);
}

// 2 x 8 heads of 128 elements in 32 layers: 128 KiB a token in bf16.
TEST(DeviceCache, GrowsByTheSameForEveryToken) {
  const Study study = llama();
  EXPECT_EQ(device_cache(study, 1, {1000}).value, 1000.0 * 131072);
  EXPECT_EQ(device_cache(study, 3, {1000}).value, 3000.0 * 131072);
  EXPECT_EQ(cache_per_token(study, 1000).value, 131072.0);
}

TEST(DeviceCache, IsCutByContextAndTensorRanks) {
  Study study = llama();
  study.context_parallel_size = 4;
  EXPECT_EQ(device_cache(study, 1, {1000}).value, 250.0 * 131072);
  study.tensor_parallel_size = 2;
  EXPECT_EQ(device_cache(study, 1, {1000}).value, 125.0 * 131072);
}

// Nine d-vectors of 14,336 bytes on an eighth of 16,384 tokens, over 128 KiB a token.
TEST(PrefillMemory, SaysHowManyTokensOfCacheTheBankCosts) {
  const Study study = llama();
  const PrefillMemory memory = prefill_memory(
      study, {Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(64, 8)}}, 64});
  ASSERT_TRUE(memory.cache_tokens);
  EXPECT_DOUBLE_EQ(*memory.cache_tokens, 9 * 2048 * 4096 * 2 / 131072.0);
}

TEST(Memory, HasWeightsAndCacheWhereTheModelSaysWhatTheyAre) {
  const auto count = [](const Study& study, MemoryItem item) {
    Count rows = 0;
    for (const MemoryRow& row : memory_rows(study, study.path)) rows += row.item == item ? 1 : 0;
    return rows;
  };
  const Study without = test::kimi_k3_study();
  EXPECT_EQ(count(without, MemoryItem::weights), 0);
  const Study with = llama();
  EXPECT_EQ(count(with, MemoryItem::weights), 4);
  EXPECT_EQ(count(with, MemoryItem::kv_cache), 4);
}

}  // namespace
}  // namespace depthcost::weights_and_cache_test
