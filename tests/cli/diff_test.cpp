// `diff` through the program: exit codes, and files that are no result.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::diff_test {
namespace {

// As in bad_file_test.cpp; a result may be fifty times as large as a scenario.
#ifdef __SANITIZE_ADDRESS__
constexpr double kMaxMegabytes = 1e6;
#else
constexpr double kMaxMegabytes = 1000;
#endif

std::string scenario(const std::string& bandwidth, const std::string& budget) {
  return "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\n"
         "hardware: {base: h200_sxm, memory_bandwidth: " +
         bandwidth +
         "}\nresidual: {compare: [standard]}\nparallelism: {tensor: 8}\n"
         "workload: {decode: {sequences: [64], context: 1000}, prefill: {tokens: 16384, "
         "sequence_shards: 8}}\nbaseline_step: {decode: 12 ms, prefill: 2 s}\nbudgets: "
         "{prefill_bank: " +
         budget + "}\n";
}

class Diff : public testing::Test {
 protected:
  Diff() { evaluate("old", scenario("4.9 TB/s", "300 MB")); }

  void evaluate(const std::string& name, const std::string& text) const {
    folder_.written(name + ".yaml", text);
    const Outcome outcome =
        run_program({.arguments = {"evaluate", name + ".yaml", "--format", "json"},
                     .folder = folder_.path(),
                     .output = folder_.path(name + ".json")});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  }

  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "diff");
    return run_program({.arguments = arguments, .folder = folder_.path()});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    const Outcome outcome = run(arguments);
    expect_refusal(outcome, line);
    EXPECT_LT(outcome.peak_megabytes, kMaxMegabytes);
  }

  const TemporaryFolder folder_;
};

TEST_F(Diff, OfAResultWithItselfIsGood) {
  const Outcome outcome = run({"old.json", "old.json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(outcome.output.starts_with("Kimi: old.json -> old.json\n\nNo regression. "));
  EXPECT_NE(
      outcome.output.find(" predictions in both: 0 worse, 0 better, 0 out of the old interval, "
                          "0 gone. 0 verdicts changed.\n"),
      std::string::npos)
      << outcome.output;
}

/// Who moves a limit renews the old result.
TEST_F(Diff, DoesNotHoldWhereOnlyALimitMoved) {
  evaluate("same", scenario("4.9 TB/s", "400 MB"));
  const Outcome outcome = run({"old.json", "same.json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("Inputs that differ\n\nname                  old     new\n"),
            std::string::npos)
      << outcome.output;
}

/// A training step has its times, whether it fits or not.
TEST_F(Diff, SaysNoWhereAStepNoLongerFits) {
  const auto trained_in = [](const std::string& memory) {
    return "schema: depthcost/1\nname: Llama\nmodel: llama_3_1_8b\nhardware: {base: h100_sxm, "
           "visible_memory: " +
           memory + "}\nparallelism: {tensor: 4}\nworkload: {training: {sequence_length: 4096}}\n";
  };
  evaluate("roomy", trained_in("80 GB"));
  evaluate("tight", trained_in("32 GB"));
  const Outcome worse = run({"roomy.json", "tight.json"});
  EXPECT_EQ(worse.exit_code, 1);
  EXPECT_NE(worse.output.find("\nmemory of training  fits  does not fit\n"), std::string::npos)
      << worse.output;
  EXPECT_EQ(run({"tight.json", "roomy.json"}).exit_code, 0);
  evaluate("other", trained_in("80 GB") + "residual: {scheme: rezero}\n");
  EXPECT_EQ(run({"roomy.json", "other.json"}).output.find("memory of"), std::string::npos);
}

TEST_F(Diff, SaysNoPastTheTolerance) {
  evaluate("slower", scenario("4.851 TB/s", "300 MB"));
  EXPECT_EQ(run({"old.json", "slower.json"}).exit_code, 1);
  EXPECT_EQ(run({"old.json", "slower.json", "--tolerance", "0.1%"}).exit_code, 1);
  const Outcome within = run({"old.json", "slower.json", "--tolerance", "5%", "--details"});
  EXPECT_EQ(within.exit_code, 0) << within.output;
  EXPECT_NE(within.output.find("\ntime "), std::string::npos) << "what moved is shown all the same";
  EXPECT_EQ(run({"old.json", "slower.json", "--tolerance", "5 %", "--details"}).output,
            within.output);
}

TEST_F(Diff, TakesAnImprovementForOneUnlessItIsStrict) {
  auto failed = parsed_json(content_of(folder_.path("old.json")));
  failed["budgets"][0]["verdict"] = "fail";
  failed["budgets"][0]["fate"] = "too much";
  folder_.written("failed.json", failed.dump());
  const Outcome better = run({"failed.json", "old.json"});
  EXPECT_EQ(better.exit_code, 0) << better.output;
  EXPECT_NE(better.output.find("\nNo regression. "), std::string::npos) << better.output;
  const Outcome strict = run({"failed.json", "old.json", "--strict"});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_NE(strict.output.find("\nRegression. "), std::string::npos) << strict.output;
}

TEST_F(Diff, TakesALooserLimitForNoImprovement) {
  evaluate("tight", scenario("4.9 TB/s", "200 MB"));
  const Outcome looser = run({"tight.json", "old.json"});
  EXPECT_EQ(looser.exit_code, 1) << looser.output;
  EXPECT_NE(
      looser.output.find("\nThe limit of budgets.prefill_bank changed from 200 MB to 300 MB.\n"),
      std::string::npos)
      << looser.output;
}

TEST_F(Diff, SaysNoWhereAVerdictChanged) {
  evaluate("tighter", scenario("4.9 TB/s", "200 MB"));
  const Outcome outcome = run({"old.json", "tighter.json", "--tolerance", "90%"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("budgets.prefill_bank  OK   too much\n"), std::string::npos)
      << outcome.output;
}

TEST_F(Diff, IsTheSameTextTwice) {
  evaluate("slower", scenario("4.851 TB/s", "300 MB"));
  for (const std::string format : {"table", "markdown", "json"}) {
    const std::vector<std::string> arguments{"old.json", "slower.json", "--format", format};
    const Outcome first = run(arguments);
    EXPECT_EQ(first.exit_code, 1);
    EXPECT_FALSE(first.output.empty());
    EXPECT_EQ(run(arguments).output, first.output);
  }
}

TEST_F(Diff, RefusesWhatIsNoResultOnOneLine) {
  const std::string has = " (a result of 'depthcost evaluate --format json' has it)";
  expect_error(
      {"old.yaml", "old.json"},
      "old.yaml:1:1: error: invalid result (must be what 'depthcost evaluate --format json' "
      "prints, not a scenario)");
  expect_error({"old.json", "none.json"},
               "none.json:1:1: error: cannot read the file (no such file or directory)");
  folder_.written("sweep.json", "{\"schema_version\": 1, \"program_version\": \"1\"}");
  expect_error({"old.json", "sweep.json"}, "sweep.json:1:1: error: missing key 'ledger'" + has);
  folder_.written("next.json", "{\"schema_version\": 2}");
  expect_error({"next.json", "old.json"},
               "next.json:1:20: error: invalid schema_version '2' (this program reads 1; evaluate "
               "the scenario again)");
  const std::string whole = content_of(folder_.path("old.json"));
  folder_.written("half.json", whole.substr(0, whole.size() / 2));
  const Outcome half = run({"old.json", "half.json"});
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_NE(half.errors.find(": error: malformed JSON ("), std::string::npos) << half.errors;
}

TEST_F(Diff, RefusesLargeAndDeepFilesSoon) {
  std::filesystem::resize_file(folder_.written("large.json", ""), 100'000'000);
  expect_error({"old.json", "large.json"}, "large.json:1:1: error: file too large (at most 32 MB)");
  folder_.written("deep.json", std::string(1'000'000, '['));
  expect_error({"deep.json", "old.json"},
               "deep.json:1:65: error: nested too deeply (more than 64 levels)");
}

TEST_F(Diff, RefusesAToleranceThatIsNone) {
  expect_error(
      {"old.json", "old.json", "--tolerance", "1"},
      "--tolerance:1:1: error: invalid tolerance '1' (missing unit; need a percentage, such "
      "as '2 %')");
  expect_error({"old.json", "old.json", "--tolerance", "-1%"},
               "--tolerance:1:1: error: invalid tolerance '-1%' (must not be negative)");
  expect_error({"old.json"}, "diff:1:1: error: missing NEW (see depthcost diff --help)");
}

}  // namespace
}  // namespace depthcost::test::diff_test
