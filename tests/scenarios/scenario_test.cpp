// From a file to the question: every shipped scenario, where values come from, what a map may
// override, and what the reader puts where nothing is written.
#include "scenarios/scenario.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "model/mechanism.hpp"
#include "scenarios/input_error.hpp"
#include "scenarios/keys.hpp"
#include "scenarios/presets.hpp"
#include "scenarios/reference.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::scenario_test {
namespace {

Scenario shipped(const std::string& name) {
  return read_scenario(fmt::format("{}/scenarios/{}.yaml", DEPTHCOST_SOURCE_DIR, name));
}

Scenario parsed(const std::string& body) {
  return parse_scenario("schema: depthcost/1\n" + body, "it.yaml");
}

/// "value <- origin", or "" where the key is not listed.
std::string listed(const Scenario& scenario, const std::string& key) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) return fmt::format("{} <- {}", value.value, value.origin);
  return "";
}

bool is_listed_once(const Scenario& scenario, const std::string& key) {
  return std::count_if(scenario.values.begin(), scenario.values.end(),
                       [&](const ResolvedValue& value) { return value.key == key; }) == 1;
}

const Partition& blocks_of(const Scenario& scenario) {
  return std::get<BlockAttnRes>(scenario.study.path.scheme).blocks;
}

std::vector<std::string> names_of(const std::vector<ResidualPath>& paths) {
  std::vector<std::string> names;
  for (const ResidualPath& path : paths) names.emplace_back(name(path.scheme));
  return names;
}

// --- what is shipped ---

TEST(ShippedScenarios, AreAllRead) {
  int num_read = 0;
  const std::filesystem::path folder = std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    Scenario scenario;
    ASSERT_NO_THROW(scenario = read_scenario(entry.path().string()));
    EXPECT_FALSE(scenario.study.name.empty());
    EXPECT_GT(scenario.study.model.num_layers, 0);
    EXPECT_EQ(scenario.study.path.num_layers, scenario.study.model.num_layers);
    EXPECT_FALSE(scenario.study.compare.empty()) << "compares nothing";
    ++num_read;
  }
  EXPECT_GE(num_read, 10);
}

TEST(ShippedScenarios, AskForKimiK3OnB300) {
  const Study study = shipped("kimi_k3_8xb300").study;
  EXPECT_EQ(study.name, "Kimi K3 on 8 x B300");
  EXPECT_EQ(study.model.name, "Kimi K3");
  EXPECT_EQ(study.model.num_layers, 186);
  EXPECT_EQ(study.model.hidden_size, 7168);
  EXPECT_EQ(study.model.dtype, Dtype::bf16);
  const Partition expected{.num_layers = 186, .block_size = 24, .num_blocks = 8, .last_size = 18};
  EXPECT_EQ(std::get<BlockAttnRes>(study.path.scheme).blocks, expected);
  EXPECT_EQ(study.path.attachment, Attachment::standalone);
  EXPECT_EQ(study.schedule, Schedule::single_pass);
  EXPECT_EQ(names_of(study.compare), (std::vector<std::string>{"standard", "mhc", "full_attnres"}));
  EXPECT_EQ(std::get<Mhc>(study.compare[1].scheme).num_streams, 4);
  EXPECT_EQ(std::get<FullAttnRes>(study.compare[2].scheme).groups, expected);
  EXPECT_EQ(study.phase1_dtype, Dtype::bf16);
  EXPECT_EQ(study.layout, Layout::replicated);
  EXPECT_EQ(study.tensor_parallel_size, 8);
  EXPECT_FALSE(study.pipeline);
  ASSERT_TRUE(study.decode);
  EXPECT_EQ(study.decode->sequences, (std::vector<Count>{1, 64, 512}));
  EXPECT_EQ(study.decode->context, 100000);
  EXPECT_EQ(study.decode->launch, Launch::graph);
  EXPECT_TRUE(study.decode->baseline_steps.empty());
  ASSERT_TRUE(study.prefill);
  EXPECT_EQ(study.prefill->tokens, 131072);
  EXPECT_EQ(study.prefill->chunk, 16384);
  EXPECT_EQ(study.prefill->sequence_shards, 8);
  EXPECT_EQ(study.prefill->launch, Launch::stream);
  ASSERT_EQ(study.budgets.size(), 2u);
  EXPECT_EQ(study.budgets[0].kind, BudgetKind::prefill_bank);
  EXPECT_EQ(study.budgets[0].limit, 2.5e9);
  EXPECT_EQ(study.budgets[1].kind, BudgetKind::device_memory);
}

TEST(ShippedScenarios, SpreadAPipelineOverDecoderLayers) {
  const Study study = shipped("kimi_k3_32xh200").study;
  ASSERT_TRUE(study.pipeline);
  EXPECT_EQ(study.pipeline->num_stages, 4);
  EXPECT_EQ(study.pipeline->num_virtual_stages, 1);
  // 93 decoder layers: 24, 23, 23, 23, of two layers each.
  EXPECT_EQ(study.pipeline->chunk_layers, (std::vector<Count>{48, 46, 46, 46}));
}

// --- where values come from ---

TEST(Origins, NameTheLineOfWhatIsWritten) {
  const Scenario scenario = shipped("kimi_k3_8xb300");
  EXPECT_EQ(listed(scenario, "residual.compare"),
            "standard, mhc, full_attnres <- kimi_k3_8xb300.yaml:8");
  EXPECT_EQ(listed(scenario, "budgets.prefill_bank"), "2.5 GB <- kimi_k3_8xb300.yaml:14");
}

TEST(Origins, NameSourceAndDateOfPresets) {
  const Scenario scenario = shipped("kimi_k3_8xb300");
  EXPECT_EQ(listed(scenario, "model.residual.block_size"),
            "24 <- preset kimi_k3: derived: 12 decoder layers x 2 layers each, from "
            "ai-dynamo/aiconfigurator @095f58a5 model_configs/moonshotai--Kimi-K3_config.json: "
            "text_config.attn_res_block_size 12 (2026-08-21)");
  EXPECT_EQ(listed(scenario, "hardware.bf16_rate"),
            "2250 TFLOP/s <- preset b300_sxm: ai-dynamo/aiconfigurator @095f58a5 "
            "systems/b300_sxm.yaml (2026-08-21)");
  EXPECT_EQ(listed(scenario, "hardware.vendor"), "nvidia <- preset b300_sxm");
}

struct DefaultCase {
  std::string name;
  std::string key;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const DefaultCase& row) { return out << row.name; }

class Defaults : public testing::TestWithParam<DefaultCase> {};

TEST_P(Defaults, AreListedWithTheirSource) {
  const Scenario scenario = parsed(
      "model: kimi_k3\n"
      "parallelism: {pipeline: 2}\n"
      "workload: {decode: {sequences: 1}, prefill: {tokens: 4096}}\n");
  EXPECT_EQ(listed(scenario, GetParam().key), GetParam().expected);
  EXPECT_TRUE(is_listed_once(scenario, GetParam().key));
}

INSTANTIATE_TEST_SUITE_P(
    Keys, Defaults,
    testing::Values(
        DefaultCase{"Streams", "residual.num_streams",
                    "4 <- default: [mhc] n = 4, the value of every released model"},
        DefaultCase{"Attachment", "residual.attach",
                    "standalone <- default: [ours] a kernel of its own"},
        DefaultCase{"Layout", "residual.layout",
                    "replicated <- default: what serving engines ship: every tensor-parallel rank "
                    "holds all tokens"},
        DefaultCase{"Schedule", "residual.schedule",
                    "single_pass <- default: what serving engines ship"},
        DefaultCase{"Phase1", "residual.phase1_dtype", "bf16 <- default: the model's dtype"},
        DefaultCase{"Tensor", "parallelism.tensor", "1 <- default: [ours] one device"},
        DefaultCase{"Context", "parallelism.context", "1 <- default: [ours] none"},
        DefaultCase{"Data", "parallelism.data", "1 <- default: [ours] one replica"},
        DefaultCase{"VirtualStages", "parallelism.virtual_stages",
                    "1 <- default: [attnres] Sec. 4.1, V = 1: no interleaving"},
        DefaultCase{"DecodeLaunch", "workload.decode.launch",
                    "graph <- default: what serving engines ship"},
        DefaultCase{"PrefillLaunch", "workload.prefill.launch",
                    "stream <- default: [ours] shapes vary from chunk to chunk"},
        DefaultCase{"Shards", "workload.prefill.sequence_shards",
                    "1 <- default: [ours] not sharded"}),
    [](const auto& row) { return row.param.name; });

TEST(Defaults, OfWhatIsNotAskedForAreNotListed) {
  const Scenario scenario = parsed("model: kimi_k3\n");
  for (const std::string key :
       {"parallelism.virtual_stages", "workload.decode.launch", "workload.prefill.launch",
        "workload.prefill.sequence_shards", "residual.remainder"})
    EXPECT_EQ(listed(scenario, key), "") << key;
}

TEST(Defaults, AreNotListedWhereTheModelSpeaks) {
  const Scenario scenario = parsed(
      "model: {num_layers: 12, hidden_size: 8, dtype: f32, residual: {scheme: mhc, num_streams: "
      "2}}\n");
  EXPECT_EQ(std::get<Mhc>(scenario.study.path.scheme).num_streams, 2);
  EXPECT_EQ(listed(scenario, "residual.num_streams"), "");
  EXPECT_EQ(listed(scenario, "model.residual.num_streams"), "2 <- it.yaml:2");
  EXPECT_EQ(listed(scenario, "residual.phase1_dtype"), "f32 <- default: the model's dtype");
  EXPECT_EQ(listed(scenario, "residual.schedule"), "fused <- default: what serving engines ship");
}

TEST(Defaults, GiveTheFileNameToAScenarioWithoutAName) {
  const Study study =
      parsed("model: {num_layers: 8, hidden_size: 8, dtype: f16, residual: {scheme: standard}}\n")
          .study;
  EXPECT_EQ(study.name, "it.yaml");
  EXPECT_EQ(study.model.name, "unnamed model");
}

// --- maps, bases and paths ---

TEST(Maps, TakeTheKeysOfPresetFiles) {
  const Scenario scenario = parsed(
      "model: {name: mine, num_layers: 128, hidden_size: {value: 7168, source: a talk, date: "
      "2026-03-16}, dtype: bf16}\n"
      "residual: {scheme: standard, num_streams: 8, compare: mhc}\n");
  EXPECT_EQ(scenario.study.model.name, "mine");
  EXPECT_EQ(scenario.study.model.num_layers, 128);
  EXPECT_EQ(listed(scenario, "model.hidden_size"), "7168 <- it.yaml:2: a talk (2026-03-16)");
  EXPECT_EQ(names_of(scenario.study.compare), std::vector<std::string>{"mhc"});
  EXPECT_EQ(std::get<Mhc>(scenario.study.compare[0].scheme).num_streams, 8);
}

TEST(Maps, OverrideSingleValuesOfTheirBase) {
  const Scenario scenario = parsed(
      "model: {base: kimi_k3, hidden_size: 4096}\n"
      "hardware: {base: h200_sxm, memory_bandwidth: 4.9 TB/s}\n");
  EXPECT_EQ(scenario.study.model.num_layers, 186);
  EXPECT_EQ(scenario.study.model.hidden_size, 4096);
  EXPECT_EQ(blocks_of(scenario).block_size, 24);
  EXPECT_EQ(listed(scenario, "model.hidden_size"), "4096 <- it.yaml:2");
  EXPECT_EQ(listed(scenario, "model.dtype").substr(0, 22), "bf16 <- preset kimi_k3");
  EXPECT_EQ(listed(scenario, "model.base"), "");
  ASSERT_TRUE(scenario.study.machine);
  EXPECT_EQ(scenario.study.machine->memory_ceiling.value, 4.9e12);
  EXPECT_EQ(scenario.study.machine->name, "NVIDIA H200 SXM");
}

TEST(Maps, ScaleWhatWasMeasuredAtAnotherBandwidth) {
  const auto copy_bandwidth = [](const std::string& bandwidth) {
    const Scenario scenario =
        parsed("model: kimi_k3\nhardware: {base: h200_sxm, memory_bandwidth: " + bandwidth + "}\n");
    return scenario.study.machine->memory_bandwidth.front().bandwidth;
  };
  EXPECT_DOUBLE_EQ(copy_bandwidth("2.4 TB/s").value.value,
                   copy_bandwidth("4.8 TB/s").value.value / 2);
  EXPECT_EQ(copy_bandwidth("4.8 TB/s").evidence, Evidence::assumed);
}

TEST(Maps, CountWhatNobodyIsCitedForAsAssumed) {
  const auto curve = [](const std::string& source) {
    const Scenario scenario = parsed(
        "model: kimi_k3\nhardware: {kind: gpu, memory_bandwidth: 1 TB/s, sustained_bandwidth: "
        "[{reads: 1, writes: 1, value: 0.9 TB/s" +
        source + "}]}\n");
    return scenario.study.machine->memory_bandwidth.front().bandwidth;
  };
  EXPECT_EQ(curve("").evidence, Evidence::assumed);
  EXPECT_DOUBLE_EQ(curve("").high.value, 0.99e12);
  EXPECT_EQ(curve(", source: a talk, date: 2026-03-16").evidence, Evidence::published);
  EXPECT_DOUBLE_EQ(curve(", source: a talk, date: 2026-03-16").high.value, 0.945e12);
}

TEST(Quantities, OfBytesAreWholeWhereTheyAreWritten) {
  const Scenario scenario = parsed(
      "model: kimi_k3\nworkload: {prefill: {tokens: 5}}\nbudgets: {prefill_bank: 16.911433728 "
      "GB}\n");
  EXPECT_EQ(scenario.study.budgets.front().limit, 16911433728.0);
}

TEST(Maps, ReplaceAKeyOfTheirBaseByItsAlternative) {
  const Scenario scenario =
      parsed("model: {base: kimi_k3, num_layers: 48, residual: {num_blocks: 6}}\n");
  EXPECT_EQ(scenario.study.model.num_layers, 48);
  EXPECT_EQ(blocks_of(scenario).num_blocks, 6);
  EXPECT_EQ(listed(scenario, "model.decoder_layers"), "");
  EXPECT_EQ(listed(scenario, "model.residual.block_size"), "");
}

TEST(Maps, ReplaceRecordsOfTheirBaseAsAWhole) {
  const Machine machine =
      *parsed(
           "model: kimi_k3\n"
           "hardware: {base: h200_sxm, sustained_bandwidth: [{reads: 1, writes: 1, value: 4 "
           "TB/s}]}\n")
           .study.machine;
  ASSERT_EQ(machine.memory_bandwidth.size(), 1u);
  EXPECT_EQ(machine.memory_bandwidth[0].read_share, 0.5);
  EXPECT_EQ(machine.memory_bandwidth[0].bandwidth.value.value, 4e12);
}

TEST(Paths, AreRelativeToTheFileThatNamesThem) {
  const test::TemporaryFolder folder;
  folder.written("models/small.yaml",
                 "schema: depthcost-model/1\nbase: parts/base.yaml\ndtype: f32\n");
  folder.written("models/parts/base.yaml",
                 "schema: depthcost-model/1\nname: Base\nnum_layers: 12\nhidden_size: 64\n"
                 "dtype: bf16\nresidual: {scheme: standard}\n");
  folder.written("chip.yaml",
                 "schema: depthcost-hardware/1\nname: Chip\nkind: gpu\nmemory_bandwidth: 1 TB/s\n");
  const std::string file = folder.written(
      "asks/it.yaml", "schema: depthcost/1\nmodel: ../models/small.yaml\nhardware: ../chip.yaml\n");
  const Scenario scenario = read_scenario(file);
  EXPECT_EQ(scenario.study.model.name, "Base");
  EXPECT_EQ(scenario.study.model.dtype, Dtype::f32);
  EXPECT_EQ(listed(scenario, "model.dtype"), "f32 <- small.yaml:3");
  EXPECT_EQ(listed(scenario, "model.num_layers"), "12 <- base.yaml:3");
  EXPECT_EQ(scenario.study.machine->name, "Chip");
}

TEST(Paths, MayBeAbsolute) {
  const test::TemporaryFolder folder;
  const std::string model =
      folder.written("m.yml",
                     "schema: depthcost-model/1\nnum_layers: 12\nhidden_size: 64\ndtype: bf16\n"
                     "residual: {scheme: standard}\n");
  EXPECT_EQ(parsed("model: " + model + "\n").study.model.num_layers, 12);
}

// --- blocks ---

struct RemainderCase {
  std::string name;
  std::string residual;  // of a model with 186 layers
  Partition expected;
};

std::ostream& operator<<(std::ostream& out, const RemainderCase& row) { return out << row.name; }

class Blocks : public testing::TestWithParam<RemainderCase> {};

TEST_P(Blocks, FollowTheRemainderRule) {
  const Scenario scenario = parsed(
      "model: {num_layers: 186, hidden_size: 8, dtype: bf16}\nresidual: {scheme: "
      "block_attnres, " +
      GetParam().residual + "}\n");
  EXPECT_EQ(blocks_of(scenario), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Blocks,
    testing::Values(RemainderCase{"Size", "block_size: 24", {186, 24, 8, 18}},
                    RemainderCase{"DefaultIsPaper", "num_blocks: 8", {186, 23, 9, 2}},
                    RemainderCase{"Paper", "num_blocks: 8, remainder: paper", {186, 23, 9, 2}},
                    RemainderCase{"Ceil", "num_blocks: 8, remainder: ceil", {186, 24, 8, 18}},
                    RemainderCase{"Strict", "num_blocks: 6, remainder: strict", {186, 31, 6, 31}},
                    RemainderCase{
                        "Literal", "num_blocks: 10, remainder: literal", {186, 20, 10, 6}}),
    [](const auto& row) { return row.param.name; });

TEST(Blocks, OfTheScenarioGoBeforeThoseOfTheModel) {
  const Scenario scenario = parsed("model: kimi_k3\nresidual: {num_blocks: 93}\n");
  EXPECT_EQ(blocks_of(scenario), (Partition{186, 2, 93, 2}));
  EXPECT_EQ(listed(scenario, "residual.remainder"),
            "paper <- default: [attnres] Sec. 3.2 read with S = L/N");
}

TEST(Blocks, OfAModelThatCountsThemShowTheRule) {
  const std::string model =
      "model: {num_layers: 12, hidden_size: 8, dtype: bf16, residual: {scheme: block_attnres, "
      "num_blocks: 5";
  const Scenario silent = parsed(model + "}}\n");
  EXPECT_EQ(blocks_of(silent), (Partition{12, 2, 6, 2}));
  EXPECT_EQ(listed(silent, "residual.remainder"),
            "paper <- default: [attnres] Sec. 3.2 read with S = L/N");
  const Scenario ceil = parsed(model + ", remainder: ceil}}\n");
  EXPECT_EQ(blocks_of(ceil), (Partition{12, 3, 4, 3}));
  EXPECT_EQ(listed(ceil, "residual.remainder"), "");
  const Scenario sized = parsed(model + "}}\nresidual: {block_size: 4}\n");
  EXPECT_EQ(blocks_of(sized), (Partition{12, 4, 3, 4}));
  EXPECT_EQ(listed(sized, "residual.remainder"), "");
}

// --- pipelines and workloads ---

TEST(Pipelines, TakeWrittenChunksWithZeros) {
  const PipelineLayout layout =
      *parsed(
           "model: {num_layers: 7, hidden_size: 8, dtype: bf16, residual: {scheme: standard}}\n"
           "parallelism: {pipeline: 2, virtual_stages: 2, chunk_layers: [0, 4, 0, 3]}\n")
           .study.pipeline;
  EXPECT_EQ(layout.num_stages, 2);
  EXPECT_EQ(layout.num_virtual_stages, 2);
  EXPECT_EQ(layout.chunk_layers, (std::vector<Count>{0, 4, 0, 3}));
}

TEST(Pipelines, SpreadLayersWhereTheModelCountsLayers) {
  const PipelineLayout layout =
      *parsed(
           "model: {num_layers: 7, hidden_size: 8, dtype: bf16, residual: {scheme: standard}}\n"
           "parallelism: {pipeline: 2}\n")
           .study.pipeline;
  EXPECT_EQ(layout.chunk_layers, (std::vector<Count>{4, 3}));
}

TEST(Workloads, TakeOneBaselineStepForAllOrOneEach) {
  const auto steps = [](const std::string& written) {
    return parsed(
        "model: kimi_k3\nworkload: {decode: {sequences: [1, 64]}}\nbaseline_step: "
        "{decode: " +
        written + ", prefill: 2 s}\n");
  };
  // baseline_step.prefill needs a prefill.
  EXPECT_THROW(steps("12 ms"), InputError);
  const auto decode_steps = [](const std::string& written) {
    return parsed(
               "model: kimi_k3\nworkload: {decode: {sequences: [1, 64], layer_bytes: 60 MB}, "
               "prefill: {tokens: 5}}\nbaseline_step: {decode: " +
               written + ", prefill: 2 s}\n")
        .study;
  };
  EXPECT_EQ(decode_steps("12 ms").decode->baseline_steps, (std::vector<Seconds>{{12e-3}}));
  EXPECT_EQ(decode_steps("[12 ms, 500 us]").decode->baseline_steps,
            (std::vector<Seconds>{{12e-3}, {500e-6}}));
  EXPECT_EQ(decode_steps("12 ms").decode->layer_bytes, Bytes{60e6});
  EXPECT_EQ(decode_steps("12 ms").prefill->baseline_step, Seconds{2});
  EXPECT_FALSE(decode_steps("12 ms").prefill->chunk);
}

TEST(Workloads, TakeASingleBatchWithoutBrackets) {
  EXPECT_EQ(parsed("model: kimi_k3\nworkload: {decode: {sequences: 64}}\n").study.decode->sequences,
            std::vector<Count>{64});
}

TEST(Budgets, AreReadInBaseUnits) {
  const auto budgets =
      parsed(
          "model: kimi_k3\n"
          "budgets: {device_memory: fits, pipeline_peak: 50 kB, prefill_peak: 1 GiB, "
          "prefill_bank: 2.5 GB, training_overhead: 4 %, prefill_overhead: 0.5 %, "
          "decode_overhead: 2 %}\n")
          .study.budgets;
  ASSERT_EQ(budgets.size(), 7u);
  const std::vector<double> expected{0.02, 0.005, 0.04, 2.5e9, 1073741824, 50e3, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(budgets[i].kind), i);
    EXPECT_EQ(budgets[i].limit, expected[i]) << i;
  }
}

// --- the table of keys and the enums of the model ---

template <class Enum>
std::vector<std::string> names_up_to(Enum last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name(static_cast<Enum>(i)));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> choices_of(const KeyTable& table, std::string_view path) {
  const Key* key = find_key(table, path);
  if (key == nullptr) return {"no such key"};
  std::vector<std::string> choices(key->choices.begin(), key->choices.end());
  std::sort(choices.begin(), choices.end());
  return choices;
}

TEST(Choices, AreTheNamesOfTheEnums) {
  const auto schedules = names_up_to(Schedule::two_phase);
  EXPECT_EQ(choices_of(scenario_keys(), "residual.schedule"), schedules);
  const auto remainders = names_up_to(Remainder::literal);
  EXPECT_EQ(choices_of(scenario_keys(), "residual.remainder"), remainders);
  EXPECT_EQ(choices_of(model_keys(), "residual.remainder"), remainders);
  EXPECT_EQ(choices_of(model_keys(), "dtype"), names_up_to(Dtype::f32));
  EXPECT_EQ(choices_of(scenario_keys(), "residual.attach"), names_up_to(Attachment::gemm_epilogue));
  EXPECT_EQ(choices_of(scenario_keys(), "residual.layout"), names_up_to(Layout::sequence_sharded));
  const auto launches = names_up_to(Launch::graph_pdl);
  EXPECT_EQ(choices_of(scenario_keys(), "workload.decode.launch"), launches);
  EXPECT_EQ(choices_of(scenario_keys(), "workload.prefill.launch"), launches);
  EXPECT_EQ(choices_of(hardware_keys(), "launch_floor[].launch"), launches);
  EXPECT_EQ(choices_of(hardware_keys(), "launch_floor[].level"), names_up_to(Level::memory));
}

TEST(Choices, OfSchemesAreTheNamesOfTheVariantAndOfTheMechanisms) {
  std::vector<std::string> schemes;
  for (const Scheme& scheme :
       {Scheme{Standard{}}, Scheme{Mhc{}}, Scheme{FullAttnRes{}}, Scheme{BlockAttnRes{}}})
    schemes.emplace_back(name(scheme));
  ASSERT_EQ(schemes.size(), std::variant_size_v<Scheme> - 1);
  for (const Mechanism* mechanism : mechanisms()) schemes.emplace_back(mechanism->id);
  std::sort(schemes.begin(), schemes.end());
  EXPECT_EQ(choices_of(scenario_keys(), "residual.scheme"), schemes);
  EXPECT_EQ(choices_of(scenario_keys(), "residual.compare"), schemes);
  EXPECT_EQ(choices_of(model_keys(), "residual.scheme"), schemes);
}

TEST(Choices, OfBudgetsAreTheNamesOfTheEnum) {
  auto names = names_inside(scenario_keys(), "budgets");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, names_up_to(BudgetKind::device_memory));
}

TEST(Keys, StandOnceInTheirTable) {
  for (const KeyTable* table : {&scenario_keys(), &model_keys(), &hardware_keys()})
    for (const Key& key : table->keys) {
      EXPECT_EQ(find_key(*table, key.path), &key) << key.path;
      EXPECT_FALSE(key.meaning.empty()) << key.path;
      EXPECT_EQ(key.fallback.empty(), key.fallback_source.empty()) << key.path;
      if (key.instead_of.empty()) continue;
      EXPECT_NE(find_key(*table, key.instead_of), nullptr) << key.path;
    }
}

// --- hardware ---

Scenario on(const std::string& hardware) {
  return parsed("model: kimi_k3\nhardware: " + hardware + "\n");
}

/// The keys of all fallbacks, in the order of the notes.
std::vector<std::string> fallbacks_of(const Scenario& scenario) {
  std::vector<std::string> keys;
  for (const ResolvedValue& value : scenario.values)
    if (value.origin.starts_with("fallback")) keys.push_back(value.key);
  return keys;
}

double relative_width(const Estimate<BytesPerSecond>& estimate) {
  return (estimate.high - estimate.low) / estimate.value;
}

TEST(Hardware, BorrowsWhatHasNoSourceWithAWiderInterval) {
  const Scenario b300 = on("b300_sxm");
  EXPECT_EQ(fallbacks_of(b300),
            (std::vector<std::string>{"hardware.sustained_bandwidth", "hardware.cache_transition",
                                      "hardware.cache_bandwidth", "hardware.launch_floor",
                                      "hardware.saturation_latency"}));
  EXPECT_EQ(listed(b300, "hardware.sustained_bandwidth"),
            "memory_bandwidth x the fractions of h200_sxm <- fallback: not sourced for this part; "
            "interval over h200_sxm");
  const Machine& borrowed = *b300.study.machine;
  const Machine own = *on("h200_sxm").study.machine;
  ASSERT_EQ(borrowed.memory_bandwidth.size(), own.memory_bandwidth.size());
  for (std::size_t i = 0; i < own.memory_bandwidth.size(); ++i) {
    const auto& theirs = own.memory_bandwidth[i].bandwidth;
    const auto& ours = borrowed.memory_bandwidth[i].bandwidth;
    EXPECT_EQ(borrowed.memory_bandwidth[i].read_share, own.memory_bandwidth[i].read_share);
    EXPECT_NEAR(ours.value / theirs.value, 8.0 / 4.8, 1e-12);
    EXPECT_GT(relative_width(ours), 1.5 * relative_width(theirs));
    EXPECT_EQ(theirs.evidence, Evidence::published);
    EXPECT_EQ(ours.evidence, Evidence::assumed);
    EXPECT_LT(ours.low, ours.value);
    EXPECT_GT(ours.high, ours.value);
  }
}

TEST(Hardware, OfH200NeedsNoFallback) {
  const Scenario scenario = on("h200_sxm");
  EXPECT_EQ(fallbacks_of(scenario), std::vector<std::string>{});
  const Machine& machine = *scenario.study.machine;
  EXPECT_EQ(machine.memory_ceiling.value, 4.8e12);
  EXPECT_EQ(machine.memory_bandwidth.size(), 4u);
  EXPECT_TRUE(
      std::is_sorted(machine.memory_bandwidth.begin(), machine.memory_bandwidth.end(),
                     [](const auto& a, const auto& b) { return a.read_share < b.read_share; }));
  EXPECT_EQ(machine.cache_bandwidth.size(), 2u);
  EXPECT_EQ(machine.transition.size(), 8u);
  EXPECT_EQ(machine.floors.size(), 12u);
  EXPECT_EQ(machine.memory_capacity, Bytes{143771.0 * 1048576});  // what the driver shows
  EXPECT_EQ(machine.half_saturation.value, 0.14e-6);
}

TEST(Hardware, TakesTheDatasheetWhereNoPartHelps) {
  const Scenario cpu = on("{kind: cpu, memory_bandwidth: 0.5 TB/s, memory_capacity: 1 TB}");
  EXPECT_EQ(cpu.study.machine->memory_capacity, Bytes{1e12});
  EXPECT_TRUE(cpu.study.machine->transition.empty());
  EXPECT_TRUE(cpu.study.machine->cache_bandwidth.empty());
  for (const MixBandwidth& entry : cpu.study.machine->memory_bandwidth) {
    EXPECT_LE(entry.bandwidth.low, entry.bandwidth.value);
    EXPECT_EQ(entry.bandwidth.evidence, Evidence::assumed);
  }
}

TEST(Hardware, IsOptional) { EXPECT_FALSE(parsed("model: kimi_k3\n").study.machine); }

TEST(Hardware, PresetsAllMakeAMachine) {
  int num_machines = 0;
  for (const Preset& preset : presets()) {
    if (preset.kind != "hardware") continue;
    SCOPED_TRACE(preset.id);
    const Scenario scenario = on(std::string(preset.id));
    const Machine& machine = *scenario.study.machine;
    EXPECT_FALSE(machine.name.empty());
    EXPECT_FALSE(machine.memory_bandwidth.empty());
    for (const MixBandwidth& entry : machine.memory_bandwidth) {
      EXPECT_LE(entry.bandwidth.low, entry.bandwidth.value);
      EXPECT_LE(entry.bandwidth.value, entry.bandwidth.high);
    }
    ++num_machines;
  }
  EXPECT_GE(num_machines, 19);
}

}  // namespace
}  // namespace depthcost::scenario_test
