// What a report shows of the profile that its scenario's hardware is.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "tests/cli/profile_files.hpp"

namespace depthcost::test::measured_kernels_test {
namespace {

/// Reports of a scenario on some hardware, from their heading to the next.
class MeasuredInReport : public ProfileFiles {
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
    "\n- the 90 % interval holds 90.0 % [74.4, 96.5] of 30 cases that it was not made from";

TEST_F(MeasuredInReport, ShowsTheNearestKernelsAndWhatTheProfileIsWorth) {
  EXPECT_EQ(
      section("synthetic.yaml", "{scheme: mhc}"),
      "\n## Measured beside predicted\n\nThe hardware is a machine's own profile, of "
      "synthetic.samples.json (2026-11-20, kernels synthetic). Stale: the sources of the measured "
      "kernels have changed since. Kernels alone, cold: for each "
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
      "mine.samples.json (2026-11-22, kernels synthetic). Stale: the sources of the measured kernels "
      "have changed since. ";
  const std::string with = section("mine.yaml", "{scheme: mhc}");
  EXPECT_TRUE(with.starts_with(head + "Kernels alone, cold: ")) << with;
  change("mine.samples.json", "2026-11-22", "2026-11-23");
  EXPECT_EQ(section("mine.yaml", "{scheme: mhc}"),
            head +
                "No kernel is shown: the samples that the profile was made from are not there.\n" +
                kTrust);
}

TEST_F(MeasuredInReport, RefusesWhatEveryReaderRefuses) {
  folder_.written("s.yaml",
                  "schema: depthcost/1\nmodel: {num_layers: 8, hidden_size: 4096, dtype: bf16}\n"
                  "hardware: synthetic.yaml\nresidual: {scheme: mhc}\n"
                  "workload: {prefill: {tokens: 2048}}\n");
  const std::string kernels = "kernels: \"synthetic\"";
  change("synthetic.yaml", kernels, "kernels: \"others\"");
  expect_error({"report", "s.yaml", "-o", "."},
               "synthetic.yaml:6:78: error: invalid samples.kernels 'others' "
               "(synthetic.samples.json has 'synthetic': fit its profile again)");
  change("synthetic.yaml", "kernels: \"others\"", kernels);
  change("synthetic.yaml", "name: \"Synthetic", "name: \"Another");
  const Outcome reported = run({"report", "s.yaml", "-o", "."});
  EXPECT_EQ(reported.exit_code, 77);
  EXPECT_EQ(reported.errors,
            "synthetic.samples.json: skipped: measured on Synthetic CPU, 1 thread, the profile on "
            "Another CPU, 1 thread\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("s.md")));
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
    // There, the interval is that of all kernels, and the bound stands between prediction and
    // error.
    const auto error = line.rfind(" | ", line.size() - 3);
    const auto interval = line.find(" [", end);
    const auto row = compared.output.find("/" + call + line.substr(end + 1, interval - end));
    ASSERT_NE(row, std::string::npos) << line;
    const std::string there = compared.output.substr(row, compared.output.find('\n', row) - row);
    EXPECT_NE(there.find(line.substr(error)), std::string::npos) << line << "\n" << there;
  }
  const std::map<std::string, int> expected{
      {"attnres_single_pass", 7}, {"mhc_post", 3}, {"mhc_pre", 3}, {"residual_add_rmsnorm", 3}};
  EXPECT_EQ(num_rows, expected) << shown;
  EXPECT_EQ(shown.find("not measured"), std::string::npos) << shown;
}

}  // namespace
}  // namespace depthcost::test::measured_kernels_test
