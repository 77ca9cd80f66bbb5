// A question without a file is the same as the file that would ask it.
#include "scenarios/read/scenario_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "reports/documents/answer_documents.hpp"
#include "scenarios/read/sweep_plan.hpp"
#include "tests/scenarios/keys/scheme_choices.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::scenario_options_test {
namespace {

std::string origin_of(const Scenario& scenario, const std::string& key) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) return value.value + " <- " + value.origin;
  return "";
}

TEST(ScenarioOptions, AskWhatAFileWouldAsk) {
  const Scenario options = asked_scenario("", {.model = "kimi_k3",
                                               .hardware = "b300_sxm",
                                               .tensor = "8",
                                               .pipeline = "4",
                                               .compare = "standard",
                                               .decode = "1,64",
                                               .context = "1000",
                                               .prefill = "4096"});
  const Scenario file = test::parse_scenario(
      "schema: depthcost/1\nname: kimi_k3 on 32 x b300_sxm\nmodel: kimi_k3\nhardware: b300_sxm\nresidual: {compare: [standard]}\n"
      "parallelism: {tensor: 8, pipeline: 4}\nworkload: {decode: {sequences: [1, 64], context: "
      "1000}, prefill: {tokens: 4096, chunk: 4096}}\n",
      "it.yaml");
  const auto numbers = [](const Scenario& scenario) {
    return to_json(evaluate(scenario.study), {}, {DEPTHCOST_VERSION, {}});
  };
  EXPECT_EQ(numbers(options), numbers(file));
  ASSERT_EQ(options.values.size(), file.values.size());
  for (std::size_t i = 0; i < options.values.size(); ++i) {
    EXPECT_EQ(options.values[i].key, file.values[i].key);
    EXPECT_EQ(options.values[i].value, file.values[i].value);
  }
}

TEST(ScenarioOptions, SayWhatIsTypedAndWhatIsADefault) {
  const Scenario scenario = asked_scenario("", {.model = "kimi_k3", .tensor = "8"});
  EXPECT_EQ(scenario.study.name, "kimi_k3");
  EXPECT_EQ(origin_of(scenario, "parallelism.tensor"), "8 <- --tensor");
  EXPECT_EQ(origin_of(scenario, "workload.decode.sequences"),
            "1, 64, 512 <- default: [ours] a user to a crowd");
  EXPECT_EQ(origin_of(scenario, "workload.decode.context"), "8192 <- default: [ours]");
  const std::string source = " <- default: [attnres] Sec. 4.2: 128K tokens in chunks of 16K";
  EXPECT_EQ(origin_of(scenario, "workload.prefill.tokens"), "131072" + source);
  EXPECT_EQ(origin_of(scenario, "workload.prefill.chunk"), "16384" + source);
  EXPECT_EQ(origin_of(scenario, "workload.prefill.sequence_shards"),
            "8 <- default: the tensor-parallel ranks: [attnres] Sec. 4.2");
  EXPECT_EQ(origin_of(scenario, "residual.compare"),
            "standard, mhc, full_attnres <- default: what else is shipped");
}

/// Whatever sets the ranks says how many share a prompt, unless that is set, too.
TEST(ScenarioOptions, ShareAPromptAmongTheRanksThatThereAre) {
  const auto shards = [](const std::vector<std::string>& settings) {
    const ScenarioOptions options{.model = "kimi_k3", .settings = settings};
    return asked_scenario("", options).study.prefill->sequence_shards;
  };
  EXPECT_EQ(asked_scenario("", {.model = "kimi_k3", .tensor = "8"}).study.prefill->sequence_shards,
            8);
  EXPECT_EQ(shards({}), 1);
  EXPECT_EQ(shards({"parallelism.tensor=4"}), 4);
  EXPECT_EQ(shards({"parallelism.tensor=16"}), 16);
  EXPECT_EQ(shards({"parallelism.tensor=4", "workload.prefill.sequence_shards=2"}), 2);
  const SweepPlan plan = plan_sweep(asked_document("", {.model = "kimi_k3", .tensor = "8"}),
                                    {"parallelism.tensor=2,4,8"}, kDefaultMaxPoints);
  ASSERT_EQ(plan.scenes.size(), 3U);
  for (const SweepScene& scene : plan.scenes)
    EXPECT_EQ(scene.study.value().prefill->sequence_shards, scene.study->tensor_parallel_size);
}

TEST(ScenarioOptions, AreNotContradictedByASetting) {
  const auto problem = [](const ScenarioOptions& options) -> std::string {
    try {
      asked_scenario("", options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem({.model = "kimi_k3", .tensor = "8", .settings = {"parallelism.tensor=4"}}),
            "--set:1:1: error: conflicting setting 'parallelism.tensor=4' (--tensor says it, too)");
  EXPECT_EQ(problem({.model = "kimi_k3", .settings = {"model=qwen3_32b"}}),
            "--set:1:1: error: conflicting setting 'model=qwen3_32b' (--model says it, too)");
  EXPECT_EQ(
      problem({.model = "kimi_k3", .tensor = "8", .settings = {"parallelism={tensor: 4}"}}),
      "--set:1:1: error: conflicting setting 'parallelism={tensor: 4}' (--tensor says it, too)");
  EXPECT_EQ(problem({.model = "kimi_k3", .decode = "64", .settings = {"workload=training"}}),
            "--set:1:1: error: conflicting setting 'workload=training' (--decode says it, too)");
  EXPECT_EQ(problem({.model = "kimi_k3", .settings = {"model.base=qwen3_32b"}}),
            "--set:1:1: error: conflicting setting 'model.base=qwen3_32b' (--model says it, too)");
  EXPECT_EQ(
      problem({.model = "kimi_k3",
               .budgets = {"decode_overhead=2%"},
               .settings = {"budgets.decode_overhead=30%"}}),
      "--set:1:1: error: conflicting setting 'budgets.decode_overhead=30%' (--budget says it, "
      "too)");
  EXPECT_EQ(problem({.model = "kimi_k3", .settings = {"model.kv_dtype=fp8"}}), "");
}

TEST(ScenarioOptions, CompareWithWhatTheModelDoesNotCarry) {
  const auto compared = [](const ScenarioOptions& options) {
    std::vector<std::string> names;
    for (const ResidualPath& path : asked_scenario("", options).study.compare)
      names.emplace_back(name(path.scheme));
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(compared({.model = "llama_3_1_8b"}), (Names{"mhc"}));
  EXPECT_EQ(compared({.model = "deepseek_v4_pro"}), (Names{"standard"}));
  EXPECT_EQ(compared({.model = "llama_3_1_8b", .scheme = "block_attnres", .block_size = "16"}),
            (Names{"standard", "mhc", "full_attnres"}));
}

TEST(ScenarioOptions, AskAboutNoMoreThanTheySay) {
  const auto study_of = [](const std::string& decode, const std::string& prefill,
                           const std::string& training) {
    return asked_scenario("", {.model = "kimi_k3",
                               .hardware = "b300_sxm",
                               .pipeline = "4",
                               .decode = decode,
                               .prefill = prefill,
                               .training = training})
        .study;
  };
  const Study decodes = study_of("1", "none", "");
  EXPECT_TRUE(decodes.decode && !decodes.prefill && !decodes.training);
  const Study prefills = study_of("none", "", "");
  EXPECT_TRUE(!prefills.decode && prefills.prefill && !prefills.training);
  const Study trains = study_of("", "", "4096");
  EXPECT_TRUE(!trains.decode && !trains.prefill);
  ASSERT_TRUE(trains.training);
  EXPECT_EQ(trains.training->sequence_length, 4096);
  EXPECT_EQ(trains.training->num_micro_batches, 16);
  const Scenario staged = asked_scenario("", {.model = "kimi_k3",
                                              .hardware = "b300_sxm",
                                              .training = "4096",
                                              .settings = {"parallelism.pipeline=8"}});
  EXPECT_EQ(staged.study.training->num_micro_batches, 32);
  const Study both = study_of("1", "", "4096");
  EXPECT_TRUE(both.decode && !both.prefill && both.training);
}

TEST(ScenarioOptions, GiveBlocksToWhatIsCompared) {
  const Study study = asked_scenario("", {.model = "qwen3_32b",
                                          .hardware = "h100_sxm",
                                          .block_size = "8",
                                          .compare = "block_attnres"})
                          .study;
  ASSERT_EQ(study.compare.size(), 1U);
  EXPECT_EQ(study.compare.front().scheme.parameters.blocks.block_size, 8);
}

TEST(ScenarioOptions, CutASmallPrefillIntoOneChunk) {
  const Scenario scenario = asked_scenario("", {.model = "kimi_k3", .prefill = "100"});
  ASSERT_TRUE(scenario.study.prefill);
  EXPECT_EQ(origin_of(scenario, "workload.prefill.chunk").substr(0, 3), "100");
}

TEST(ScenarioOptions, TakeSeveralBudgets) {
  const Scenario scenario = asked_scenario(
      "", {.model = "kimi_k3", .budgets = {"decode_overhead=2%", "prefill_overhead=3%"}});
  ASSERT_EQ(scenario.study.budgets.size(), 2U);
  EXPECT_DOUBLE_EQ(scenario.study.budgets[0].limit, 0.02);
  EXPECT_DOUBLE_EQ(scenario.study.budgets[1].limit, 0.03);
}

TEST(ScenarioOptions, NameFilesAfterModelAndHardware) {
  EXPECT_EQ(stem_of({.model = "a/config.json", .hardware = "b300_sxm"}), "config_b300_sxm");
  EXPECT_EQ(stem_of({.model = "kimi_k3", .hardware = "b/mine.yaml"}), "kimi_k3_mine");
  EXPECT_EQ(stem_of({.model = "kimi_k3"}), "kimi_k3");
}

TEST(ScenarioOptions, NameFilesAfterDevicesAndSchemeToo) {
  EXPECT_EQ(stem_of({.model = "kimi_k3", .hardware = "b300_sxm", .tensor = "8", .scheme = "mhc"}),
            "kimi_k3_8xb300_sxm_mhc");
}

TEST(ScenarioOptions, CountDevicesThatSettingsName) {
  const auto title = [](const std::string& tensor, const std::vector<std::string>& settings) {
    return asked_scenario(
               "",
               {.model = "kimi_k3", .hardware = "b300_sxm", .tensor = tensor, .settings = settings})
        .study.name;
  };
  EXPECT_EQ(title("8", {"parallelism.context=4", "parallelism.expert=8"}),
            "kimi_k3 on 32 x b300_sxm");
  EXPECT_EQ(title("8", {"parallelism.context=2", "parallelism.context=4"}),
            "kimi_k3 on 32 x b300_sxm")
      << "the last one counts";
  EXPECT_EQ(title("", {"parallelism={data: 4}"}), "kimi_k3 on b300_sxm") << "a map is not read";
}

struct Case {
  std::string name;
  ScenarioOptions options;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadOptions : public testing::TestWithParam<Case> {};

TEST_P(BadOptions, AreReportedAtTheOption) {
  try {
    asked_scenario("", GetParam().options);
    FAIL() << "nothing is wrong";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Values, BadOptions,
    testing::ValuesIn(std::vector<Case>{
        {"Hardware",
         {.model = "kimi_k3", .hardware = "b300"},
         "--hardware:1:1: error: unknown hardware 'b300'; did you mean 'b300_sxm'?"},
        {"Model",
         {.model = "kimi_k4"},
         "--model:1:1: error: unknown model 'kimi_k4'; did you mean "
         "'kimi_k2'?"},
        {"NoSuchConfig",
         {.model = "nowhere/config.json"},
         "--model:1:1: error: invalid model 'nowhere/config.json': cannot read the file (no such "
         "file or directory)"},
        {"Tensor",
         {.model = "kimi_k3", .tensor = "eight"},
         "--tensor:1:1: error: invalid parallelism.tensor 'eight' (must be a positive integer)"},
        {"EmptyBatch",
         {.model = "kimi_k3", .decode = "1,,2"},
         "--decode:1:1: error: invalid workload.decode.sequences '' (must be a positive integer)"},
        {"Prefill",
         {.model = "kimi_k3", .prefill = "-1"},
         "--prefill:1:1: error: invalid workload.prefill.tokens '-1' (must be a positive integer)"},
        {"Scheme",
         {.model = "kimi_k3", .scheme = "blocks"},
         "--residual:1:1: error: invalid residual.scheme 'blocks' " + test::scheme_choices()},
        {"NoBlockSize",
         {.model = "llama_3_1_8b", .scheme = "block_attnres"},
         "--block-size:1:1: error: missing option (block_attnres needs the layers of a block, as "
         "--block-size 16; sweep compares sizes)"},
        {"NothingToPredict",
         {.model = "kimi_k3", .decode = "none", .prefill = "none"},
         "--prefill:1:1: error: conflicting option 'none' (--decode none leaves nothing else to "
         "predict)"},
        {"ContextWithoutDecode",
         {.model = "kimi_k3", .context = "4096", .training = "8192"},
         "--context:1:1: error: unused option (it goes with --decode)"},
        {"TrainingLength",
         {.model = "kimi_k3", .training = "long"},
         "--training:1:1: error: invalid workload.training.sequence_length 'long' (must be a "
         "positive integer)"},
        {"BlocksOfTheStandardResidual",
         {.model = "llama_3_1_8b", .block_size = "16"},
         "--block-size:1:1: error: unused option (scheme standard has no blocks; try --residual "
         "block_attnres)"},
        {"BlocksOfMhc",
         {.model = "kimi_k3", .scheme = "mhc", .block_size = "16"},
         "--block-size:1:1: error: unused option (scheme mhc has no blocks; try --residual "
         "block_attnres)"},
        {"BlocksOfReZero",
         {.model = "kimi_k3", .scheme = "rezero", .block_size = "16"},
         "--block-size:1:1: error: unused option (scheme rezero has no blocks; try --residual "
         "block_attnres)"},
        {"BudgetWithoutALimit",
         {.model = "kimi_k3", .budgets = {"decode_overhead"}},
         "--budget:1:1: error: invalid budget 'decode_overhead' (must be NAME=LIMIT, as "
         "decode_overhead=2%)"},
        {"BudgetWithoutAName",
         {.model = "kimi_k3", .budgets = {"=2%"}},
         "--budget:1:1: error: invalid budget '=2%' (must be NAME=LIMIT, as decode_overhead=2%)"},
        {"BudgetTwice",
         {.model = "kimi_k3", .budgets = {"decode_overhead=2%", "decode_overhead=3%"}},
         "--budget:1:1: error: duplicate budget 'decode_overhead' (already there)"},
        {"BlockSize",
         {.model = "kimi_k3", .block_size = "500"},
         "--block-size:1:1: error: invalid block_size '500' (the model has only 186 layers)"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::scenario_options_test
