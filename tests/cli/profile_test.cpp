// `profile`, and `compare` with profiles: exit codes, and the whole text of errors.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profile/kernel_sources.hpp"
#include "tests/cli/profile_files.hpp"
#include "tests/documents.hpp"
#include "tests/parsed_json.hpp"

namespace depthcost::test::profile_test {
namespace {

/// Commands that read a profile and its samples.
const std::vector<std::vector<std::string>> kReaders{
    {"profile", "show"}, {"profile", "verify"}, {"compare"}};

std::vector<std::string> with_profile(std::vector<std::string> command) {
  command.emplace_back("synthetic.yaml");
  return command;
}

class ProfileCommand : public ProfileFiles {};

TEST_F(ProfileCommand, FitsWhatVerifyThenHolds) {
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "again.yaml"}).exit_code, 0);
  EXPECT_EQ(content_of(folder_.path("again.yaml")), content_of(folder_.path("synthetic.yaml")));
  const Outcome verified = run({"profile", "verify", "again.yaml"});
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_EQ(verified.output, "again.yaml: holds\n");
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
               "synthetic.yaml:2:9: error: invalid schema 'depthcost-profile/2' (must be "
               "'depthcost-profile/1')");
  change("synthetic.yaml", "depthcost-profile/2", "depthcost-profile/1");
  change("synthetic.yaml", "{primitive: mix, dtype: f32, level: L2",
         "{primitive: mix, dtype: f32, level: L1");
  expect_error({"evaluate", "s.yaml"},
               "synthetic.yaml:2:1: error: missing core_rate (of mix, f32, L2)");
  expect_error({"profile", "fit", "synthetic.yaml", "-o", "x.yaml"},
               "synthetic.yaml:1:1: error: malformed JSON (invalid literal)");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.yaml")));
}

TEST_F(ProfileCommand, FitDoesNotOverwriteItsSamplesNorWhatIsNoFile) {
  const std::string samples = content_of(folder_.path("synthetic.samples.json"));
  folder_.written("s.yaml", samples);
  expect_error({"profile", "fit", "s.yaml", "-o", "s.yaml"},
               "./s.yaml:1:1: error: cannot write the file (it is read, too)");
  EXPECT_EQ(content_of(folder_.path("s.yaml")), samples);
  expect_error(
      {"profile", "fit", "s.yaml", "-o", "mine.json"},
      "--output:1:1: error: invalid value 'mine.json' (must end in .yaml or .yml, by which "
      "compare knows a profile)");
  EXPECT_EQ(mkfifo(folder_.path("pipe.yaml").c_str(), 0600), 0);
  expect_error({"profile", "fit", "synthetic.samples.json", "-o", "pipe.yaml"},
               "./pipe.yaml:1:1: error: cannot write the file (not a regular file)");
  std::filesystem::create_symlink("real.yaml", folder_.path("link.yaml"));
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "link.yaml"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path("link.yaml")));
  EXPECT_EQ(run({"profile", "verify", "real.yaml"}).exit_code, 0);
}

TEST_F(ProfileCommand, FitFindsItsSamplesFromAnotherFolder) {
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "sub/p.yaml"}).exit_code, 0);
  EXPECT_EQ(run({"profile", "show", "sub/p.yaml"}).exit_code, 0);
  EXPECT_EQ(run({"profile", "verify", "sub/p.yaml"}).output, "sub/p.yaml: holds\n");
}

TEST_F(ProfileCommand, FitRefusesSamplesWhosePathNoFileHolds) {
  std::filesystem::copy_file(folder_.path("synthetic.samples.json"), folder_.path("a\nb.json"));
  expect_error({"profile", "fit", "a\nb.json", "-o", "x.yaml"},
               "a\\x0Ab.json:1:1: error: invalid samples (no profile can be read that is made from "
               "them: invalid samples.file 'a\\x0Ab.json' (holds a control character))");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.yaml")));
}

TEST_F(ProfileCommand, RefusesAPartThatIsNoPresetOrAnotherKinds) {
  const auto fit_with = [](const std::string& part) {
    return std::vector<std::string>{"profile", "fit",   "synthetic.samples.json", "--part", part,
                                    "-o",      "x.yaml"};
  };
  const std::string unknown =
      "error: unknown part 'nothere' (must be a hardware preset; 'depthcost presets list' shows "
      "them)";
  const std::string gpu =
      "error: invalid part 'h200_sxm' (a gpu's preset, and what was measured is a cpu)";
  expect_error(fit_with("nothere"), "--part:1:1: " + unknown);
  expect_error(fit_with("h200_sxm"), "--part:1:1: " + gpu);
  folder_.written("h200_sxm.yaml", "");
  expect_error(fit_with("./h200_sxm.yaml"),
               "--part:1:1: error: unknown part './h200_sxm.yaml' (must be a hardware preset; "
               "'depthcost presets list' shows them)");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.yaml")));
  change("synthetic.yaml", "threads: 1\n", "part: nothere\nthreads: 1\n");
  for (const auto& command : kReaders)
    expect_error(with_profile(command), "synthetic.yaml:7:7: " + unknown);
  change("synthetic.yaml", "part: nothere", "part: h200_sxm");
  for (const auto& command : kReaders)
    expect_error(with_profile(command), "synthetic.yaml:7:7: " + gpu);
}

TEST_F(ProfileCommand, RefusesABrokenProfileWhoeverReadsIt) {
  const std::string whole = content_of(folder_.path("synthetic.yaml"));
  folder_.written("synthetic.yaml", whole.substr(0, whole.find("launch_floor:")));
  for (const auto& command : kReaders)
    expect_error(with_profile(command),
                 "synthetic.yaml:2:1: error: missing key 'launch_floor' (no launch is free)");
  folder_.written("synthetic.yaml", whole);
  change("synthetic.yaml", "{low: 0.992133, high: 1.00672}", "{low: 1.2, high: 0.9}");
  for (const auto& command : kReaders)
    expect_error(with_profile(command),
                 "synthetic.yaml:10:17: error: invalid residual (1 does not lie between low and "
                 "high)");
}

TEST_F(ProfileCommand, SkipsTheSamplesOfAnotherMachineWhoeverReadsThem) {
  change("synthetic.yaml", "name: \"Synthetic", "name: \"Another");
  for (const auto& command : kReaders) {
    const Outcome outcome = run(with_profile(command));
    EXPECT_EQ(outcome.exit_code, 77);
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors,
              "synthetic.samples.json: skipped: measured on Synthetic CPU, 1 thread, the profile "
              "on Another CPU, 1 thread\n");
  }
}

TEST_F(ProfileCommand, VerifyKeepsWhatItHasFound) {
  std::filesystem::copy_file(folder_.path("synthetic.yaml"), folder_.path("good.yaml"));
  change("synthetic.yaml", "core_form: passes", "core_form: max");
  const Outcome verified =
      run({"profile", "verify", "missing.yaml", "synthetic.yaml", "good.yaml"});
  EXPECT_EQ(verified.exit_code, 2);
  EXPECT_EQ(verified.output,
            "synthetic.yaml:51: core_form is max, the samples give passes\n"
            "synthetic.yaml: does not hold\ngood.yaml: holds\n");
  EXPECT_EQ(verified.errors,
            "missing.yaml:1:1: error: cannot read the file (no such file or directory)\n");
}

TEST_F(ProfileCommand, ShowsWhatStandsInTheProfile) {
  change("synthetic.yaml", "noise: 1.10267 %", "noise: 12 %");
  const std::string text = content_of(folder_.path("synthetic.yaml"));
  const auto record = text.find("  - {level: L3, threads: 0, reads: 8,");
  const auto next = text.find('\n', record) + 1;
  change("synthetic.yaml", text.substr(record, next - record), "");
  const Outcome shown = run({"profile", "show", "synthetic.yaml"});
  EXPECT_TRUE(shown.output.starts_with(
      "Synthetic CPU, 1 thread\ncpu, measured on 2026-11-20; noise 12.0 %; write-allocate ratio "
      "0.946\n\nStale: the sources of the measured kernels have changed since.\n\nceilings "))
      << shown.output;
  for (const char* line : {
           "\nL3      as kernels  8:1           0         left out: 1.2 % wide    cpu/ceiling/",
           "\ngraph_pdl    memory       50 ns [49.8, 50.2]  119 ns [119, 120]\n",
           "\n              1.000 GB        100 %\n",
           "\nThe form is passes, 20.7 % of the shorter of core and memory exposed.\n",
       })
    EXPECT_NE(shown.output.find(line), std::string::npos) << line << shown.output;
}

TEST_F(ProfileCommand, CompareRefusesASecondMachine) {
  expect_error({"compare", "synthetic.yaml", "--hardware", "h200_sxm"},
               "compare:1:1: error: conflicting --hardware (a profile has its own machine)");
}

TEST_F(ProfileCommand, FitCallsAMeasurementWithoutAllItsRoundsInvalid) {
  change("synthetic.samples.json", "\"rounds\": 5", "\"rounds\": 4");
  const Outcome fitted = run({"profile", "fit", "synthetic.samples.json", "-o", "x.yaml"});
  EXPECT_EQ(fitted.exit_code, 3);
  EXPECT_EQ(fitted.errors,
            "synthetic.samples.json:1:1: error: invalid samples (4 good rounds of 5: a "
            "program failed in the others; measure again)\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.yaml")));
}

TEST_F(ProfileCommand, ReadsSamplesOfABusyMachine) {
  change("synthetic.samples.json", "\"disturbed_percent\": 0.0", "\"disturbed_percent\": 30.0");
  EXPECT_EQ(run({"profile", "fit", "synthetic.samples.json", "-o", "x.yaml"}).exit_code, 0);
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

// A driver says "NVIDIA H200" of what a preset calls "NVIDIA H200 SXM".
TEST_F(ProfileCommand, CompareHoldsSamplesOfAModuleToItsPreset) {
  const Outcome compared =
      run({"compare", DEPTHCOST_SOURCE_DIR "/scenarios/profiles/h200_vm.samples.json", "--hardware",
           "h200_sxm"});
  EXPECT_EQ(compared.errors, "");
  EXPECT_NE(compared.exit_code, 77);
  EXPECT_TRUE(compared.output.starts_with("h200_vm.samples.json against h200_sxm\n"))
      << compared.output;
  EXPECT_EQ(run({"compare", DEPTHCOST_SOURCE_DIR "/scenarios/profiles/h200_vm.samples.json",
                 "--hardware", "h100_sxm"})
                .exit_code,
            77);
}

TEST_F(ProfileCommand, CompareWritesOverNothingThatItReads) {
  folder_.written("rules.yaml", content_of(kRoot + "scenarios/tolerances/samples.yaml"));
  for (const std::string file : {"synthetic.yaml", "synthetic.samples.json", "rules.yaml"}) {
    const std::string before = content_of(folder_.path(file));
    expect_lost_file(
        run({"compare", "synthetic.yaml", "--tolerances", "rules.yaml", "--junit", file}),
        "./" + file + ":1:1: error: cannot write the file (it is read, too)");
    EXPECT_EQ(content_of(folder_.path(file)), before);
  }
}

TEST_F(ProfileCommand, BadInputIsSeenBeforeAnotherMachineOrNoMeasurement) {
  const std::string missing = ":1:1: error: cannot read the file (no such file or directory)";
  expect_error({"compare", "synthetic.samples.json", "--hardware", "h200_sxm", "--tolerances",
                "missing.yaml"},
               "missing.yaml" + missing);
  change("synthetic.samples.json", "\"rounds\": 5", "\"rounds\": 4");
  expect_error({"compare", "synthetic.yaml", "--tolerances", "missing.yaml"},
               "missing.yaml" + missing);
  const Outcome fitted =
      run({"profile", "fit", "synthetic.samples.json", "--part", "nothere", "-o", "x.yaml"});
  EXPECT_EQ(fitted.exit_code, 2);
  EXPECT_TRUE(fitted.errors.starts_with("--part:1:1: error: ")) << fitted.errors;
}

TEST_F(ProfileCommand, CompareRefusesSamplesThatTheProfileWasNotMadeFrom) {
  const std::string fit_again = ": fit its profile again)";
  change("synthetic.yaml", "hash: \"", "hash: \"0");
  const std::string stored = content_of(folder_.path("synthetic.yaml"));
  const std::string hash = stored.substr(stored.find("hash: \"") + 8, 16);
  expect_error({"compare", "synthetic.yaml", "--junit", "it.xml"},
               "synthetic.yaml:6:49: error: invalid samples.hash '0" + hash +
                   "' (synthetic.samples.json has '" + hash + "'" + fit_again);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("it.xml")));
  change("synthetic.yaml", "hash: \"0", "hash: \"");
  change("synthetic.yaml", "kernels: \"synthetic\"", "kernels: \"others\"");
  expect_error({"compare", "synthetic.yaml"},
               "synthetic.yaml:6:78: error: invalid samples.kernels 'others' "
               "(synthetic.samples.json has 'synthetic'" +
                   fit_again);
}

TEST_F(ProfileCommand, CompareSaysThatKernelsHaveChangedSinceTheProfile) {
  change("synthetic.samples.json", "\"kernels_hash\": \"synthetic\"", "\"kernels_hash\": \"new\"");
  for (const char* format : {"table", "markdown", "json"}) {
    const Outcome compared = run(
        {"compare", "synthetic.samples.json", "--hardware", "synthetic.yaml", "--format", format});
    EXPECT_EQ(compared.exit_code, 0) << compared.errors;
    EXPECT_NE(compared.output.find("The kernels have changed: measured are 'new', the profile was "
                                   "made on 'synthetic'."),
              std::string::npos)
        << compared.output;
  }
  EXPECT_EQ(run({"compare", kSynthetic + ".yaml"}).output.find("The kernels have changed"),
            std::string::npos);
}

TEST_F(ProfileCommand, FitAndCompareSayThatAnIntervalDoesNotHold) {
  auto json = parsed_json(content_of(folder_.path("synthetic.samples.json")));
  for (auto& kernel : json["kernels"])
    if (kernel["hidden_size"] == 5120)
      for (auto& seconds : kernel["seconds"]) seconds = 2 * seconds.get<double>();
  folder_.written("synthetic.samples.json", json.dump(1));
  const std::string warning =
      "The interval does not hold 90 %: of cases that it was not fitted to, it holds 54.6 % to 81.9 %.\n";
  const Outcome fitted = run({"profile", "fit", "synthetic.samples.json", "-o", "synthetic.yaml"});
  EXPECT_EQ(fitted.exit_code, 0) << fitted.errors;
  EXPECT_NE(fitted.output.find(warning), std::string::npos) << fitted.output;
  const Outcome compared = run({"compare", "synthetic.yaml"});
  EXPECT_NE(compared.output.find(warning), std::string::npos) << compared.output;
}

TEST_F(ProfileCommand, BothBackendsOfAMachineAreComparedApart) {
  change("synthetic.samples.json", "\"device\": \"\"", "\"device\": \"GPU\"");
  change(
      "synthetic.samples.json", "\"kernels\": [\n",
      "\"kernels\": [\n  {\"name\":\"cuda/mhc_post/bf16/T:8/d:8/graph/cold\",\"backend\":\"cuda\","
      "\"operation\":\"mhc_post\",\"dtype\":\"bf16\",\"tokens\":8,\"hidden_size\":8,\"sources\":1,"
      "\"queries\":1,\"streams\":4,\"launch\":\"graph\",\"temperature\":\"cold\",\"again\":false,"
      "\"mix\":[5,4,4],\"bytes\":1,\"deviation\":0,\"seconds\":[1,1,1]},\n");
  const std::string left_out =
      "The kernels of the GPU are left out: profile fit without --cpu makes the profile that they "
      "are compared with.\n";
  const Outcome fitted =
      run({"profile", "fit", "--cpu", "synthetic.samples.json", "-o", "cpu.yaml"});
  EXPECT_EQ(fitted.exit_code, 0) << fitted.errors;
  EXPECT_TRUE(fitted.output.ends_with(left_out)) << fitted.output;
  EXPECT_EQ(run({"profile", "verify", "cpu.yaml"}).output, "cpu.yaml: holds\n");
  for (std::vector<std::string> what :
       {std::vector<std::string>{"compare", "cpu.yaml"},
        {"compare", "synthetic.samples.json", "--hardware", "synthetic.yaml"}}) {
    const Outcome compared = run(what);
    EXPECT_EQ(compared.exit_code, 0) << compared.errors;
    EXPECT_NE(compared.output.find("40 cases: median |error| "), std::string::npos);
    EXPECT_NE(compared.output.find(left_out), std::string::npos) << compared.output;
  }
}

// Bandwidths that are 1.3 times too high, as a wrong formula would have it.
TEST_F(ProfileCommand, CompareBlocksAWorsePredictionOfShippedSamples) {
  const std::string machine = "xeon_emerald_rapids_vm";
  std::string profile = content_of(kRoot + "scenarios/profiles/" + machine + ".yaml");
  std::filesystem::copy_file(kRoot + "scenarios/profiles/" + machine + ".samples.json",
                             folder_.path(machine + ".samples.json"));
  folder_.written("mine.yaml", profile);
  EXPECT_EQ(run({"compare", "mine.yaml"}).exit_code, 0);
  std::string faster;
  std::size_t begin = 0;
  for (std::size_t unit = profile.find(" GB/s"); unit != std::string::npos;
       unit = profile.find(" GB/s", unit + 1)) {
    const std::size_t number = profile.rfind(' ', unit - 1) + 1;
    faster += profile.substr(begin, number - begin) +
              std::to_string(1.3 * std::stod(profile.substr(number, unit - number)));
    begin = unit;
  }
  folder_.written("mine.yaml", faster + profile.substr(begin));
  const Outcome compared = run({"compare", "mine.yaml"});
  EXPECT_EQ(compared.exit_code, 1) << compared.errors;
  EXPECT_EQ(compared.output.find(" blocks 0."), std::string::npos);
  folder_.written("rules.yaml", content_of(kRoot + "scenarios/tolerances/samples.yaml"));
  EXPECT_EQ(run({"compare", "mine.yaml", "--tolerances", "rules.yaml"}).exit_code, 0);
}

const std::string kStale = "Stale: the sources of the measured kernels have changed since.";

TEST_F(ProfileCommand, MarksStaleKernelsWhereverTheirNumbersAre) {
  EXPECT_TRUE(run({"compare", "synthetic.yaml"})
                  .output.starts_with("synthetic.samples.json against synthetic.yaml\n" + kStale +
                                      "\nGates: "));
  EXPECT_TRUE(run({"compare", "synthetic.yaml", "--format", "markdown"})
                  .output.starts_with("# synthetic.samples.json against synthetic.yaml\n\n" +
                                      kStale + "\n\nGates: "));
  const Outcome json = run({"compare", "synthetic.yaml", "--format", "json", "--junit", "it.xml"});
  EXPECT_EQ(parsed_json(json.output)["stale"], kStale);
  EXPECT_NE(content_of(folder_.path("it.xml"))
                .find("<property name=\"stale\" value=\"" + kStale + "\"/>"),
            std::string::npos);
  const std::string shown = run({"profile", "show", "synthetic.yaml"}).output;
  EXPECT_NE(shown.find("\n\n" + kStale + "\n\nceilings "), std::string::npos) << shown;
  EXPECT_TRUE(run({"profile", "fit", "synthetic.samples.json", "-o", "mine.yaml"})
                  .output.starts_with(kStale + "\n\nceilings "));
}

/// The samples and the profile as if today's kernels had been measured.
TEST_F(ProfileCommand, MarksNothingOfTodaysKernels) {
  change("synthetic.samples.json", "\"kernels_hash\": \"synthetic\"",
         "\"kernels_hash\": \"" + profile::kernel_sources().cpu + "\"");
  const Outcome fitted = run({"profile", "fit", "synthetic.samples.json", "-o", "mine.yaml"});
  EXPECT_TRUE(fitted.output.starts_with("ceilings ")) << fitted.output;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"compare", "mine.yaml"},
                                                  {"compare", "mine.yaml", "--format", "markdown"},
                                                  {"profile", "show", "mine.yaml"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.output.find("Stale"), std::string::npos) << outcome.output;
  }
  const Outcome json = run({"compare", "mine.yaml", "--format", "json"});
  EXPECT_TRUE(parsed_json(json.output)["stale"].is_null());
}

/// Whoever changes a CUDA kernel writes the table again, or leaves the mark that UPDATE_GOLDEN
/// sets.
TEST(SassTable, SaysWhichSourcesItIsOf) {
  const std::string path = kRoot + "kernels/cuda/SASS.md";
  const std::string table = content_of(path);
  const std::string today = profile::kernel_sources().cuda;
  const std::string begin = "\n\nSources ";
  const std::size_t at = table.find(begin) + begin.size();
  const std::string counted = table.substr(at, today.size());
  const std::string mark = counted == today ? "." : ", **stale: the sources have changed since**.";
  expect_blocks(path, {{"sources", "\nSources " + counted + mark + "\n\n"}});
}

TEST(Handbook, ShowsHowWellTheShippedProfilesPredict) {
  std::map<std::string, std::string> blocks;
  for (const std::string machine : {"h200_vm", "epyc_turin_vm", "xeon_granite_rapids_vm",
                                    "xeon_emerald_rapids_vm", "epyc_genoa_vm"}) {
    const Outcome shown =
        run_program({.arguments = {"profile", "show", "scenarios/profiles/" + machine + ".yaml"},
                     .folder = kRoot});
    const auto begin = shown.output.find("\n\n") + 2;
    const std::string accuracy = shown.output.substr(begin, shown.output.find("\nlevel ") - begin);
    blocks["accuracy " + machine] = "\n```text\n" + accuracy + "```\n\n";
  }
  expect_blocks_of_documents(blocks);
}

TEST(H200Document, SaysHowManyKernelsAreAsPredicted) {
  const Outcome compared =
      run_program({.arguments = {"compare", "scenarios/profiles/h200_vm.yaml"}, .folder = kRoot});
  const auto begin = compared.output.find("Gates: ");
  ASSERT_NE(begin, std::string::npos);
  const auto end = compared.output.find("\n\n", begin);
  expect_blocks(
      kRoot + "kernels/cuda/H200.md",
      {{"verdicts", "\n```text\n" + compared.output.substr(begin, end - begin) + "\n```\n\n"}});
}

TEST(Handbook, ShowsWhatASchemeAddsToAStep) {
  const Outcome compared = run_program(
      {.arguments = {"compare", "scenarios/profiles/epyc_turin_vm.yaml", "--format", "markdown"},
       .folder = kRoot});
  const auto stale = compared.output.find("Stale: ");
  const std::string mark =
      stale == std::string::npos
          ? ""
          : compared.output.substr(stale, compared.output.find("\n\n", stale) - stale + 2);
  const auto title = compared.output.find("## Added to a step");
  const auto begin = compared.output.find("|", title);
  const auto end = compared.output.find("\n\n", begin);
  ASSERT_NE(title, std::string::npos);
  const std::string table = compared.output.substr(begin, end - begin);
  expect_blocks_of_documents({{"steps", "\n" + mark + table + "\n\n"}});
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

}  // namespace
}  // namespace depthcost::test::profile_test
