// `check` as CI runs it: several scenarios, every format, and no scenario that is left out
// silently.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::check_test {
namespace {

/// The bank takes 264.2 MB on each of eight devices.
std::string kimi(const std::string& bank) {
  return "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\nresidual: {compare: [standard]}\n"
         "workload: {prefill: {tokens: 16384, sequence_shards: 8}}\nbudgets: {prefill_bank: " +
         bank + "}\n";
}

class Check : public testing::Test {
 protected:
  Check() {
    folder_.written("kept.yaml", kimi("300 MB"));
    folder_.written("broken.yaml", kimi("200 MB"));
    folder_.written("bad.yaml", "model: kimi_k3\n");
    folder_.written("config.json",
                    content_of(DEPTHCOST_SOURCE_DIR "/tests/scenarios/configs/kimi_k3.json"));
  }

  Outcome run(std::vector<std::string> arguments,
              const std::vector<std::string>& variables = {}) const {
    arguments.insert(arguments.begin(), "check");
    return run_program({.arguments = arguments, .folder = folder_.path(), .variables = variables});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  const TemporaryFolder folder_;
};

/// A limit that nobody wrote gates nothing, but is not passed over in silence.
TEST_F(Check, NamesAnOverheadBeyondThePapersLimitThatIsNoGate) {
  folder_.written("mhc.yaml",
                  "schema: depthcost/1\nname: mHC\nmodel: llama_3_1_70b\nhardware: h100_sxm\n"
                  "residual: {scheme: mhc}\nparallelism: {tensor: 8}\n"
                  "workload: {decode: {sequences: [1], context: 1000}}\n"
                  "budgets: {device_memory: fits}\n");
  const Outcome outcome = run({"mhc.yaml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("Not gated: decode_overhead is "), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find(", and the paper's limit is 2.0 %. `budgets: {decode_overhead: "
                                "2.0 %}` makes it a gate.\n"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(run({"kept.yaml"}).output.find("Not gated"), std::string::npos);
}

TEST_F(Check, AnswersInTheOrderOfTheFilesHoweverManyThereAre) {
  std::vector<std::string> files;
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    files.push_back(fmt::format("{}.yaml", i));
    folder_.written(files.back(), kimi(fmt::format("{} MB", 250 + i)));
    const std::string verdict = i < 15 ? "fail" : "pass";
    expected += fmt::format("{} {};", files.back(), verdict);
  }
  files.emplace_back("--format");
  files.emplace_back("json");
  const Outcome outcome = run(files);
  EXPECT_EQ(outcome.exit_code, 1);
  std::string found;
  const auto json = parsed_json(outcome.output);
  for (const auto& scenario : json["scenarios"])
    found += fmt::format("{} {};", scenario["file"].get<std::string>(),
                         scenario["verdict"].get<std::string>());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(run(files).output, outcome.output);
}

// Both published kernels of mHC are named, and neither changes the verdict.
TEST_F(Check, NamesTheNearestMeasurementBesideAnOverhead) {
  folder_.written(
      "mhc.yaml",
      "schema: depthcost/1\nname: mHC\nmodel: deepseek_v3\nhardware: h200_sxm\n"
      "residual: {scheme: mhc}\nparallelism: {tensor: 8}\nworkload: {decode: {sequences: [8, 64]}}\n"
      "budgets: {decode_overhead: 90 %, device_memory: fits}\n");
  const Outcome outcome = run({"mhc.yaml", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  const auto json = parsed_json(outcome.output)["scenarios"][0]["nearest_measurements"];
  ASSERT_EQ(json.size(), 2U) << json.dump();
  for (const auto& it : json) {
    EXPECT_EQ(it["budget"], "decode_overhead");
    EXPECT_EQ(it["scheme"], "mhc");
    EXPECT_TRUE(it["case"].get<std::string>().starts_with("h200_sxm/mhc_p")) << it["case"];
    const double seconds = it["measured_seconds"];
    EXPECT_EQ(it["inside"], it["low_seconds"] <= seconds && seconds <= it["high_seconds"]);
  }
  const std::string table = run({"mhc.yaml"}).output;
  EXPECT_NE(table.find("\ndecode_overhead: nearest measured kernel: mhc_p"), std::string::npos)
      << table;
}

TEST_F(Check, SaysInJsonWhatItSaysInWords) {
  const Outcome outcome = run({"broken.yaml", "bad.yaml", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.errors.starts_with("bad.yaml:1:1: error: missing key 'schema'"));
  const auto json = parsed_json(outcome.output);
  const auto& budget = json["scenarios"][0]["budgets"][0];
  EXPECT_EQ(budget["need"], 200e6);
  EXPECT_EQ(budget["have_low"], 264241152);
  EXPECT_EQ(budget["shortfall"], 64241152);
  EXPECT_EQ(budget["margin"], -64241152);
  EXPECT_EQ(budget["verdict"], "fail");
  EXPECT_EQ(budget["nearest"], "a chunk of 12400 tokens would keep it");
  EXPECT_EQ(json["scenarios"][1]["verdict"], "bad input");
}

TEST_F(Check, JudgesMemoryAndCommunicationOfTraining) {
  const auto scenario = [](const std::string& budgets) {
    return "schema: depthcost/1\nname: Kimi Linear\nmodel: kimi_linear_48b\nhardware: h200_sxm\n"
           "parallelism: {pipeline: 4}\nworkload: {training: {sequence_length: 4096, "
           "micro_batches: 8, activations: recompute}}\nbudgets: {" +
           budgets + "}\n";
  };
  folder_.written("kept.yaml", scenario("exposed_communication: 50 %, pipeline_cache: 200 %"));
  EXPECT_EQ(run({"kept.yaml"}).exit_code, 0);
  folder_.written("broken.yaml", scenario("added_activations: 1 %, pipeline_cache: 200 %"));
  const Outcome outcome = run({"broken.yaml", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const auto json = parsed_json(outcome.output);
  const auto& budgets = json["scenarios"][0]["budgets"];
  EXPECT_EQ(budgets[0]["name"], "added_activations");
  EXPECT_EQ(budgets[0]["unit"], "ratio");
  EXPECT_EQ(budgets[0]["verdict"], "fail");
  const std::string reason = budgets[0]["reason"];
  EXPECT_TRUE(reason.starts_with("largest on stage 3: ")) << reason;
  EXPECT_TRUE(reason.ends_with(
      " GB that the standard residual keeps; activations of the layers are not counted"))
      << reason;
  EXPECT_EQ(budgets[1]["verdict"], "pass");
}

/// A gate that decides nothing would pass for ever.
TEST_F(Check, FailsWhereNothingOfABudgetIsPredicted) {
  folder_.written(
      "blind.yaml",
      "schema: depthcost/1\nmodel: {decoder_layers: 8, hidden_size: 1024, dtype: bf16}\n"
      "hardware: h100_sxm\nresidual: {scheme: block_attnres, block_size: 4}\n"
      "workload: {decode: {sequences: 8}}\nbudgets: {decode_overhead: 2 %}\n");
  const Outcome outcome = run({"blind.yaml", "--github"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("\n::error file=blind.yaml,line=6,title=decode_overhead::unknown: "
                                "predicted -, the limit is 2.0 %25; baseline_step.decode is not "
                                "given, and the model has no attention and mlp\n"),
            std::string::npos)
      << outcome.output;
}

/// A batch that was asked for and does not fit leaves the gate open.
TEST_F(Check, FailsWhereABatchThatWasAskedForDoesNotFit) {
  const Outcome outcome =
      run({"--model", "deepseek_v3", "--hardware", "h200_sxm", "--tensor", "8", "--residual", "mhc",
           "--decode", "1,64,512", "--budget", "decode_overhead=50%"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("decode/512 does not fit into the device's memory"),
            std::string::npos)
      << outcome.output;
}

TEST_F(Check, ShowsVerdictsToCi) {
  folder_.written("open.yaml", kimi("300 MB, device_memory: fits"));
  const Outcome outcome = run(
      {"kept.yaml", "broken.yaml", "open.yaml", "bad.yaml", "--junit", "ci/it.xml", "--github"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.errors.starts_with("bad.yaml:1:1: error: missing key 'schema' ("));
  const auto shows = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  };
  shows(outcome.output,
        "\n::error file=broken.yaml,line=6,title=prefill_bank::too much: predicted 264.2 MB, the "
        "limit is 200.0 MB; a chunk of 12400 tokens would keep it\n");
  shows(outcome.output, "\n::error file=open.yaml,line=6,title=device_memory::unknown: ");
  shows(outcome.output, "\n::error file=bad.yaml,line=1,title=bad input::missing key 'schema' (");
  const std::string junit = content_of(folder_.path("ci/it.xml"));
  shows(junit, "tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"0\"");
  shows(junit, "<error type=\"bad_input\" message=\"missing key 'schema' (");
  shows(junit, "name=\"broken.yaml/prefill_bank\" classname=\"budgets\"");
  shows(junit, "<failure type=\"budget\" message=\"too much: predicted 264.2 MB");
}

TEST_F(Check, AppendsASummaryForGitHub) {
  const std::string path = folder_.written("summary.md", "before\n");
  const Outcome outcome =
      run({"kept.yaml", "broken.yaml", "--github"}, {"GITHUB_STEP_SUMMARY=" + path});
  EXPECT_EQ(outcome.exit_code, 1);
  const std::string summary = content_of(path);
  EXPECT_TRUE(summary.starts_with("before\n### depthcost check: 2 gates: 1 too much, 1 OK\n"))
      << summary;
  EXPECT_NE(outcome.output.find("\n::error file=broken.yaml,line=6,title=prefill_bank::too much: "),
            std::string::npos);
}

TEST_F(Check, LeavesASummaryThatIsFullAsItIs) {
  const std::string path = folder_.written("summary.md", std::string(1024 * 1024, 'x'));
  EXPECT_EQ(run({"kept.yaml", "--github"}, {"GITHUB_STEP_SUMMARY=" + path}).exit_code, 0);
  EXPECT_EQ(std::filesystem::file_size(path), 1024U * 1024);
}

TEST_F(Check, WritesNoSummaryUnasked) {
  const std::string path = folder_.path("summary.md");
  EXPECT_EQ(run({"kept.yaml"}, {"GITHUB_STEP_SUMMARY=" + path}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
  const Outcome outcome =
      run({"kept.yaml", "--github"}, {"GITHUB_STEP_SUMMARY=" + folder_.path("none/summary.md")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors, folder_.path("none/summary.md") +
                                ":1:1: error: cannot write the file (no such file or directory)\n");
}

/// junit.xsd says what the schemas of Ant and Jenkins have in common.
TEST_F(Check, WritesJunitThatIsValid) {
  if (std::string(DEPTHCOST_XMLLINT).empty()) GTEST_SKIP() << "no xmllint";
  folder_.written("\xC3\xA9 <&\">.yaml", kimi("1 MB"));
  folder_.written("\xFF\n\x01.yaml", "x: 1\n");
  folder_.written("open.yaml", kimi("300 MB, device_memory: fits"));
  const auto expect_valid = [&](const std::string& file) {
    const Outcome lint = run_program(
        {.arguments = {"--noout", "--schema", DEPTHCOST_SOURCE_DIR "/tests/cli/junit.xsd", file},
         .folder = folder_.path(),
         .program = DEPTHCOST_XMLLINT});
    EXPECT_EQ(lint.exit_code, 0) << lint.errors << content_of(folder_.path(file));
  };
  EXPECT_EQ(run({"kept.yaml", "broken.yaml", "bad.yaml", "open.yaml", "\xC3\xA9 <&\">.yaml",
                 "\xFF\n\x01.yaml", "--junit", "all.xml"})
                .exit_code,
            2);
  expect_valid("all.xml");
  EXPECT_EQ(run({"kept.yaml", "--junit", "one.xml"}).exit_code, 0);
  expect_valid("one.xml");
  const Outcome compared = run_program(
      {.arguments = {"compare", "--published", "--junit", folder_.path("compare.xml")}});
  EXPECT_EQ(compared.exit_code, 0);
  expect_valid("compare.xml");
}

TEST_F(Check, TakesAConfigInPlaceOfAScenario) {
  const std::vector<std::string> question{"--model",  "config.json", "--hardware",
                                          "b300_sxm", "--tensor",    "8"};
  const auto with = [&](const std::vector<std::string>& budgets) {
    std::vector<std::string> arguments = question;
    for (const std::string& budget : budgets) {
      arguments.emplace_back("--budget");
      arguments.push_back(budget);
    }
    return arguments;
  };
  const Outcome kept = run(with({"prefill_bank=2.5GB", "decode_overhead=10 %"}));
  EXPECT_EQ(kept.exit_code, 0) << kept.errors;
  EXPECT_TRUE(kept.output.starts_with("config.json: config.json on 8 x b300_sxm: OK\n"))
      << kept.output;
  EXPECT_EQ(run(with({"prefill_bank=1MB"})).exit_code, 1);
  EXPECT_EQ(run(with({"device_memory=fits"})).exit_code, 1);
  expect_error(question,
               "--budget:1:1: error: missing budget (as --budget decode_overhead=2%: without one "
               "there is nothing to check)");
  expect_error(with({"prefill_bank"}),
               "--budget:1:1: error: invalid budget 'prefill_bank' (must be NAME=LIMIT, as "
               "decode_overhead=2%)");
  expect_error(with({"prefil_bank=1MB"}),
               "--budget:1:1: error: unknown key 'prefil_bank'; did you mean 'prefill_bank'?");
  expect_error(with({"prefill_bank=1MB", "prefill_bank=2MB"}),
               "--budget:1:1: error: duplicate budget 'prefill_bank' (already there)");
  expect_error(
      {"kept.yaml", "--budget", "prefill_bank=1MB"},
      "check:1:1: error: --budget requires --model (a scenario file's keys are changed by --set KEY=VALUE; see depthcost check --help)");
}

TEST_F(Check, PassesNothingUnseen) {
  expect_error({}, "check:1:1: error: missing SCENARIO or --model (see depthcost check --help)");
  expect_error({"*.yaml.none"},
               "*.yaml.none:1:1: error: cannot read the file (no such file or directory)");
}

TEST_F(Check, KeepsItsOutputsApart) {
  expect_error({"kept.yaml", "--format", "json", "--github"},
               "check:1:1: error: conflicting --github (stdout holds JSON and nothing else)");
  expect_lost_file(run({"kept.yaml", "--junit", "./kept.yaml"}),
                   "./kept.yaml:1:1: error: cannot write the file (it is read, too)");
}

}  // namespace
}  // namespace depthcost::test::check_test
