// `compare` as a user runs it: exit codes, files, and the whole text of every error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/output/exit_code.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::compare_test {
namespace {

const std::string kHeader = "operation,tokens,hidden_size,microseconds\n";

class Compare : public testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    return run_program({.arguments = std::move(arguments), .folder = folder_.path()});
  }

  /// A table of mHC post on an H200, predicted to take 154 us, that is said to take `us`.
  Outcome run_on(const std::string& us, std::vector<std::string> options = {}) const {
    folder_.written("it.csv", kHeader + "mhc_post,8192,4096," + us + "\n");
    options.insert(options.begin(), {"it.csv", "--hardware", "h200_sxm"});
    return run(std::move(options));
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  void write_rule(const std::string& relative) const {
    folder_.written("rules.yaml",
                    "schema: depthcost-tolerances/1\nname: mine\nrules:\n  - {match: '*', "
                    "relative: " +
                        relative + ", effect: block, reason: a promise}\n");
  }

  const TemporaryFolder folder_;
};

TEST(ExitCodes, OfSeveralTheWorstWins) {
  using enum ExitCode;
  const ExitCode rising[] = {good, skipped, measurement_invalid, gate_said_no, bad_input};
  for (std::size_t i = 0; i < std::size(rising); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      EXPECT_EQ(worst(rising[i], rising[j]), rising[i]);
      EXPECT_EQ(worst(rising[j], rising[i]), rising[i]);
    }
  EXPECT_EQ(static_cast<int>(measurement_invalid), 3);
  EXPECT_EQ(static_cast<int>(skipped), 77);
}

TEST_F(Compare, SaysWhetherThePredictionHolds) {
  EXPECT_EQ(run_on("150").exit_code, 0);
  EXPECT_EQ(run_on("120").exit_code, 1);  // impossible: 126 us at the datasheet's bandwidth
  EXPECT_EQ(run_on("300").exit_code, 1);
  EXPECT_EQ(run_on("300").errors, "");
}

TEST_F(Compare, IsAmbiguousInsideTheIntervalAndFailsThatOnlyIfStrict) {
  write_rule("1 %");
  EXPECT_EQ(run_on("158", {"--tolerances", "rules.yaml"}).exit_code, 0);
  EXPECT_EQ(run_on("158", {"--tolerances", "rules.yaml", "--strict"}).exit_code, 1);
  write_rule("10 %");
  EXPECT_EQ(run_on("158", {"--tolerances", "rules.yaml", "--strict"}).exit_code, 0);
}

// 56 % too slow in every sample: noise does not make that a pass.
TEST_F(Compare, TakesNoNoiseForAgreement) {
  const auto verdict = [&](const std::string& low, const std::string& high) {
    folder_.written("it.csv",
                    "low,high," + kHeader + low + "," + high + ",mhc_post,8192,4096,240\n");
    const auto json =
        parsed_json(run({"it.csv", "--hardware", "h200_sxm", "--format", "json"}).output);
    EXPECT_EQ(json["cases"][0]["tolerance"], 0.25);
    return json["cases"][0]["verdict"].get<std::string>();
  };
  EXPECT_EQ(verdict("220", "260"), "fail");
  EXPECT_EQ(verdict("200", "300"), "ambiguous");  // the error is below three times the noise
  EXPECT_EQ(verdict("0.001", "1e9"), "ambiguous");
}

TEST_F(Compare, IsRedInJunitAndAnnotationsIfStrict) {
  write_rule("1 %");
  const Outcome outcome =
      run_on("158", {"--tolerances", "rules.yaml", "--strict", "--junit", "it.xml", "--github"});
  EXPECT_EQ(outcome.exit_code, 1);
  const std::string junit = content_of(folder_.path("it.xml"));
  EXPECT_NE(junit.find(" failures=\"1\" errors=\"0\" skipped=\"0\" "), std::string::npos);
  EXPECT_NE(junit.find("<failure type=\"ambiguous\""), std::string::npos);
  EXPECT_NE(outcome.output.find("\n::error file=it.csv,line=2,"), std::string::npos);
  EXPECT_NE(outcome.output.find("Gates: 1 of 1 fail, so the exit code is 1."), std::string::npos);
}

// An injected slowdown of 1.5 tolerances fails, one of 0.3 does not.
TEST_F(Compare, FindsAnInjectedSlowdownAndNothingSmaller) {
  const auto json = parsed_json(run_on("150", {"--format", "json"}).output);
  const double us = json["cases"][0]["predicted_seconds"].get<double>() * 1e6;
  EXPECT_EQ(run_on(std::to_string(us * (1 + 1.5 * 0.25))).exit_code, 1);
  EXPECT_EQ(run_on(std::to_string(us * (1 + 0.3 * 0.25))).exit_code, 0);
}

TEST_F(Compare, NamesWhatItIgnoredAndWhatItBorrowed) {
  folder_.written("it.csv", "gpu,driver," + kHeader + "x,y,mhc_post,8192,4096,150\n");
  const Outcome outcome = run({"it.csv", "--hardware", "b200_sxm"});
  EXPECT_NE(outcome.output.find("Column 'gpu' was ignored.\nColumn 'driver' was ignored.\n"),
            std::string::npos);
  EXPECT_NE(outcome.output.find("hardware.launch_floor: as h200_sxm (fallback: "),
            std::string::npos);
}

TEST_F(Compare, WritesADocumentWithARoofline) {
  const Outcome outcome = run_on("150", {"-o", "out"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::string document = content_of(folder_.path("out/it-kernels.md"));
  EXPECT_NE(document.find("## Predicted against measured"), std::string::npos);
  if (document.find("gnuplot is not installed") == std::string::npos) {
    EXPECT_NE(document.find("](it-roofline.svg)"), std::string::npos) << document;
    EXPECT_NE(content_of(folder_.path("out/it-roofline.svg")).find("<svg"), std::string::npos);
  }
  const Outcome published = run({"--published", "-o", "out"});
  EXPECT_EQ(published.exit_code, 2);
  EXPECT_EQ(published.errors,
            "compare:1:1: error: conflicting --output (a document is of kernels of one machine)\n");
}

TEST_F(Compare, PutsTheNearestPublishedKernelBesideEachRow) {
  folder_.written("it.csv", kHeader + "mhc_post,4096,4096,90\nunfused_rmsnorm,8,4096,10\n");
  const auto json =
      parsed_json(run({"it.csv", "--hardware", "h200_sxm", "--format", "json"}).output);
  // Nobody has published a time of the second.
  ASSERT_EQ(json["nearest"].size(), 1U);
  EXPECT_EQ(json["nearest"][0]["case"], json["cases"][0]["case"]);
  const std::string published = json["nearest"][0]["published"];
  EXPECT_TRUE(published.starts_with("h200_sxm/mhc_post/")) << published;
  EXPECT_NE(run_on("150").output.find("\nNearest published to h200_sxm/mhc_post/"),
            std::string::npos);
}

TEST_F(Compare, SaysWhichStatisticOfItsSamplesItShows) {
  const std::string profile =
      std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/profiles/xeon_emerald_rapids_vm.yaml";
  EXPECT_TRUE(run({profile}).output.ends_with(
      "\nMeasured: the lower quartile of the repetitions, since a shared machine only ever adds to "
      "a time.\nThe 90 % interval is that of all kernels, so that none hides behind its own. "
      "Predictions of a scenario have the interval of each operation.\n"))
      << run({profile}).output;
}

TEST_F(Compare, WritesJunitAndAnnotations) {
  const Outcome outcome = run_on("300", {"--junit", "out/it.xml", "--github"});
  EXPECT_EQ(outcome.exit_code, 1);
  const std::string junit = content_of(folder_.path("out/it.xml"));
  EXPECT_NE(junit.find("<failure type=\"mispredict\""), std::string::npos);
  EXPECT_NE(outcome.output.find("\n::error file=it.csv,line=2,"), std::string::npos)
      << outcome.output;
}

TEST_F(Compare, HoldsPresetsAgainstWhatIsPublished) {
  const Outcome outcome = run({"--published", "--format", "json"});
  const auto json = parsed_json(outcome.output);
  EXPECT_GE(json["cases"].size(), 70U);
}

TEST_F(Compare, RefusesWhatItCannotUse) {
  const std::string us = "compare:1:1: error: ";
  expect_error({}, us + "missing profile ('depthcost-measurements/profile.yaml' is not there: run "
                        "scripts/measure, or name a profile, samples, a table or --published)");
  expect_error({"it.csv", "--published"}, us + "conflicting --published (a table is given)");
  expect_error({"--published", "--hardware", "h200_sxm"},
               us + "conflicting --hardware (published measurements name their own)");
  expect_error(
      {"--published", "--constants", "it.yaml"},
      us + "conflicting --constants (published measurements are held against constants that "
           "have not seen them)");
  expect_error({"--published", "--github", "--format", "json"},
               us + "conflicting --github (stdout holds JSON and nothing else)");
  expect_error({"missing.csv"},
               us + "missing --hardware (a preset or a path: what the table was measured on)");
  for (const std::string profile : {"missing.yaml", "missing.yml"}) {
    expect_error({profile},
                 profile + ":1:1: error: cannot read the file (no such file or directory)");
    expect_error({profile, "--hardware", "h200_sxm"},
                 us + "conflicting --hardware (a profile has its own machine)");
  }
  expect_error({"missing.csv", "--hardware", "h200_sxm"},
               "missing.csv:1:1: error: cannot read the file (no such file or directory)");
  folder_.written("it.csv", kHeader + "mhc_past,8,8,1\n");
  expect_error({"it.csv", "--hardware", "h200_sxm"},
               "it.csv:2:1: error: unknown operation 'mhc_past'; did you mean 'mhc_post'?");
  folder_.written("good.csv", kHeader + "mhc_post,8,8,10\n");
  expect_error({"good.csv", "--hardware", "h200"},
               "--hardware:1:1: error: unknown hardware 'h200'; did you mean 'h200_sxm'?");
  expect_error({"good.csv", "--hardware", "missing.yaml"},
               "--hardware:1:1: error: invalid hardware 'missing.yaml': cannot read the file (no "
               "such file or directory)");
}

TEST_F(Compare, WritesATableToFill) {
  const Outcome outcome = run({"--template"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("\n# tokens: T, rows of the call (needed)\n"), std::string::npos);
  EXPECT_NE(outcome.output.find(
                "\n# launch: how kernels are launched; stream | graph | graph_pdl (graph)\n"),
            std::string::npos)
      << outcome.output;
  folder_.written("it.csv", outcome.output);
  expect_error({"it.csv", "--hardware", "h200_sxm"}, "it.csv:1:1: error: no rows (only a header)");
  folder_.written("it.csv", outcome.output + "mhc_post,8192,4096,150,,,,,,,,,\n");
  EXPECT_EQ(run({"it.csv", "--hardware", "h200_sxm"}).exit_code, 0);
}

TEST_F(Compare, ListsTheOperationsThatATableCanName) {
  const auto json = parsed_json(run({"--operations", "--format", "json"}).output);
  std::string table = "operation,tokens,hidden_size,microseconds,sources,queries\n";
  for (const auto& row : json["operations"])
    table += fmt::format("{},4096,4096,100,{},{}\n", row["operation"].get<std::string>(),
                         row["sources"].is_null() ? "" : "8", row["queries"] == true ? "12" : "");
  EXPECT_GE(json["operations"].size(), 30U);
  folder_.written("it.csv", table);
  const auto compared =
      parsed_json(run({"it.csv", "--hardware", "h200_sxm", "--format", "json"}).output);
  EXPECT_EQ(compared["cases"].size(), json["operations"].size());
  EXPECT_NE(run({"--operations"}).output.find("\nmhc_post "), std::string::npos);
  EXPECT_NE(run({"--operations", "--format", "markdown"}).output.find("\n| mhc_post | "),
            std::string::npos);
}

TEST_F(Compare, AnswersOneThingAtATime) {
  const std::string us = "compare:1:1: error: ";
  expect_error({"--template", "it.csv"}, us + "conflicting --template (it compares nothing)");
  expect_error({"--operations", "--published"},
               us + "conflicting --operations (it compares nothing)");
  expect_error({"--template", "--operations"},
               us + "conflicting --template (--operations is given)");
}

TEST_F(Compare, WritesNothingWhereARuleIsWrong) {
  folder_.written("good.csv", kHeader + "mhc_post,8,8,10\n");
  folder_.written("rules.yaml",
                  "schema: depthcost-tolerances/1\nname: mine\nrules:\n  - {match: 'x*', relative: "
                  "5 %, effect: block, reason: a promise}\n");
  expect_error(
      {"good.csv", "--hardware", "h200_sxm", "--tolerances", "rules.yaml", "--junit", "it.xml"},
      "rules.yaml:1:1: error: no rule for case "
      "'h200_sxm/mhc_post/m:4/bf16/T:8/d:8/graph/cold' (each needs one)");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("it.xml")));
  expect_lost_file(run({"--published", "--junit", "."}),
                   "./.:1:1: error: cannot write the file (a directory is there)");
}

}  // namespace
}  // namespace depthcost::test::compare_test
