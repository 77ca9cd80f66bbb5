// `import`, and the commands that take a config.json in place of a scenario.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::import_test {
namespace {

// As in bad_file_test.cpp.
#ifdef __SANITIZE_ADDRESS__
constexpr double kMaxMegabytes = 1e6;
#else
constexpr double kMaxMegabytes = 200;
#endif

const std::string kConfigs = DEPTHCOST_SOURCE_DIR "/tests/scenarios/configs/";

/// A folder with the config of Kimi K3, and no program on PATH, so that nothing is drawn.
class Import : public testing::Test {
 protected:
  Import() {
    folder_.written("config.json", content_of(kConfigs + "kimi_k3.json"));
    folder_.written("no_programs/none", "");
  }

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_program(
        {.arguments = arguments, .folder = folder_.path(), .path = folder_.path("no_programs")});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    const Outcome outcome = run(arguments);
    expect_refusal(outcome, line);
    EXPECT_LT(outcome.peak_megabytes, kMaxMegabytes);
  }

  const TemporaryFolder folder_;
};

TEST_F(Import, WritesAModelFileThatAScenarioCanUse) {
  const Outcome shown = run({"import", "config.json"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.errors, "");
  EXPECT_TRUE(shown.output.starts_with("# Imported from config.json; ")) << shown.output;
  const Outcome written = run({"import", "config.json", "-o", "a/model.yaml"});
  EXPECT_EQ(written.exit_code, 0);
  EXPECT_EQ(written.output, "");
  EXPECT_EQ(content_of(folder_.path("a/model.yaml")), shown.output);
  folder_.written("it.yaml",
                  "schema: depthcost/1\nmodel: a/model.yaml\n"
                  "workload: {prefill: {tokens: 4096}}\n");
  EXPECT_EQ(run({"evaluate", "it.yaml"}).exit_code, 0);
}

TEST_F(Import, WritesNothingForAConfigThatIsRefused) {
  folder_.written("bad.json", "{\"model_type\": \"llama\", \"num_hidden_layers\": 0}");
  expect_error({"import", "bad.json", "-o", "model.yaml"},
               "bad.json:1:46: error: invalid num_hidden_layers '0' (must be a positive integer)");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("model.yaml")));
}

TEST_F(Import, ReadsAnUnknownModelTypeAsTheOneNamed) {
  std::string text = content_of(kConfigs + "llama_3_1_8b.json");
  const Outcome known = run({"import", folder_.written("known.json", text)});
  text.replace(text.find("\"llama\""), 7, "\"llama5\"");
  folder_.written("unknown.json", text);
  expect_error({"import", "unknown.json", "-o", "model.yaml"},
               "unknown.json:8:17: error: unknown model_type 'llama5' (nearest is llama; if its "
               "layers are built like those of llama, say so: depthcost import unknown.json --as "
               "llama)");
  const Outcome named = run({"import", "unknown.json", "--as", "llama"});
  EXPECT_EQ(named.exit_code, 0);
  EXPECT_EQ(named.errors, "");
  const std::string values = "schema: depthcost-model/1\n";
  EXPECT_NE(named.output.find("\n# Read as llama, as was asked for; the config says model_type "
                              "'llama5'.\n" +
                              values),
            std::string::npos)
      << named.output;
  EXPECT_NE(known.output.find(values), std::string::npos);
  expect_error({"import", "unknown.json", "--as", ""},
               "--as:1:1: error: missing value (the text is empty)");
}

TEST_F(Import, RefusesWhatCannotBeWrittenOrRead) {
  expect_error({"import", "config.json", "-o", "no_programs"},
               "./no_programs:1:1: error: cannot write the file (a directory is there)");
  const std::string config = content_of(folder_.path("config.json"));
  expect_error({"import", "config.json", "-o", "config.json"},
               "./config.json:1:1: error: cannot write the file (it is read, too)");
  EXPECT_EQ(content_of(folder_.path("config.json")), config);
  expect_error({"import", "none.json"},
               "none.json:1:1: error: cannot read the file (no such file or directory)");
  expect_error({"import"}, "import:1:1: error: missing CONFIG_JSON (see depthcost import --help)");
}

TEST_F(Import, RefusesLargeAndDeepFilesSoon) {
  std::filesystem::resize_file(folder_.written("large.json", ""), 100'000'000);
  expect_error({"import", "large.json"}, "large.json:1:1: error: file too large (at most 1 MB)");
  folder_.written("deep.json", std::string(1'000'000, '['));
  expect_error({"import", "deep.json"},
               "deep.json:1:65: error: nested too deeply (more than 64 levels)");
  std::string wide = "[[]";
  for (int i = 0; i < 333'000; ++i) wide += ",[]";
  folder_.written("wide.json", wide + "]");
  expect_error({"import", "wide.json"},
               "wide.json:1:1: error: invalid config (must be a map, not a list)");
}

TEST_F(Import, StandsInAReportWithoutAScenario) {
  const Outcome outcome = run({"report", "--model", "config.json", "--hardware", "b300_sxm",
                               "--tensor", "8", "-o", "out", "-q"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.output.starts_with("config.json on 8 x b300_sxm\n")) << outcome.output;
  const std::string report = content_of(folder_.path("out/config_8xb300_sxm-appendix.md"));
  EXPECT_NE(report.find("config.json: text_config.num_hidden_layers"), std::string::npos);
  EXPECT_NE(report.find("derived: 12 decoder layers x 2 layers each"), std::string::npos);
}

TEST_F(Import, GivesModelsThatOtherCommandsTake) {
  for (const std::string model : {"qwen3_8_flash_next", "glm_5_3_flash", "deepseek_v4_1_flash",
                                  "gemma_3n_e2b", "gemma_3n_e4b", "zaya1_8b"}) {
    folder_.written("it.json", content_of(kConfigs + model + ".json"));
    EXPECT_EQ(run({"import", "it.json", "-o", "it.yaml"}).exit_code, 0) << model;
    const std::vector<std::string> on_eight{
        "--model", "it.yaml", "--hardware", "h200_sxm", "--tensor", "8", "--decode", "8", "-q"};
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"report", "-o", "out"},
          {"check", "--budget", "device_memory=fits"},
          {"sweep", "--axis", "residual.scheme=standard,mhc"}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), on_eight.begin(), on_eight.end());
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.exit_code, 0) << model << " " << command.front();
      EXPECT_EQ(outcome.errors, "") << model << " " << command.front();
    }
  }
}

TEST_F(Import, EvaluatesAConfigAsThePresetOfItsModel) {
  const auto table = [&](const std::string& model) {
    return run({"evaluate", "--model", model, "--hardware", "b300_sxm", "--tensor", "8", "--format",
                "csv"})
        .output;
  };
  EXPECT_FALSE(table("kimi_k3").empty());
  EXPECT_EQ(table("config.json"), table("kimi_k3"));
}

TEST_F(Import, NeedsAScenarioOrAModel) {
  const std::string see_report = " (see depthcost report --help)";
  const std::string see_evaluate = " (see depthcost evaluate --help)";
  expect_error({"report"}, "report:1:1: error: missing SCENARIO or --model" + see_report);
  expect_error({"evaluate"}, "evaluate:1:1: error: missing SCENARIO or --model" + see_evaluate);
  expect_error({"evaluate", "it.yaml", "--model", "kimi_k3"},
               "evaluate:1:1: error: SCENARIO excludes --model" + see_evaluate);
  expect_error(
      {"report", "--tensor", "8"},
      "report:1:1: error: --tensor requires --model (a scenario file's keys are changed by "
      "--set KEY=VALUE; see depthcost report --help)");
  expect_error({"evaluate", "--model", "config.json", "--hardware", "b300"},
               "--hardware:1:1: error: unknown hardware 'b300'; did you mean 'b300_sxm'?");
}

TEST_F(Import, IsExplainedAsTheAnswerOfItsModel) {
  const std::string metric = "ledger.block_attnres.two_phase.kernel";
  const Outcome explained = run({"explain", "--model", "config.json", metric});
  EXPECT_EQ(explained.exit_code, 0);
  EXPECT_EQ(explained.errors, "");
  EXPECT_EQ(explained.output, run({"explain", "--model", "kimi_k3", metric}).output);
  EXPECT_TRUE(explained.output.starts_with(metric)) << explained.output;
  const Outcome metrics = run({"explain", "--model", "config.json"});
  EXPECT_NE(metrics.output.find(metric + "\n"), std::string::npos);
  expect_error(
      {"explain", "--model", "config.json", "x"},
      "config.json:1:1: error: unknown metric 'x' (explain without a metric lists all; those of the ledger may end in .layer_N)");
  const std::string see = " (see depthcost explain --help)";
  expect_error({"explain"}, "explain:1:1: error: missing SCENARIO or --model" + see);
  expect_error({"explain", "it.yaml", metric, "--model", "kimi_k3"},
               "explain:1:1: error: SCENARIO excludes --model" + see);
}

TEST_F(Import, IsExplainedWithWhatIsSet) {
  const auto explained = [&](const std::string& setting) {
    return run({"explain", "--model", "config.json", "--set", setting,
                "ledger.block_attnres.two_phase.kernel"})
        .output;
  };
  EXPECT_NE(explained("residual.block_size=12"), explained("residual.block_size=6"));
}

/// Layers that a quantised checkpoint leaves in 16 bits: every answer rests on what is missing.
TEST_F(Import, WarnsInEveryAnswer) {
  std::string text = content_of(kConfigs + "llama_3_1_8b.json");
  text.insert(text.find("\"torch_dtype\""),
              R"("quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, )"
              R"("modules_to_not_convert": ["model.layers.1."]}, )");
  folder_.written("awq.json", text);
  const std::string warning = "0.324 GB of weights are missing. ";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"evaluate"},
        {"sweep", "--residual", "block_attnres"},
        {"sweep", "--residual", "block_attnres", "--format", "markdown"},
        {"sweep", "--residual", "block_attnres", "--format", "json"},
        {"plan", "--devices", "1"},
        {"plan", "--devices", "1", "--format", "json"}}) {
    SCOPED_TRACE(command.front() + " " + command.back());
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--model", "awq.json", "--hardware", "h100_sxm"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_NE(outcome.output.find(warning), std::string::npos) << outcome.output.substr(0, 2000);
  }
}

TEST_F(Import, ShowsAnExample) {
  const Outcome help = run({"import", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.output.find("depthcost import config.json -o my_model.yaml"), std::string::npos);
}

}  // namespace
}  // namespace depthcost::test::import_test
