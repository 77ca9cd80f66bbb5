// From a file to a study: every shipped scenario, the origin of values, and defaults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::scenario_test {
namespace {

using namespace test;

Scenario shipped(const std::string& name) {
  return read_scenario(fmt::format("{}/scenarios/{}.yaml", DEPTHCOST_SOURCE_DIR, name));
}

// --- Full AttnRes has no blocks ---

TEST(FullAttnRes, GroupsSixteenQueriesWhereNoSizeIsWritten) {
  const std::string model = "model: {num_layers: 40, hidden_size: 8, dtype: bf16}\n";
  const Scenario full = parsed(model + "residual: {scheme: full_attnres}\n");
  EXPECT_EQ(full.study.path.scheme.parameters.blocks.block_size, 16);
  EXPECT_EQ(listed(full, "residual.block_size"),
            "16 <- default: queries of a group of full_attnres, [attnres] Table 1");
  const Scenario compared = parsed(model + "residual: {scheme: standard, compare: full_attnres}\n");
  EXPECT_EQ(compared.study.compare.front().scheme.parameters.blocks.block_size, 16);
  const Scenario small = parsed(
      "model: {num_layers: 4, hidden_size: 8, dtype: bf16}\nresidual: {scheme: full_attnres}\n");
  EXPECT_EQ(small.study.path.scheme.parameters.blocks.block_size, 4);
  const Scenario variant =
      parsed(model + "residual: {scheme: full_attnres, compare: attnres_sigmoid}\n");
  EXPECT_EQ(variant.study.compare.front().scheme.parameters.block_size, 1) << "its own default";
  const Scenario beside_blocks =
      parsed(model + "residual: {scheme: block_attnres, block_size: 8, compare: full_attnres}\n");
  EXPECT_EQ(beside_blocks.study.compare.front().scheme.parameters.blocks.block_size, 8);
}

// --- keys of other schemes ---

TEST(SchemeKeys, SayWhereTheyChangeNothing) {
  const auto warned = [](const std::string& residual) {
    std::vector<std::string> keys;
    for (const std::string& warning : value_warnings(
             parsed("model: {num_layers: 40, hidden_size: 8, dtype: bf16}\nresidual: " + residual +
                    "\n")
                 .values))
      keys.push_back(warning.substr(0, warning.find(" has no effect: no scheme here ")));
    return keys;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(warned("{scheme: mhc, block_size: 8}"), Texts{"residual.block_size"});
  EXPECT_EQ(warned("{scheme: mhc, num_blocks: 4, remainder: paper}"), Texts{"residual.num_blocks"});
  EXPECT_EQ(warned("{scheme: block_attnres, block_size: 8, num_streams: 2, compare: standard}"),
            Texts{"residual.num_streams"});
  EXPECT_EQ(warned("{scheme: block_attnres, block_size: 8}"), Texts{}) << "defaults of others";
  EXPECT_EQ(warned("{scheme: mhc, block_size: 8, compare: block_attnres}"), Texts{});
  EXPECT_EQ(warned("{scheme: block_attnres, block_size: 8, num_streams: 2, compare: mhc}"),
            Texts{});
}

/// What nobody can run is an answer that is asked for, and a warning.
TEST(Schedules, WarnWhereTheyAreABound) {
  const auto warned = [](const std::string& residual, const std::string& workload) {
    return value_warnings(
        parsed("model: {num_layers: 40, hidden_size: 1024, dtype: bf16}\nhardware: h100_sxm\n"
               "residual: {" +
               residual + "}\nworkload: {" + workload + "}\n")
            .values);
  };
  using Texts = std::vector<std::string>;
  const std::string decode = "decode: {sequences: [1]}";
  const std::string training = "training: {sequence_length: 128, micro_batches: 8}";
  EXPECT_EQ(warned("scheme: mhc, schedule: one_pass", decode), Texts{});
  EXPECT_EQ(warned("scheme: mhc, schedule: two_pass", training), Texts{});
  EXPECT_EQ(warned("scheme: mhc, schedule: one_pass", training),
            Texts{"one_pass is a bound of mhc in training: no kernel is known that reaches it."});
  EXPECT_EQ(warned("scheme: gated_residual, schedule: one_pass", decode),
            Texts{"one_pass is a bound of gated_residual: no kernel is known that reaches it."});
}

// --- whose kernels ---

TEST(Implementation, OfAFrameworkRunsUnfused) {
  const std::string model = "model: kimi_k3\nhardware: b300_sxm\n";
  const Study eager =
      parsed(model + "residual: {implementation: eager, compare: [standard, mhc]}\n").study;
  EXPECT_EQ(eager.schedule, Schedule::unfused);
  for (const ResidualPath& path : eager.compare)
    EXPECT_EQ(quoted_schedule(eager, path), Schedule::unfused);
  EXPECT_EQ(quoted_schedule(eager, {Scheme{*find_scheme("altup")}, 186}), Schedule::fused);
}

/// An engine's other kernels are launched as they were.
TEST(Implementation, ChangesTheResidualPathAlone) {
  const auto rest_with = [](const std::string& implementation) {
    const Study study =
        parsed(
            "model: kimi_k3\nhardware: b300_sxm\nparallelism: {tensor: 8}\nworkload: "
            "{decode: {sequences: 1}}\nresidual: {implementation: " +
            implementation + "}\n")
            .study;
    std::vector<double> seconds;
    for (const RestRow& row : evaluate_without_remedies(study).rest)
      seconds.push_back(row.time.value.value);
    return seconds;
  };
  EXPECT_EQ(rest_with("ours"), rest_with("fastest_published"));
}

TEST(Implementation, OfAStackIsTheFastestWhereNobodyHasMeasuredIt) {
  const Scenario scenario = parsed(
      "model: kimi_k3\nhardware: b300_sxm\nresidual: {implementation: vllm, compare: "
      "[standard, mhc, hc_dynamic]}\n");
  EXPECT_GT(scenario.study.machine->few_tokens->stack.projection.value, 1);
  std::vector<std::string> notes;
  for (const ResolvedValue& value : scenario.values)
    if (value.origin.find("of vllm's kernels") != std::string::npos) notes.push_back(value.origin);
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "fallback: no measurement of vllm's kernels of block_attnres is known",
                       "fallback: of vllm's kernels of hc_dynamic only mhc_post is measured"}));
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
  EXPECT_EQ(study.path.scheme.parameters.blocks, expected);
  EXPECT_EQ(study.path.attachment, Attachment::standalone);
  EXPECT_EQ(study.schedule, Schedule::single_pass);
  EXPECT_EQ(names_of(study.compare), (std::vector<std::string>{"standard", "mhc", "full_attnres"}));
  EXPECT_EQ(study.compare[1].scheme.parameters.num_streams, 4);
  EXPECT_EQ(study.compare[2].scheme.parameters.blocks, expected);
  EXPECT_EQ(study.phase1_dtype, Dtype::bf16);
  EXPECT_FALSE(study.layout);
  EXPECT_EQ(token_layout(study, WorkloadKind::decode), Layout::replicated);
  EXPECT_EQ(study.tensor_parallel_size, 8);
  EXPECT_FALSE(study.pipeline);
  ASSERT_TRUE(study.decode);
  EXPECT_EQ(study.decode->sequences, (std::vector<Count>{1, 16}));
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
                    "standalone <- default: there is no all-reduce to fuse it with"},
        DefaultCase{"Layout", "residual.layout",
                    "replicated <- default: what serving engines ship: every tensor-parallel rank "
                    "holds all tokens"},
        DefaultCase{"Schedule", "residual.schedule", "single_pass <- default: what engines ship"},
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
                    "1 <- default: the tensor-parallel ranks: [attnres] Sec. 4.2"}),
    [](const auto& row) { return row.param.name; });

TEST(Defaults, FoldTheResidualPathOfADecodeStepOverRanks) {
  const Scenario scenario = parsed(
      "model: kimi_k3\nhardware: b300_sxm\nparallelism: {tensor: 8}\n"
      "workload: {decode: {sequences: 1}}\n");
  EXPECT_EQ(listed(scenario, "residual.attach"),
            "all_reduce at decode, else standalone <- default: what serving engines ship: "
            "[all_reduce_fusion]");
}

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
  EXPECT_EQ(scenario.study.path.scheme.parameters.num_streams, 2);
  EXPECT_EQ(listed(scenario, "residual.num_streams"), "");
  EXPECT_EQ(listed(scenario, "model.residual.num_streams"), "2 <- it.yaml:2");
  EXPECT_EQ(listed(scenario, "residual.phase1_dtype"), "f32 <- default: the model's dtype");
  EXPECT_EQ(listed(scenario, "residual.schedule"), "fused <- default: what engines ship");
}

TEST(Defaults, GiveTheFileNameToAScenarioWithoutAName) {
  const Study study =
      parsed("model: {num_layers: 8, hidden_size: 8, dtype: f16, residual: {scheme: standard}}\n")
          .study;
  EXPECT_EQ(study.name, "it.yaml");
  EXPECT_EQ(study.model.name, "unnamed model");
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

TEST(Workloads, TakeARoutingWhereTheModelHasExperts) {
  EXPECT_EQ(parsed("model: kimi_k3\nworkload: {routing: balanced}\n").study.routing,
            Routing::balanced);
  EXPECT_EQ(parsed("model: kimi_k3\nworkload: {routing: power_law}\n").study.routing,
            Routing::power_law);
}

TEST(Placements, PutTablesIntoTheHostWhereNothingIsTrained) {
  const auto tables = [](const std::string& written) {
    return parsed("model: qwen3_8_flash_next\n" + written).study.tables;
  };
  EXPECT_EQ(tables(""), TablePlacement::device);
  EXPECT_EQ(tables("parallelism: {tables: host}\n"), TablePlacement::host);
}

TEST(ResidualPaths, KeepPartialResultsInTheModelsTypeUnlessTheySayOtherwise) {
  const auto dtype = [](const std::string& written) {
    return parsed("model: kimi_k3\n" + written).study.phase1_dtype;
  };
  EXPECT_EQ(dtype(""), Dtype::bf16);
  EXPECT_EQ(dtype("residual: {phase1_dtype: f32}\n"), Dtype::f32);
}

TEST(ResidualPaths, OfAFrameworkRunUnfused) {
  for (const std::string schedule : {"", ", schedule: unfused"})
    EXPECT_EQ(parsed("model: kimi_k3\nresidual: {implementation: eager" + schedule + "}\n")
                  .study.schedule,
              Schedule::unfused);
}

TEST(Workloads, TakeSpeculativeDecoding) {
  const auto speculation = [](const std::string& written) {
    return parsed("model: kimi_k3\nworkload: {decode: {sequences: 64" + written + "}}\n")
        .study.decode->speculation;
  };
  EXPECT_EQ(speculation("").tokens, 1);
  EXPECT_EQ(speculation("").accepted, 1);
  EXPECT_EQ(speculation(", speculative: {tokens: 4, accepted: 2.5}").tokens, 4);
  EXPECT_EQ(speculation(", speculative: {tokens: 4, accepted: 2.5}").accepted, 2.5);
}

TEST(Workloads, TakeAChunkOfAPromptInEachStep) {
  const auto decode = [](const std::string& written) {
    return *parsed("model: kimi_k3\nworkload: {decode: {sequences: 64, context: 7000" + written +
                   "}}\n")
                .study.decode;
  };
  EXPECT_FALSE(decode("").prompt);
  EXPECT_FALSE(decode(", prefill_tokens: 0").prompt);
  const Decode half = decode(", prefill_tokens: 512");
  EXPECT_EQ(half.prompt->tokens, 512);
  EXPECT_EQ(context_of(*half.prompt, half), 3500);
  const Decode first = decode(", prefill_tokens: 512, prefill_context: 0");
  EXPECT_EQ(context_of(*first.prompt, first), 0);
}

TEST(Workloads, HoistPhase1OnlyWhereTheyAreToldTo) {
  const auto phase1 = [](const std::string& key) {
    return parsed("model: kimi_k3\nworkload: {decode: {sequences: 64" + key + "}}\n")
        .study.decode->phase1;
  };
  EXPECT_EQ(phase1(""), Phase1Order::in_order);
  EXPECT_EQ(phase1(", phase1: in_order"), Phase1Order::in_order);
  EXPECT_EQ(phase1(", phase1: hoisted"), Phase1Order::hoisted);
}

TEST(Workloads, TakeASingleBatchWithoutBrackets) {
  EXPECT_EQ(parsed("model: kimi_k3\nworkload: {decode: {sequences: 64}}\n").study.decode->sequences,
            std::vector<Count>{64});
}

TEST(Budgets, AreReadInBaseUnits) {
  const auto budgets =
      parsed(
          "model: kimi_k3\n"
          "workload: {decode: {sequences: 1}, prefill: {tokens: 1024}, training: "
          "{sequence_length: 1024}}\n"
          "budgets: {device_memory: fits, pipeline_peak: 50 kB, prefill_peak: 1 GiB, "
          "prefill_bank: 2.5 GB, pipeline_cache: 3 %, added_activations: 1 %, "
          "exposed_communication: 0.1 %, training_overhead: 4 %, prefill_overhead: 0.5 %, "
          "decode_overhead: 2 %}\n")
          .study.budgets;
  ASSERT_EQ(budgets.size(), 10u);
  const std::vector<double> expected{0.02, 0.005, 0.04,       0.001, 0.01,
                                     0.03, 2.5e9, 1073741824, 50e3,  0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(budgets[i].kind), i);
    EXPECT_EQ(budgets[i].limit, expected[i]) << i;
  }
}

/// Without hardware nothing is known that a measured step could be too short for.
TEST(Scenarios, HaveTheValuesOfTheModelsHeadsInValueResidual) {
  const auto size = [](const std::string& model) {
    return parsed("model: " + model + "\nresidual: {scheme: value_residual}\n")
        .study.path.scheme.parameters.kv_size;
  };
  EXPECT_EQ(size("llama_3_1_70b"), 8 * 128);
  EXPECT_EQ(size("{decoder_layers: 4, hidden_size: 512, dtype: bf16}"), 512);
}

/// It stands beside every scheme.
TEST(Scenarios, MayAskForTheStandardResidualBesideItself) {
  const Study study =
      parsed("model: llama_3_1_8b\nresidual: {scheme: standard, compare: [standard, mhc]}\n").study;
  EXPECT_EQ(names_of(study.compare), (std::vector<std::string>{"mhc"}));
}

TEST(Scenarios, SayThatNoEngineFoldsTheirScheme) {
  const auto attach = [](const std::string& scheme) {
    return listed(parsed("model: llama_3_1_70b\nhardware: h100_sxm\nresidual: {scheme: " + scheme +
                         "}\nparallelism: {tensor: 8}\nworkload: {decode: {sequences: [1], "
                         "context: 1000}}\n"),
                  "residual.attach");
  };
  EXPECT_TRUE(attach("mhc").starts_with("standalone <- ")) << attach("mhc");
  EXPECT_NE(attach("mhc").find("no engine fuses this scheme, run so, with an all-reduce"),
            std::string::npos);
  EXPECT_TRUE(attach("standard").starts_with("all_reduce at decode")) << attach("standard");
}

TEST(Scenarios, MayHaveAMeasuredStepWithoutHardware) {
  for (const char* asked : {"{decode: {sequences: 8}}\nbaseline_step: {decode: 1 ms}\n",
                            "{prefill: {tokens: 4096}}\nbaseline_step: {prefill: 1 ms}\n"}) {
    const Study study = test::parse_scenario(fmt::format("schema: depthcost/1\nmodel: "
                                                         "llama_3_1_8b\nworkload: {}",
                                                         asked),
                                             "it.yaml")
                            .study;
    EXPECT_FALSE(study.machine);
  }
}

}  // namespace
}  // namespace depthcost::scenario_test
