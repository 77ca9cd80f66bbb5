// Values of --set stand where a file would have them, and are refused where it could not.
#include "scenarios/read/settings.hpp"

#include <gtest/gtest.h>

#include "scenarios/read/scenario_options.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::settings_test {
namespace {

const char* const kFile =
    "schema: depthcost/1\nmodel: kimi_k3\nhardware: b300_sxm\nparallelism: {tensor: 8}\n"
    "workload: {decode: {sequences: [1, 64]}}\n";

Scenario read_with(const std::vector<std::string>& settings) {
  const test::TemporaryFolder folder;
  folder.written("it.yaml", kFile);
  return asked_scenario(folder.path("it.yaml"), {.settings = settings});
}

std::string origin_of(const Scenario& scenario, const std::string& key) {
  for (const ResolvedValue& value : scenario.values)
    if (value.key == key) return value.origin;
  return "";
}

TEST(Settings, ReplaceValuesAndAddThem) {
  const Scenario scenario =
      read_with({"workload.decode.sequences=[2, 4]", "residual.attach=standalone",
                 "budgets.decode_overhead=3 %", "workload.decode.sequences=8"});
  EXPECT_EQ(scenario.study.decode->sequences, std::vector<Count>{8});
  EXPECT_EQ(scenario.study.attachment, Attachment::standalone);
  ASSERT_EQ(scenario.study.budgets.size(), 1U);
  EXPECT_EQ(scenario.study.budgets.front().limit, 0.03);
  EXPECT_EQ(origin_of(scenario, "residual.attach"), "--set");
  EXPECT_NE(origin_of(scenario, "parallelism.tensor"), "--set");
}

/// A measured step is one of what the scenario says. Elsewhere it says nothing.
TEST(Settings, LeaveAMeasuredStepWhereItWasMeasured) {
  const auto problem = [](const std::string& setting, const std::string& also = "") {
    std::vector<std::string> settings{setting};
    if (!also.empty()) settings.push_back(also);
    ScenarioOptions options{.settings = settings};
    options.document = {
        parse_document("schema: depthcost/1\nmodel: llama_3_1_70b\nhardware: h200_sxm\n"
                       "parallelism: {tensor: 8}\nworkload: {decode: {sequences: 64}}\n"
                       "baseline_step: {decode: 20 ms}\n",
                       "scenario"),
        "scenario"};
    try {
      asked_scenario("no such file", options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string why =
      " (baseline_step.decode was measured with the scenario's own value; set baseline_step.decode, "
      "too)";
  for (const std::string setting :
       {"hardware=b200_sxm", "model=llama_3_1_8b", "parallelism.tensor=4",
        "parallelism={tensor: 4}", "workload.decode.sequences=1024", "workload.decode.context=100",
        "workload.decode={sequences: 1024}"}) {
    EXPECT_EQ(problem(setting), "--set:1:1: error: invalid setting '" + setting + "'" + why);
    EXPECT_EQ(problem(setting, "baseline_step.decode=30 ms"), "") << setting;
    EXPECT_NE(problem(setting, "baseline_step.prefill=1 s"), "") << setting;
  }
  EXPECT_EQ(problem("residual.attach=standalone"), "");
  EXPECT_EQ(problem("workload.prefill.tokens=1000"), "");
}

/// Nor does a part of a step that was measured elsewhere.
TEST(Settings, LeaveAMeasuredTermWhereItWasMeasured) {
  ScenarioOptions options{.settings = {"hardware=b200_sxm"}};
  options.document = {
      parse_document("schema: depthcost/1\nmodel: llama_3_1_70b\nhardware: h200_sxm\n"
                     "parallelism: {tensor: 8}\nworkload: {decode: {sequences: 64}}\n"
                     "step_terms: {decode: {attention: 2 ms}}\n",
                     "scenario"),
      "scenario"};
  const auto problem = [&]() -> std::string {
    try {
      asked_scenario("no such file", options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string why =
      "--set:1:1: error: invalid setting 'hardware=b200_sxm' (step_terms.decode was measured with "
      "the scenario's own value; set step_terms.decode, too)";
  EXPECT_EQ(problem(), why);
  options.settings.emplace_back("step_terms.decode.attention=3 ms");
  EXPECT_EQ(problem(), why) << "other terms may be there";
  options.settings.back() = "step_terms.decode={attention: 3 ms}";
  EXPECT_EQ(problem(), "");
}

TEST(Settings, ReplaceWholeSections) {
  const Scenario scenario =
      read_with({"workload={training: {sequence_length: 4096, micro_batch: 1}}"});
  EXPECT_FALSE(scenario.study.decode);
  EXPECT_EQ(scenario.study.training->sequence_length, 4096);
}

TEST(Settings, ReplaceValuesOfADocumentWithoutAFile) {
  ScenarioOptions options{.settings = {"residual.block_size=8"}};
  options.document = {
      parse_document("schema: depthcost/1\nmodel: kimi_k3\nresidual: {block_size: 24}\n",
                     "scenario"),
      "scenario"};
  const Scenario scenario = asked_scenario("no such file", options);
  EXPECT_EQ(origin_of(scenario, "residual.block_size"), "--set");
  EXPECT_EQ(scenario.study.name, "scenario");
}

TEST(Settings, StandBesideOptions) {
  const Scenario scenario = asked_scenario(
      "", {.model = "kimi_k3", .tensor = "8", .settings = {"residual.schedule=two_phase"}});
  EXPECT_EQ(scenario.study.schedule, Schedule::two_phase);
}

/// The later of two ways to say the same wins, over the file and over an earlier setting.
TEST(Settings, ReplaceTheOtherWayToSayBlocks) {
  const auto size_of = [](std::vector<std::string> settings) {
    settings.insert(settings.begin(), "residual.num_blocks=6");
    const Scenario scenario = asked_scenario("", {.model = "kimi_k3", .settings = settings});
    return scenario.study.path.scheme.parameters.blocks.block_size;
  };
  EXPECT_EQ(size_of({}), 31);
  EXPECT_EQ(size_of({"residual.block_size=24"}), 24);
  EXPECT_EQ(size_of({"residual.block_size=24", "residual.num_blocks=3"}), 62);
}

/// The other values of a workload that is only named are the usual ones.
TEST(Settings, AddToANamedWorkload) {
  const Scenario decode = asked_scenario(
      "", {.model = "kimi_k3", .settings = {"workload=decode", "workload.decode.context=4096"}});
  EXPECT_EQ(decode.study.decode->context, 4096);
  EXPECT_EQ(decode.study.decode->sequences, (std::vector<Count>{1, 64, 512}));
  const Scenario prefill = asked_scenario(
      "",
      {.model = "kimi_k3",
       .settings = {"workload=prefill", "workload.prefill.tokens=65536", "parallelism.tensor=4"}});
  EXPECT_EQ(prefill.study.prefill->tokens, 65536);
  EXPECT_EQ(prefill.study.prefill->sequence_shards, 4);
  EXPECT_FALSE(prefill.study.decode);
}

/// A key below a model that is only named has the rest of it beside it.
TEST(Settings, ChangeAKeyOfANamedModelOrHardware) {
  const Study study = read_with({"model.kv_dtype=fp8"}).study;
  EXPECT_EQ(study.model.architecture->kv_dtype, Dtype::fp8);
  EXPECT_EQ(study.model.hidden_size, read_with({}).study.model.hidden_size);
}

struct Refused {
  std::string setting;
  std::string error;
};

class RefusedSettings : public testing::TestWithParam<Refused> {};

TEST_P(RefusedSettings, SayWhy) {
  try {
    read_with({GetParam().setting});
    FAIL() << "is read";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().error);
  }
}

const std::string kForm = "' (must be KEY=VALUE, as residual.attach=standalone)";

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedSettings,
    testing::Values(
        Refused{"residual", "--set:1:1: error: invalid setting 'residual" + kForm},
        Refused{"=3", "--set:1:1: error: invalid setting '=3" + kForm},
        Refused{"a..b=3", "--set:1:1: error: invalid setting 'a..b=3" + kForm},
        Refused{"a.=3", "--set:1:1: error: invalid setting 'a.=3" + kForm},
        Refused{
            "schema.dtype=f32",
            "--set:1:1: error: invalid setting 'schema.dtype=f32' (schema is 'depthcost/1', which has "
            "no keys)"},
        Refused{"workload.decode.sequences.a=3",
                "--set:1:1: error: invalid setting 'workload.decode.sequences.a=3' (sequences is a "
                "list, which has no keys)"},
        Refused{"residual.attach=", "--set:1:1: error: empty document (holds no value)"},
        Refused{"residual.attach=x",
                "--set:1:1: error: invalid residual.attach 'x' (must be standalone | all_reduce | "
                "reduce_scatter | gemm_epilogue)"},
        Refused{"residual.atach=standalone",
                "--set:1:1: error: unknown key 'atach'; did you mean 'attach'?"},
        Refused{"workload.decode.sequences=[1",
                "--set:1:3: error: malformed YAML (the file ends inside the list that starts at "
                "line 1)"}));

}  // namespace
}  // namespace depthcost::settings_test
