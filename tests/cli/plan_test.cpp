// `plan` as users run it: the answer against `evaluate`, exit codes, and errors on one line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::plan_test {
namespace {

using nlohmann::json;

class PlanCommand : public testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    return run_program({.arguments = arguments, .folder = folder_.path()});
  }

  Outcome ask(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--model", "llama_3_1_70b", "--hardware", "h100_sxm"});
    return run(more);
  }

  const TemporaryFolder folder_;
};

/// Sharded weights need tensor ranks, which placements with one rank have not.
TEST_F(PlanCommand, LeavesOutPlacementsThatCannotShardWeights) {
  const Outcome outcome =
      run({"--model", "qwen3_8_flash_next", "--hardware", "h200_sxm", "--devices", "8", "--set",
           "residual.weights=sharded", "--max-overhead", "90%", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const json document = parsed_json(outcome.output);
  for (const json& plan : document.at("plans")) EXPECT_GT(plan.at("placement").at("tensor"), 1);
}

/// A scenario with the keys of the plan has its numbers.
TEST_F(PlanCommand, SaysWhatEvaluateSays) {
  const Outcome outcome = ask({"--devices", "8", "--max-overhead", "3%", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const json plans = parsed_json(outcome.output).at("plans");
  ASSERT_EQ(plans.size(), 3U);
  for (const json& plan : plans) {
    const json& at = plan.at("placement");
    const json& decode = plan.at("workloads").at(0);
    folder_.written(
        "it.yaml",
        fmt::format("schema: depthcost/1\nmodel: llama_3_1_70b\nhardware: h100_sxm\n"
                    "residual: {{scheme: block_attnres, block_size: {}, schedule: {}}}\n"
                    "parallelism: {{tensor: {}, pipeline: {}, context: {}, data: {}}}\n"
                    "workload: {{decode: {{sequences: {}, context: 8192}}}}\n",
                    plan.at("block_size").dump(), plan.at("schedule").get<std::string>(),
                    at.at("tensor").dump(), at.at("pipeline").dump(), at.at("context").dump(),
                    at.at("data").dump(), 64 / at.at("data").get<int>()));
    const Outcome alone = run_program(
        {.arguments = {"evaluate", "it.yaml", "--format", "json"}, .folder = folder_.path()});
    ASSERT_EQ(alone.exit_code, 0) << alone.errors;
    bool is_found = false;
    const json rows = parsed_json(alone.output).at("step");
    for (const json& row : rows) {
      if (row.at("schedule") != plan.at("schedule") || row.at("scheme") != "block_attnres")
        continue;
      is_found = true;
      EXPECT_EQ(row.at("overhead"), decode.at("overhead"));
      EXPECT_EQ(row.at("overhead_high"), decode.at("overhead_high"));
    }
    EXPECT_TRUE(is_found);
    EXPECT_LE(decode.at("overhead").get<double>(), 0.03);
  }
}

/// The words of a command as a shell would have them, but for its name.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : command) {
    if (c == '\'')
      is_quoted = !is_quoted;
    else if (c == ' ' && !is_quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  words.erase(words.begin());
  return words;
}

/// Runs the command of each plan: it has the times and the limits of the plan.
void expect_evaluations(const Outcome& outcome, const TemporaryFolder& folder) {
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const json document = parsed_json(outcome.output);
  ASSERT_GT(document.at("plans").size(), 1U);
  ASSERT_EQ(document.at("evaluations").size(), document.at("plans").size());
  for (std::size_t i = 0; i < document.at("plans").size(); ++i) {
    const json& plan = document.at("plans").at(i);
    const std::string command = document.at("evaluations").at(i);
    SCOPED_TRACE(command);
    std::vector<std::string> words = words_of(command);
    words.insert(words.end(), {"--format", "json"});
    const Outcome alone = run_program({.arguments = words, .folder = folder.path()});
    ASSERT_EQ(alone.exit_code, 0) << alone.errors;
    const json answer = parsed_json(alone.output);
    for (const json& planned : plan.at("workloads")) {
      bool is_found = false;
      for (const json& row : answer.at("step")) {
        if (row.at("scheme") != plan.at("scheme") || row.at("schedule") != plan.at("schedule") ||
            row.at("workload") != planned.at("workload"))
          continue;
        is_found = true;
        EXPECT_EQ(row.at("overhead_high"), planned.at("overhead_high"));
        EXPECT_EQ(row.at("low"), planned.at("step_low_s"));
        EXPECT_EQ(row.at("seconds"), planned.at("step_s"));
        EXPECT_EQ(row.at("high"), planned.at("step_high_s"));
      }
      EXPECT_TRUE(is_found) << planned.dump();
    }
  }
}

TEST_F(PlanCommand, SaysHowToEvaluateItsPlans) {
  expect_evaluations(ask({"--devices", "8", "--max-overhead", "3%", "--format", "json"}), folder_);
  expect_evaluations(run({"--model", "deepseek_v4_pro", "--hardware", "b300_sxm", "--devices", "32",
                          "--residual", "block_attnres,standard", "--decode", "32,128", "--prefill",
                          "65536", "--budget", "device_memory=fits", "--format", "json"}),
                     folder_);
  const std::vector<std::string> any{"--max-overhead", "1000%", "--format", "json"};
  const auto expect = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), any.begin(), any.end());
    expect_evaluations(run(arguments), folder_);
  };
  for (const char* workload : {"decode", "prefill", "training"})
    expect({"--model", "llama_3_1_8b", "--hardware", "h100_sxm", "--devices", "8", "--set",
            fmt::format("workload={}", workload)});
  for (const char* schemes : {"block_attnres", "mhc,block_attnres"})
    expect({"--model", "llama_3_1_8b", "--hardware", "h100_sxm", "--devices", "8", "--block-size",
            "8", "--residual", schemes});
  expect(
      {"--model", "llama_3_1_8b", "--hardware", "h100_sxm", "--devices", "8", "--block-size", "8"});
  expect({"--model", "llama_3_1_8b", "--hardware", "h100_sxm", "--devices", "8", "--decode", "none",
          "--prefill", "8192"});
  expect({"--model", "llama_3_1_8b", "--hardware", "h100_sxm", "--devices", "8", "--decode", "8",
          "--context", "4096", "--training", "8192"});
  folder_.written("six.yaml",
                  "schema: depthcost/1\nmodel: llama_3_1_70b\nhardware: h100_sxm\n"
                  "residual: {scheme: block_attnres, num_blocks: 6, remainder: ceil}\n"
                  "workload: {decode: {sequences: [8, 64], context: 8192}}\n");
  expect({"six.yaml", "--devices", "16"});
  folder_.written("a file's.yaml",
                  "schema: depthcost/1\nmodel: llama_3_1_70b\nhardware: h100_sxm\n"
                  "residual: {scheme: block_attnres, block_size: 16}\n"
                  "workload: {training: {sequence_length: 8192, micro_batches: 8}}\n");
  const Outcome trained = run({"a file's.yaml", "--devices", "64", "--max-overhead", "5%", "--set",
                               "residual.attach=standalone"});
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_NE(trained.output.find("The first in full: depthcost evaluate 'a file'\\''s.yaml' --set "
                                "residual.attach=standalone --set parallelism.tensor="),
            std::string::npos)
      << trained.output;
  EXPECT_NE(trained.output.find("--set budgets.training_overhead=5%\n"), std::string::npos)
      << trained.output;
}

/// Of a model with the standard residual, and of several schemes, blocks are those of AttnRes.
TEST_F(PlanCommand, GivesBlocksToWhatHasThem) {
  for (const char* schemes : {"", "mhc,block_attnres"}) {
    std::vector<std::string> arguments{
        "--model", "llama_3_1_8b", "--hardware", "h100_sxm", "--devices", "4", "--block-size", "8"};
    if (*schemes != '\0') arguments.insert(arguments.end(), {"--residual", schemes});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_NE(outcome.output.find("block_attnres, two_phase, 8 blocks of 8"), std::string::npos)
        << outcome.output;
  }
}

TEST_F(PlanCommand, TakesAScenario) {
  folder_.written("it.yaml",
                  "schema: depthcost/1\nname: trained\nmodel: llama_3_1_70b\nhardware: h100_sxm\n"
                  "residual: {scheme: block_attnres, block_size: 16}\n"
                  "workload: {training: {sequence_length: 8192, micro_batches: 8}}\n");
  const Outcome outcome = run({"it.yaml", "--devices", "64"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
  EXPECT_TRUE(outcome.output.starts_with("trained, 64 devices\n\n1. ")) << outcome.output;
  EXPECT_NE(
      outcome.output.find("\nGoal: the least time of a training step of 8 micro-batches in all.\n"),
      std::string::npos)
      << outcome.output;
}

/// Its own batch is nobody's option, so that a setting replaces it.
TEST_F(PlanCommand, TakesASettingInPlaceOfItsOwnBatch) {
  const Outcome outcome = ask({"--devices", "8", "--set", "workload.decode.sequences=8"});
  EXPECT_EQ(outcome.errors, "");
  EXPECT_NE(outcome.output.find("of 8 sequences in all"), std::string::npos) << outcome.output;
  // The command names each key once, with the share of a replica.
  const std::string key = "--set workload.decode.sequences=";
  const std::size_t first = outcome.output.find(key);
  ASSERT_NE(first, std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find(key, first + 1), std::string::npos) << outcome.output;
}

TEST_F(PlanCommand, FailsWhereNoneKeepsTheLimit) {
  const Outcome outcome = ask({"--devices", "8", "--max-overhead", "0.01%"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("\nNo plan keeps the limits. The fastest that fits is "),
            std::string::npos);
  EXPECT_EQ(outcome.errors, "");
  const Outcome small = ask({"--devices", "1"});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_NE(small.output.find("\nNo plan fits. The nearest is one device: a device needs "),
            std::string::npos);
}

/// The number of devices that is named is the fewest, by doubling, on which a plan fits.
TEST_F(PlanCommand, SaysOnHowManyDevicesTheModelFits) {
  const auto room = [&](const std::string& devices) {
    const Outcome outcome =
        ask({"--devices", devices, "--max-overhead", "90%", "--format", "json"});
    return parsed_json(outcome.output).at("devices_with_room");
  };
  const json named = room("1");
  ASSERT_TRUE(named.is_number()) << named.dump();
  const auto devices = named.get<int>();
  EXPECT_TRUE(room(std::to_string(devices)).is_null());
  ASSERT_GT(devices, 2);
  EXPECT_EQ(room(std::to_string(devices / 2)), devices);
  const Outcome text = ask({"--devices", "1"});
  EXPECT_NE(text.output.find(fmt::format(
                "\nThe model fits on {0} devices. Fewer may do: only doubled numbers were tried.\n",
                devices)),
            std::string::npos)
      << text.output;
}

TEST_F(PlanCommand, EndsSoon) {
  for (const char* model : {"llama_3_1_70b", "qwen3_32b", "deepseek_v3", "kimi_k3"}) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome =
        run({"--model", model, "--hardware", "b200_sxm", "--devices", "8", "--max-overhead", "2%"});
    EXPECT_LE(outcome.exit_code, 1) << outcome.errors;
    // 5 s are asked for; debug builds and busy machines get more.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50)) << model;
  }
}

TEST_F(PlanCommand, RefusesWhatIsWrongOnOneLine) {
  expect_refusal(ask({"--devices", "8", "--max-overhead", "fast"}),
                 "--max-overhead:1:1: error: invalid overhead 'fast' (no number; need a "
                 "percentage, such as '2 %')");
  expect_refusal(ask({"--devices", "8", "--tensor", "8"}),
                 "--tensor:1:1: error: conflicting option '8' (a plan looks for it; --devices says "
                 "how many there are)");
  expect_refusal(ask({"--devices", "8", "--pipeline", "2"}),
                 "--pipeline:1:1: error: conflicting option '2' (a plan looks for it; --devices "
                 "says how many there are)");
  expect_refusal(run({"--model", "llama_3_1_70b", "--devices", "8"}),
                 "--model:1:1: error: missing key 'hardware' (a plan has modelled times)");
  expect_refusal(ask({"--devices", "8", "--set", "parallelism.data=2"}),
                 "--set:1:1: error: conflicting setting 'parallelism.data' (a plan looks for it)");
  expect_refusal(
      ask({"--devices", "8", "--residual", "mhc", "--set", "residual.scheme=standard"}),
      "--set:1:1: error: conflicting setting 'residual.scheme=standard' (--residual says the "
      "scheme)");
  expect_refusal(ask({"--devices", "8", "--residual", "mhc,block_attnres,mhc"}),
                 "--residual:1:1: error: duplicate scheme 'mhc' (already there)");
  expect_refusal(
      ask({"--devices", "8", "--budget", "decode_overhead=1%", "--max-overhead", "2%"}),
      "--budget:1:1: error: conflicting budget 'decode_overhead=1%' (--max-overhead sets that "
      "limit)");
  expect_refusal(ask({"--devices", "0"}),
                 "--devices:1:1: error: invalid value '0' (must be from 1 to 1024; see depthcost "
                 "plan --help)");
  expect_refusal(ask({}), "plan:1:1: error: missing --devices (see depthcost plan --help)");
}

TEST_F(PlanCommand, RefusesWhatWouldTakeMinutes) {
  const auto plan_of = [&](const std::string& workload) {
    folder_.written("it.yaml",
                    "schema: depthcost/1\nhardware: b300_sxm\nmodel: kimi_k3\n"
                    "residual: {scheme: block_attnres, block_size: 4}\nworkload: {" +
                        workload + "}\n");
    return run({"it.yaml", "--devices", "840"});
  };
  std::string batches = "840";
  for (int i = 2; i <= 200; ++i) batches += "," + std::to_string(840 * i);
  expect_refusal(
      plan_of("decode: {sequences: [" + batches + "]}"),
      "--devices:1:1: error: invalid plan (more than 33554432 layers to go through on all "
      "placements; ask about fewer devices or batches)");
  expect_refusal(
      plan_of("training: {sequence_length: 8192, micro_batches: 5120}"),
      "--devices:1:1: error: invalid plan (more than 268435456 passes of chunks to simulate "
      "on all placements; ask about fewer devices or micro-batches)");
}

TEST_F(PlanCommand, RefusesMoreSchemesThanItReadsPlacementsOf) {
  expect_refusal(run({"--model", "kimi_k3", "--hardware", "h200_sxm", "--devices", "840",
                      "--decode", "840", "--residual",
                      "standard,mhc,block_attnres,full_attnres,hc_static,rezero,layerscale,highway,"
                      "denseformer"}),
                 "--devices:1:1: error: invalid plan (more than 10000 placements to read; ask "
                 "about fewer devices or schemes)");
}

/// Its usual values, on the ranks of each placement.
TEST_F(PlanCommand, AsksAboutAWorkloadThatIsNamedAlone) {
  const auto plan_of = [&](const std::string& workload) {
    folder_.written("it.yaml",
                    "schema: depthcost/1\nhardware: h200_sxm\nmodel: llama_3_1_70b\n"
                    "residual: {scheme: block_attnres, block_size: 8}\nworkload: " +
                        workload + "\n");
    return run({"it.yaml", "--devices", "8", "--format", "json"});
  };
  const Outcome named = plan_of("prefill");
  EXPECT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_EQ(named.output, plan_of("{prefill: {tokens: 131072, chunk: 16384}}").output);
}

/// The batch that the plan advises keeps the replicas of all plans.
TEST_F(PlanCommand, AdvisesABatchThatKeepsItsPlans) {
  const Outcome one =
      run({"--model", "kimi_k3", "--hardware", "b200_sxm", "--devices", "64", "--decode", "256"});
  EXPECT_NE(
      one.output.find("--decode 16,256 asks about both (in a file workload.decode.sequences).\n"),
      std::string::npos)
      << one.output;
  EXPECT_NE(one.output.find("Every plan has blocks of 24 layers"), std::string::npos) << one.output;
  const Outcome both = run(
      {"--model", "kimi_k3", "--hardware", "b200_sxm", "--devices", "64", "--decode", "16,256"});
  for (const char* plan : {". tensor 4, data 16, expert 64: ", ". tensor 8, data 8, expert 64: "}) {
    EXPECT_NE(one.output.find(plan), std::string::npos) << one.output;
    EXPECT_NE(both.output.find(plan), std::string::npos) << both.output;
  }
}

TEST_F(PlanCommand, RefusesDevicesThatNoPlacementCanHave) {
  folder_.written("it.yaml",
                  "schema: depthcost/1\nhardware: h100_sxm\nmodel: llama_3_1_70b\n"
                  "residual: {scheme: standard, attach: all_reduce}\nparallelism: {tensor: 8}\n"
                  "workload: {decode: {sequences: 8}}\n");
  expect_refusal(run({"it.yaml", "--devices", "1"}),
                 "--devices:1:1: error: invalid number of devices '1' (the model cannot lie on it: "
                 "one device: conflicting residual.attach 'all_reduce' (needs parallelism.tensor "
                 "of at least 2))");
}

TEST_F(PlanCommand, RefusesScenariosWithoutTimesOfTheirOwn) {
  const auto refused = [&](const std::string& rest, const std::string& problem) {
    folder_.written("it.yaml", "schema: depthcost/1\nhardware: h100_sxm\n" + rest);
    expect_refusal(run({"it.yaml", "--devices", "8"}), "it.yaml:1:1: error: " + problem);
  };
  refused(
      "model: {num_layers: 64, hidden_size: 4096, dtype: bf16}\nresidual: {scheme: mhc}\nworkload: {decode: {sequences: 8}}\n",
      "missing key 'model.attention' (a plan has modelled times of the layers)");
  refused("model: llama_3_1_70b\n", "missing key 'workload' (a plan is for a workload)");
  refused(
      "model: llama_3_1_70b\nworkload: {decode: {sequences: 8}}\nbaseline_step: {decode: 50 ms}\n",
      "conflicting baseline_step (was measured on one placement; a plan looks at others)");
  refused(
      "model: llama_3_1_70b\nworkload: {decode: {sequences: 8}}\nstep_terms: {decode: {mlp: 9 ms}}\n",
      "conflicting step_terms (were measured on one placement; a plan looks at others)");
}

}  // namespace
}  // namespace depthcost::test::plan_test
