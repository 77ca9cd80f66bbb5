// `mixing` as users run it: ranks, patterns, magnitudes, files, and errors on one line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"
#include "tests/marked_block.hpp"
#include "tests/parsed_json.hpp"
#include "tests/reports/plot_script.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::mixing_test {
namespace {

using nlohmann::json;

const std::string kRoot = DEPTHCOST_SOURCE_DIR;

std::string scenario(int num_layers, int block_size) {
  return fmt::format(
      "schema: depthcost/1\nname: Small\n"
      "model: {{num_layers: {}, hidden_size: 64, dtype: bf16}}\n"
      "residual: {{scheme: block_attnres, block_size: {}, compare: [standard, mhc]}}\n",
      num_layers, block_size);
}

class MixingCommand : public testing::Test {
 protected:
  MixingCommand() { folder_.written("small.yaml", scenario(4, 2)); }

  Outcome run(std::vector<std::string> arguments, const std::string& file = "small.yaml") const {
    arguments.insert(arguments.begin(), {"mixing", file});
    return run_program({.arguments = arguments, .folder = folder_.path()});
  }

  json document(std::vector<std::string> arguments, const std::string& file = "small.yaml") const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = run(arguments, file);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return parsed_json(outcome.output);
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line,
                    const std::string& file = "small.yaml") const {
    expect_refusal(run(arguments, file), line);
  }

  const TemporaryFolder folder_;
};

TEST_F(MixingCommand, SaysRankClaimAndEquationOfTheScenariosSchemes) {
  const Outcome outcome = run({});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with("Small: depth mixing matrices of 4 layers\n"));
  for (const std::string part :
       {"block_attnres  block_size 2", "\"between N and N+S\": 2 to 4 ", "holds here (G3)",
        "source    [attnres] Eq. 10", "phi(w4,b2^1)/Z4", "beta0^T A2 alpha2"})
    EXPECT_TRUE(contains(outcome.output, part)) << part;
  EXPECT_FALSE(contains(outcome.output, "highway"));
}

TEST_F(MixingCommand, GivesTheSameBytesForTheSameSeed) {
  folder_.written("deep.yaml", scenario(24, 6));
  const std::vector<std::string> all{"--scheme", "all", "--magnitude", "--format", "json"};
  const Outcome first = run(all, "deep.yaml");
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_EQ(first.output, run(all, "deep.yaml").output);
  EXPECT_NE(document({})["schemes"][0]["matrix"],
            document({"--seed", "2"})["schemes"][0]["matrix"]);
  EXPECT_EQ(document({})["schemes"][0]["matrix"],
            document({"--seed", "1"})["schemes"][0]["matrix"]);
}

TEST_F(MixingCommand, AveragesAFilesAttentionOverTokens) {
  folder_.written("weights.json", R"({"schema": "depthcost-mixing/1", "scheme": "block_attnres",
    "num_layers": 4, "block_size": 2, "attention": [
      [[1], [1, 0], [0.5, 0.5], [0.25, 0.25, 0.5]],
      [[1], [0, 1], [0, 1], [0.75, 0.25, 0]]]})");
  const json block = document({"--weights", "weights.json"}).at("schemes").at(0);
  EXPECT_EQ(block.at("weights_file"), "weights.json");
  EXPECT_EQ(block.at("tokens"), 2);
  EXPECT_EQ(block.at("matrix"),
            json::parse("[[1], [0.5, 0.5], [0.25, 0.75, 0.75], [0.5, 0.25, 0.25, 0.25]]"));
  EXPECT_EQ(block.at("attention").at(2),
            json::parse(R"({"layer": 3, "sublayer": "attention", "weights": [0.25, 0.75]})"));
  EXPECT_EQ(block.at("attention").at(3).at("sublayer"), "mlp");
}

TEST_F(MixingCommand, WritesADocumentWithItsHeatMaps) {
  folder_.written("weights.json", R"({"schema": "depthcost-mixing/1", "scheme": "full_attnres",
    "num_layers": 4, "attention": [[1], [0.5, 0.5], [0, 0, 1], [0.25, 0.25, 0.25, 0.25]]})");
  const Outcome outcome = run({"--weights", "weights.json", "-o", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "-> out/small-mixing.md\n");
  const std::string text = file_text(folder_.path("out/small-mixing.md"));
  int plots = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("out"))) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".svg")) continue;
    ++plots;
    EXPECT_TRUE(contains(text, name)) << name;
    EXPECT_TRUE(is_well_formed(content_of(entry.path()))) << name;
  }
  EXPECT_EQ(plots, 6);  // four matrices, two halves of the attention
}

TEST_F(MixingCommand, WritesIntoAFileWhatItPrints) {
  for (const std::string format : {"json", "csv"}) {
    const Outcome outcome = run({"--format", format, "-o", "out"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "-> out/small-mixing." + format + "\n");
    EXPECT_EQ(file_text(folder_.path("out/small-mixing." + format)),
              run({"--format", format}).output);
  }
}

TEST_F(MixingCommand, WritesOneNumberALineAsCsv) {
  const Outcome outcome = run({"--scheme", "highway", "--format", "csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with("scheme,quantity,layer,source,value\n"));
  EXPECT_TRUE(contains(outcome.output, "\nstandard,mixing,4,3,1\n"));
  EXPECT_TRUE(contains(outcome.output, "\nhighway,semiseparable_rank,"));
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1 + 4 * (1 + 10));
}

// Sanitizers take their time, and keep freed memory.
#ifndef __SANITIZE_ADDRESS__
TEST_F(MixingCommand, TakesAThousandLayers) {
  folder_.written("large.yaml", scenario(1024, 2));
  const Outcome outcome = run({"--scheme", "all"}, "large.yaml");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
}
#endif

/// The series of a scheme on some kind of layers.
const json& series_of(const json& document, const std::string& scheme, const std::string& layers,
                      const std::string& quantity = "layer_input") {
  for (const json& series : document.at("magnitudes"))
    if (series.at("scheme") == scheme && series.at("layers") == layers &&
        series.at("quantity") == quantity)
      return series;
  throw std::runtime_error("no series " + scheme + " " + layers);
}

class Magnitudes : public MixingCommand {
 protected:
  Magnitudes() {
    folder_.written("deep.yaml", scenario(128, 16));
    document_ = document({"--magnitude"}, "deep.yaml");
  }
  json document_;
};

/// Outputs that lie along the stream add up; no PreNorm network of outputs of 0.5 grows faster.
TEST_F(Magnitudes, GrowLinearlyAtMostUnderTheStandardResidual) {
  const json& aligned = series_of(document_, "standard", "prenorm_aligned");
  EXPECT_EQ(aligned.at("law"), "linear");
  EXPECT_NEAR(aligned.at("gain_per_layer").get<double>(), 0.25, 0.025);
  EXPECT_LT(aligned.at("fit_error").get<double>(), 0.02);
  const json& independent = series_of(document_, "standard", "prenorm");
  EXPECT_EQ(independent.at("law"), "square_root");
  EXPECT_NEAR(independent.at("gain_per_layer").get<double>(), 0.25, 0.05);
  for (const json& series : {aligned, independent}) {
    const auto r = series.at("magnitudes").get<std::vector<double>>();
    for (std::size_t l = 1; l < r.size(); ++l) EXPECT_LT(r[l] - r[l - 1], 0.75) << l;
  }
}

/// Fig. 5b: inside a block the sum grows, and the next one begins anew.
TEST_F(Magnitudes, AreBoundedAndPeriodicInBlocks) {
  for (const std::string layers : {"prenorm", "prenorm_aligned"}) {
    const json& sums = series_of(document_, "block_attnres", layers, "partial_sum");
    EXPECT_EQ(sums.at("law"), "bounded") << layers;
    EXPECT_EQ(sums.at("period"), 16);
    EXPECT_GT(sums.at("recurrence").get<double>(), 0.9) << layers;
    EXPECT_LT(sums.at("largest").get<double>(), 16 * 0.75);
    EXPECT_EQ(series_of(document_, "block_attnres", layers).at("law"), "bounded");
  }
}

/// 1.25^(1/2) a layer: log(1.25) / 2 = 0.1116.
TEST_F(Magnitudes, ExplodeOnlyWithoutANorm) {
  for (const json& series : document_.at("magnitudes"))
    EXPECT_EQ(series.at("law") == "exponential", series.at("layers") == "unnormalised")
        << series.at("scheme");
  const json& wild = series_of(document_, "standard", "unnormalised");
  EXPECT_NEAR(wild.at("gain_per_layer").get<double>(), std::log(1.25) / 2, 0.02);
}

/// A row of DenseFormer is a Transformer block, whose dilation and period count the same.
TEST_F(MixingCommand, MixesTransformerBlocksInDenseFormer) {
  const json dense = document({"--scheme", "denseformer", "--dilation", "1", "--period", "1"})
                         .at("schemes")
                         .back();
  EXPECT_EQ(dense.at("scheme"), "denseformer");
  EXPECT_EQ(dense.at("matrix").size(), 2U);
  EXPECT_EQ(dense.at("remark"), "a row is a Transformer block of two layers");
}

/// The embedding, and the last two outputs.
TEST_F(MixingCommand, NamesTheSourcesOfAWindow) {
  folder_.written("weights.json", R"({"schema": "depthcost-mixing/1",
"scheme": "attnres_sliding_window", "num_layers": 4, "window": 2,
"attention": [[1], [0.5, 0.5], [0.5, 0.25, 0.25], [0.5, 0.125, 0.375]]})");
  const std::string text = run({"--weights", "weights.json", "--format", "csv"}).output;
  for (const std::string line :
       {"attention,4,0,0.5\n", "attention,4,2,0.125\n", "attention,4,3,0.375\n"})
    EXPECT_TRUE(contains(text, "attnres_sliding_window," + line)) << line;
  EXPECT_FALSE(contains(text, "attention,4,1,"));
}

/// With blocks of the scenario, whatever its scheme is.
TEST_F(MixingCommand, TakesTheScenariosBlocksForEveryScheme) {
  folder_.written("plain.yaml",
                  "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 64, dtype: bf16}\n"
                  "residual: {scheme: standard, block_size: 4}\n");
  const Outcome outcome =
      run({"--scheme", "block_attnres", "--scheme", "attnres_sigmoid"}, "plain.yaml");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "block_attnres    block_size 4")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "attnres_sigmoid  block_size 4")) << outcome.output;
}

TEST_F(MixingCommand, RefusesWhatIsWrongOnOneLine) {
  folder_.written("other.json", R"({"schema": "depthcost-mixing/1", "scheme": "block_attnres",
"num_layers": 4, "block_size": 4, "attention": []})");
  expect_error({"--weights", "other.json"},
               "other.json:2:32: error: conflicting block_size '4' (the scenario has 2)");
  expect_error({"--weights", "none.json"},
               "none.json:1:1: error: cannot read the file (no such file or directory)");
  expect_error({"--scheme", "higway"},
               "--scheme:1:1: error: unknown scheme 'higway'; did you mean 'highway'?");
  expect_error({"--scheme", "deepnorm"},
               "--scheme:1:1: error: no mixing matrix for 'deepnorm' (a norm on the stream divides "
               "by its size: no input is a weighted sum of outputs)");
  expect_error({"--scheme", "attnres_sliding_window", "--window", "5"},
               "--window:1:1: error: invalid window '5' (must be 1 to 4)");
  expect_error({"--streams", "0"},
               "--streams:1:1: error: invalid num_streams '0' (must be 1 to 64)");
  expect_error({"--block-size", "5"},
               "--block-size:1:1: error: invalid block_size '5' (the model has only 4 layers)");
  folder_.written("huge.json", R"({"schema": "depthcost-mixing/1", "scheme": "laurel_rw",
"num_layers": 4, "alpha": [1e200, 1e200, 1e200], "beta": [1e200, 1e200, 1e200]})");
  expect_error({"--weights", "huge.json"},
               "huge.json:1:1: error: weights that overflow (M_{0->3} of laurel_rw is not finite)");
  expect_error({"--scheme", "denseformer", "--dilation", "3"},
               "--dilation:1:1: error: invalid dilation '3' (must be 1 to 2)");
  expect_error({"--magnitude"},
               "--magnitude:1:1: error: too few layers for a law of growth (4, needs 16)");
  const std::string small_model =
      "schema: depthcost/1\nmodel: {num_layers: 4, hidden_size: 64, dtype: bf16}\n";
  folder_.written("wide.yaml", small_model + "residual: {scheme: mhc, num_streams: 65}\n");
  expect_error({}, "wide.yaml:1:1: error: invalid num_streams '65' (must be 1 to 64)", "wide.yaml");
  folder_.written("static.yaml", small_model + "residual: {scheme: hc_static, num_streams: 2}\n");
  folder_.written("streams.json", R"({"schema": "depthcost-mixing/1", "scheme": "hc_static",
"num_layers": 4, "num_streams": 3})");
  expect_error({"--weights", "streams.json"},
               "streams.json:2:33: error: conflicting num_streams '3' (the scenario has 2)",
               "static.yaml");
  folder_.written("plain.yaml",
                  "schema: depthcost/1\nmodel: {num_layers: 3000, hidden_size: 64, dtype: bf16}\n"
                  "residual: {scheme: standard}\n");
  expect_error({},
               "plain.yaml:1:1: error: too many layers for a mixing matrix (3000, more than 2048)",
               "plain.yaml");
}

}  // namespace
}  // namespace depthcost::test::mixing_test
