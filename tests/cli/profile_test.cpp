// `profile` and what `compare` makes of profiles: exit codes, and the whole text of refusals.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/marked_block.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::profile_test {
namespace {

const std::string kRoot = std::string(DEPTHCOST_SOURCE_DIR) + "/";
const std::string kSynthetic = kRoot + "scenarios/profiles/synthetic";

class ProfileCommand : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* ending : {".yaml", ".samples.json"})
      std::filesystem::copy_file(kSynthetic + ending,
                                 folder_.path(std::string("synthetic") + ending));
  }

  Outcome run(std::vector<std::string> arguments) const {
    return run_program({.arguments = std::move(arguments), .folder = folder_.path()});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.errors, line + "\n");
    EXPECT_EQ(outcome.output, "");
  }

  void change(const std::string& file, const std::string& old_text,
              const std::string& new_text) const {
    std::string text = content_of(folder_.path(file));
    const auto at = text.find(old_text);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, old_text.size(), new_text);
    folder_.written(file, text);
  }

  const TemporaryFolder folder_;
};

TEST_F(ProfileCommand, FitsWhatVerifyThenHolds) {
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "again.yaml"}).exit_code, 0);
  EXPECT_EQ(content_of(folder_.path("again.yaml")), content_of(folder_.path("synthetic.yaml")));
  const Outcome verified = run({"profile", "verify", "again.yaml"});
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_EQ(verified.output, "again.yaml: holds\n");
  EXPECT_LT(verified.cpu_seconds, 1);
}

TEST_F(ProfileCommand, VerifySaysNoToAChangedNumber) {
  change("synthetic.yaml", "threads: 1\n", "threads: 2\n");
  const Outcome verified = run({"profile", "verify", "synthetic.yaml"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_EQ(verified.output,
            "synthetic.yaml:7: threads is 2, the samples give 1\nsynthetic.yaml: does not hold\n");
}

TEST_F(ProfileCommand, RefusesWhatItCannotRead) {
  folder_.written("s.yaml",
                  "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 4096, dtype: bf16}\n"
                  "hardware: synthetic.yaml\nresidual: {scheme: mhc}\n"
                  "workload: {prefill: {tokens: 2048}}\n");
  expect_error({"profile", "verify", "nothing.yaml"},
               "nothing.yaml:1:1: error: cannot read the file (no such file or directory)");
  change("synthetic.yaml", "depthcost-profile/1", "depthcost-profile/2");
  expect_error({"profile", "verify", "synthetic.yaml"},
               "synthetic.yaml:2:9: error: invalid schema 'depthcost-profile/2' (a profile is "
               "'depthcost-profile/1')");
  change("synthetic.yaml", "depthcost-profile/2", "depthcost-profile/1");
  change("synthetic.yaml", "{primitive: mix, dtype: f32, level: L2",
         "{primitive: mix, dtype: f32, level: L1");
  expect_error({"evaluate", "s.yaml"},
               "synthetic.yaml:2:1: error: missing core_rate (of mix, f32, L2)");
  expect_error({"profile", "fit", "synthetic.yaml", "-o", "x.yaml"},
               "synthetic.yaml:2:9: error: invalid schema 'depthcost-profile/1' (must be "
               "depthcost-samples/1: what scripts/measure writes)");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.yaml")));
}

TEST_F(ProfileCommand, FitDoesNotOverwriteItsSamplesNorWhatIsNoFile) {
  expect_error({"profile", "fit", "synthetic.samples.json", "-o", "./synthetic.samples.json"},
               "./synthetic.samples.json:1:1: error: cannot write the file (it holds the samples)");
  EXPECT_EQ(mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  expect_error({"profile", "fit", "synthetic.samples.json", "-o", "pipe"},
               "./pipe:1:1: error: cannot write the file (not a regular file)");
  std::filesystem::create_symlink("real.yaml", folder_.path("link.yaml"));
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "link.yaml"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path("link.yaml")));
  EXPECT_EQ(run({"profile", "verify", "real.yaml"}).exit_code, 0);
}

TEST_F(ProfileCommand, FitFindsItsSamplesFromAnotherFolder) {
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "sub/p.yaml"}).exit_code, 0);
  EXPECT_EQ(run({"profile", "show", "sub/p.yaml"}).exit_code, 0);
}

TEST_F(ProfileCommand, CompareRefusesASecondMachine) {
  expect_error({"compare", "synthetic.yaml", "--hardware", "h200_sxm"},
               "compare:1:1: error: conflicting --hardware (a profile is a machine's own)");
}

TEST_F(ProfileCommand, FitCallsAStolenMeasurementInvalid) {
  change("synthetic.samples.json", "\"rounds\": 5", "\"rounds\": 4");
  const Outcome fitted = run({"profile", "fit", "synthetic.samples.json", "-o", "x.yaml"});
  EXPECT_EQ(fitted.exit_code, 3);
  EXPECT_EQ(fitted.errors,
            "synthetic.samples.json:1:1: error: invalid samples (4 good rounds of 5: time was "
            "stolen from the others; measure again)\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.yaml")));
}

TEST_F(ProfileCommand, FitCallsAThrottledMeasurementInvalid) {
  change("synthetic.samples.json", "\"throttled_percent\": 0.0", "\"throttled_percent\": 12.5");
  const Outcome fitted = run({"profile", "fit", "synthetic.samples.json", "-o", "x.yaml"});
  EXPECT_EQ(fitted.exit_code, 3);
  EXPECT_EQ(
      fitted.errors,
      "synthetic.samples.json:1:1: error: invalid samples (12 % of the runs had a clock below "
      "nine tenths of the usual; measure again)\n");
}

TEST_F(ProfileCommand, CompareHoldsEveryKernelAgainstItsProfile) {
  const Outcome compared = run({"compare", "synthetic.yaml"});
  EXPECT_EQ(compared.exit_code, 0) << compared.output;
  EXPECT_NE(compared.output.find("40 cases: median |error| "), std::string::npos);
}

TEST_F(ProfileCommand, CompareSkipsTheSamplesOfAnotherMachine) {
  change("synthetic.samples.json", "Synthetic CPU, 1 thread", "Another CPU, 1 thread");
  const Outcome compared =
      run({"compare", "synthetic.samples.json", "--hardware", "synthetic.yaml"});
  EXPECT_EQ(compared.exit_code, 77);
  EXPECT_EQ(compared.errors,
            "synthetic.samples.json: skipped: measured on Another CPU, 1 thread, the profile on "
            "Synthetic CPU, 1 thread\n");
}

TEST(Readme, ShowsHowWellTheShippedProfilePredicts) {
  const Outcome shown = run_program(
      {.arguments = {"profile", "show", "scenarios/profiles/xeon_emerald_rapids_vm.yaml"},
       .folder = kRoot});
  const std::string accuracy = shown.output.substr(0, shown.output.find("\nlevel "));
  expect_blocks(kRoot + "README.md", {{"accuracy", "\n```text\n" + accuracy + "```\n\n"}});
}

TEST(Readme, ShowsWhatASchemeAddsToAStep) {
  const Outcome compared =
      run_program({.arguments = {"compare", "scenarios/profiles/xeon_emerald_rapids_vm.yaml",
                                 "--format", "markdown"},
                   .folder = kRoot});
  const auto title = compared.output.find("## Added to a step");
  const auto begin = compared.output.find("|", title);
  const auto end = compared.output.find("\n\n", begin);
  ASSERT_NE(title, std::string::npos);
  const std::string table = compared.output.substr(begin, end - begin);
  expect_blocks(kRoot + "README.md", {{"steps", "\n" + table + "\n\n"}});
}

TEST_F(ProfileCommand, ShowDrawsWhatThereIsToBeDrawn) {
  const Outcome shown = run({"profile", "show", "synthetic.yaml", "-o", "plots"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  if (shown.output.find("No plots: gnuplot is not installed") != std::string::npos)
    GTEST_SKIP() << "no gnuplot";
  for (const char* plot : {"roofs", "residuals", "transition"})
    EXPECT_NE(
        content_of(folder_.path(std::string("plots/synthetic-") + plot + ".svg")).find("<svg"),
        std::string::npos);
}

TEST_F(ProfileCommand, AScenarioMayNameAProfile) {
  folder_.written("s.yaml",
                  "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 4096, dtype: bf16}\n"
                  "hardware: synthetic.yaml\nresidual: {scheme: mhc}\n"
                  "workload: {prefill: {tokens: 2048}}\n");
  const Outcome evaluated = run({"evaluate", "s.yaml", "--format", "json"});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.errors;
  EXPECT_NE(evaluated.output.find("profile measured on 2026-11-20"), std::string::npos);
}

/// Reports of a scenario on some hardware, from their heading to the next.
class MeasuredInReport : public ProfileCommand {
 protected:
  std::string section(const std::string& hardware, const std::string& schemes) const {
    folder_.written("s.yaml",
                    "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 4096, dtype: bf16}\n"
                    "hardware: " +
                        hardware + "\nresidual: " + schemes +
                        "\nworkload: {decode: {sequences: [1, 64]}, prefill: {tokens: 2048}}\n");
    // Without gnuplot, which nothing here needs.
    const Outcome reported = run_program({.arguments = {"report", "s.yaml", "-o", "."},
                                          .folder = folder_.path(),
                                          .path = folder_.path()});
    EXPECT_EQ(reported.exit_code, 0) << reported.errors;
    const std::string report = content_of(folder_.path("s.md"));
    const auto start = report.find("\n## Measured beside predicted\n");
    if (start == std::string::npos) return "";
    return report.substr(start, report.find("\n\n\n## ", start) - start);
  }
};

const std::string kTrust =
    "\n- 30 `calibration` kernels: median |error| 0.32 %, 90th percentile 0.70 %, worst 0.87 %"
    "\n- 10 `held_out` kernels: median |error| 0.44 %, 90th percentile 0.71 %, worst 0.79 %"
    "\n- the 90 % interval holds 92.5 % [80.1, 97.4] of 40 cases that it was not made from";

TEST_F(MeasuredInReport, ShowsTheNearestKernelsAndWhatTheProfileIsWorth) {
  EXPECT_EQ(
      section("synthetic.yaml", "{scheme: mhc}"),
      "\n## Measured beside predicted\n\nThe hardware is a machine's own profile, of "
      "synthetic.samples.json (2026-11-20, kernels synthetic). Kernels alone, cold: for each "
      "operation of each scheme in its quoted schedule, the measured call whose tokens, width "
      "and d-vectors read and written are nearest. Error: measured / predicted - 1. The kernels "
      "were never fitted.\n\n"
      "| measured call | measured | predicted [90 %] | error |\n"
      "| --- | ---: | ---: | ---: |\n"
      "| `mhc_post/m:4/bf16/T:2048/d:4096/stream/cold` | 13.4 ms | 13.4 ms [13.2, 13.5] | "
      "+0.29 % |\n"
      "\n- not measured: `mhc_pre`" +
          kTrust);
}

TEST_F(MeasuredInReport, IsThereForAProfileAlone) {
  EXPECT_EQ(section("h200_sxm", "{scheme: mhc}"), "");
  EXPECT_EQ(section("{base: h200_sxm, memory_bandwidth: 4 TB/s}", "{scheme: mhc}"), "");
}

TEST_F(MeasuredInReport, TakesTheProfilesOwnSamplesOrNone) {
  change("synthetic.samples.json", "2026-11-20", "2026-11-22");
  std::filesystem::rename(folder_.path("synthetic.samples.json"),
                          folder_.path("mine.samples.json"));
  ASSERT_EQ(run({"profile", "fit", "mine.samples.json", "-o", "mine.yaml"}).exit_code, 0);
  const std::string head =
      "\n## Measured beside predicted\n\nThe hardware is a machine's own profile, of "
      "mine.samples.json (2026-11-22, kernels synthetic). ";
  const std::string with = section("mine.yaml", "{scheme: mhc}");
  EXPECT_TRUE(with.starts_with(head + "Kernels alone, cold: ")) << with;
  change("mine.samples.json", "2026-11-22", "2026-11-23");
  EXPECT_EQ(section("mine.yaml", "{scheme: mhc}"),
            head +
                "No kernel is shown: the samples that the profile was made from are not there.\n" +
                kTrust);
}

/// By the name of a shipped profile: its samples are part of the program.
TEST_F(MeasuredInReport, SaysWhatCompareSays) {
  const std::string shown =
      section("xeon_emerald_rapids_vm",
              "{scheme: block_attnres, block_size: 4, compare: [standard, mhc, full_attnres]}");
  const Outcome compared = run({"compare", kRoot + "scenarios/profiles/xeon_emerald_rapids_vm.yaml",
                                "--format", "markdown"});
  std::istringstream lines(shown);
  std::map<std::string, int> num_rows;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const auto end = line.find('`', 3);
    const std::string call = line.substr(3, end - 3);
    ++num_rows[call.substr(0, call.find('/'))];
    EXPECT_NE(compared.output.find("/" + call + line.substr(end + 1)), std::string::npos) << line;
  }
  const std::map<std::string, int> expected{
      {"attnres_single_pass", 7}, {"mhc_post", 3}, {"mhc_pre", 3}, {"residual_add_rmsnorm", 3}};
  EXPECT_EQ(num_rows, expected) << shown;
  EXPECT_EQ(shown.find("not measured"), std::string::npos) << shown;
}

}  // namespace
}  // namespace depthcost::test::profile_test
