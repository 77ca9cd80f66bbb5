// Wrong arguments of scripts are refused before anything is installed, built or measured.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/cli/run_program.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::scripts_test {
namespace {

namespace fs = std::filesystem;

const std::string kScripts = DEPTHCOST_SOURCE_DIR "/scripts/";

class Scripts : public testing::Test {
 protected:
  /// A script that goes on where it should refuse installs and builds nothing.
  Scripts() {
    executable("bin/dpkg-query", "#!/bin/sh\necho install ok installed\n");
    for (const std::string tool : {"cmake", "clang-format", "clang-tidy"})
      executable("bin/" + tool, "#!/bin/sh\n");
  }

  Outcome run(const std::string& script, const std::vector<std::string>& arguments,
              const std::string& variable = "") const {
    return run_program({.arguments = arguments,
                        .folder = folder_.path(),
                        .variables = {"PATH=" + folder_.path("bin") + ":/usr/bin:/bin", variable},
                        .program = script});
  }

  void expect_error(const std::string& script, const std::vector<std::string>& arguments,
                    const std::string& error, const std::string& variable = "") const {
    expect_refusal(run(kScripts + script, arguments, variable), error);
  }

  void copy_scripts(const std::vector<std::string>& files) const {
    fs::create_directories(folder_.path("here/scripts"));
    for (const std::string& file : files)
      fs::copy(kScripts + file, folder_.path("here/scripts/" + file));
  }

  /// With the commands of one scenario, of some hundred, and its diff. Returns how many these are.
  int copy_compare_builds(const std::string& scenario) const {
    copy_scripts({"compare_builds", "arguments.sh"});
    folder_.written("here/" + scenario, "");
    std::istringstream lines(content_of(DEPTHCOST_SOURCE_DIR "/tests/golden/results.csv"));
    std::string table;
    int num_runs = 1;
    for (std::string line; std::getline(lines, line);) {
      const bool is_asked = line.find(scenario) != std::string::npos;
      if (table.empty() || is_asked) table += line + "\n";
      num_runs += is_asked ? 1 : 0;
    }
    folder_.written("here/tests/golden/results.csv", table);
    return num_runs;
  }

  void executable(const std::string& name, const std::string& text) const {
    ::chmod(folder_.written(name, text).c_str(), 0700);
  }

  const TemporaryFolder folder_;
};

TEST_F(Scripts, PrintTheirHelp) {
  for (const std::string script : {"measure",      "run_benchmarks", "bundle",
                                   "test",         "sanitize",       "web",
                                   "style",        "check_sass",     "release",
                                   "report",       "compare_builds", "calibrate",
                                   "h200",         "h200_steps",     "sample_limits",
                                   "cluster_test", "container_test", "fuzz",
                                   "instructions", "if_changed",     "wheel",
                                   "coverage",     "mutate"})
    for (const std::string option : {"--help", "-h"}) {
      const Outcome outcome = run(kScripts + script, {option});
      EXPECT_EQ(outcome.exit_code, 0) << script;
      EXPECT_NE(outcome.output, "") << script;
      EXPECT_EQ(outcome.output.find("set -e"), std::string::npos) << outcome.output;
      EXPECT_EQ(outcome.errors, "") << script;
    }
  EXPECT_TRUE(run(kScripts + "measure", {"--help"})
                  .output.starts_with(
                      "scripts/measure [-o | --out DIR] [--minutes N]: measures ceilings,"));
}

TEST_F(Scripts, TakeAnEmptyTextForNoValue) {
  for (const std::string option : {"--out", "-o", "--bundle"})
    expect_error("measure", {option, ""},
                 option + ":1:1: error: missing value (the text is empty)");
  expect_error("release", {""}, "FOLDER:1:1: error: missing value (the text is empty)");
  expect_error("wheel", {""}, "FOLDER:1:1: error: missing value (the text is empty)");
  expect_error("calibrate", {""}, "FOLDER:1:1: error: missing value (the text is empty)");
  expect_error("style", {""}, "BASE:1:1: error: missing value (the text is empty)");
}

TEST_F(Scripts, RefuseWhatTheyDoNotKnow) {
  expect_error("measure", {"--bundle"}, "--bundle:1:1: error: missing value (a folder)");
  expect_error("measure", {"--minutes", "0"},
               "--minutes:1:1: error: invalid value '0' (must be a whole number from 1 to 999)");
  expect_error("measure", {"--minutes", "9", "--bundle", "b"},
               "--minutes:1:1: error: conflicting --minutes (--bundle measures nothing here)");
  expect_error("measure", {"--out", "a", "--bundle", "b"},
               "--out:1:1: error: conflicting --out (--bundle measures nothing here)");
  expect_error("measure", {"--loud"},
               kScripts + "measure:1:1: error: unknown argument '--loud' (see " + kScripts +
                   "measure --help)");
  for (const std::string script : {"test", "sanitize", "coverage"})
    expect_error(script, {"one"},
                 kScripts + script + ":1:1: error: unknown argument 'one' (it takes none)");
  expect_error("release", {"--loud"}, kScripts + "release:1:1: error: unknown option '--loud'");
  expect_error("wheel", {"--loud"}, kScripts + "wheel:1:1: error: unknown option '--loud'");
  expect_error("wheel", {"a", "b"},
               kScripts + "wheel:1:1: error: unknown argument 'b' (FOLDER is the last)");
  expect_error(
      "wheel", {"dist"},
      "DEPTHCOST_PYTHON:1:1: error: invalid Python 'none' (must be 3.10 or later, with its "
      "headers and venv)",
      "DEPTHCOST_PYTHON=none");
  expect_error("calibrate", {"--loud"}, kScripts + "calibrate:1:1: error: unknown option '--loud'");
  expect_error("bundle", {"a"},
               kScripts + "bundle:1:1: error: missing arguments (PROGRAMS, DIR and a NAME)");
  expect_error("run_benchmarks", {"a"},
               kScripts + "run_benchmarks:1:1: error: missing arguments (PROGRAMS and OUT)");
  expect_error("check_sass", {}, kScripts + "check_sass:1:1: error: missing arguments (libraries)");
  expect_error("check_sass", {"none.a"}, "none.a:1:1: error: cannot be read (build it first)");
}

#ifdef DEPTHCOST_CALIBRATE
TEST_F(Scripts, CalibrateRefusesAFoldThatItDoesNotKnow) {
  const std::string known =
      "ada, b200_sxm, b300_sxm, blackwell, deepseek_v3, gb200, gb300, gpt_oss_120b, h100_sxm, h200_sxm, "
      "hopper, kimi_k2, l40s, llama_3_1_405b, llama_3_1_70b, llama_3_1_8b, qwen3_235b, qwen3_32b, all";
  const std::string tables = DEPTHCOST_SOURCE_DIR "/scenarios/published";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--names", tables, "h100_sxm", "h400"},
        std::vector<std::string>{tables, DEPTHCOST_SOURCE_DIR "/profile/calibration/start.yaml",
                                 folder_.path(), "h400"}}) {
    const Outcome outcome = run(DEPTHCOST_CALIBRATE, arguments);
    EXPECT_EQ(outcome.errors, "h400:1:1: error: unknown fold (must be " + known + ")\n");
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.exit_code, 2);
  }
  EXPECT_EQ(run(DEPTHCOST_CALIBRATE, {"--names", tables, "h100_sxm"}).output, "h100_sxm\n");
  EXPECT_EQ(run(DEPTHCOST_CALIBRATE, {"a"}).errors,
            "calibrate:1:1: error: missing arguments (TABLES, START.yaml, FOLDER and a NAME)\n");
}
#endif

TEST_F(Scripts, CompareBuildsByTheirNumbersAndExitCodesAndNotByTheirProse) {
  const int num_runs = copy_compare_builds("scenarios/kimi_k3_8xb300.yaml");
  const std::string script = folder_.path("here/scripts/compare_builds");
  const auto program = [&](const std::string& name, const std::string& text) {
    executable(name, "#!/bin/sh\n" + text + "\n");
    return folder_.path(name);
  };
  const std::string old = program("old", R"(echo '{"bytes": 8, "origin": "a file, line 1"}')");
  const std::string moved = program("moved", R"(echo '{"bytes": 8, "origin": "default"}')");
  const Outcome same = run(script, {old, moved});
  EXPECT_GT(num_runs, 10);
  EXPECT_EQ(same.output, std::to_string(num_runs) + " runs, 0 differ\n");
  EXPECT_EQ(same.exit_code, 0);

  for (const std::string text : {R"(echo '{"bytes": 9, "origin": "a file, line 1"}')",
                                 R"(echo '{"bytes": 8, "origin": "default"}'; exit 1)"}) {
    const Outcome differs = run(script, {old, program("new", text)});
    EXPECT_NE(differs.output.find("depthcost sweep scenarios/kimi_k3_8xb300.yaml --format csv\n"),
              std::string::npos)
        << differs.output;
    EXPECT_EQ(differs.exit_code, 1);
  }
  expect_error("compare_builds", {old},
               kScripts + "compare_builds:1:1: error: missing arguments (OLD and NEW)");
  expect_error("compare_builds", {old, "none"}, "none:1:1: error: cannot be run (build it first)");
}

TEST_F(Scripts, RefuseAFolderThatCannotBe) {
  const std::string file = folder_.written("file", "kept");
  for (const std::string option : {"--out", "--bundle"}) {
    expect_error("measure", {option, "file/below"},
                 "file/below:1:1: error: cannot create the folder ('file' is no folder)");
    expect_error("measure", {option, "-x"}, kScripts + "measure:1:1: error: unknown option '-x'");
  }
  expect_error("release", {file},
               file + ":1:1: error: cannot create the folder ('" + file + "' is no folder)");
  expect_error("measure", {"--out", "/proc/none"},
               "/proc/none:1:1: error: cannot create the folder ('/proc' cannot be written to)");
  EXPECT_EQ(content_of(file), "kept");
}

TEST_F(Scripts, MeasureNothingInNoRounds) {
  for (const std::string rounds : {"abc", "0", "-1"})
    expect_error("measure", {"--out", "new"},
                 "DEPTHCOST_ROUNDS:1:1: error: invalid value '" + rounds +
                     "' (must be a whole number from 1 to 999)",
                 "DEPTHCOST_ROUNDS=" + rounds);
  EXPECT_FALSE(fs::exists(folder_.path("new")));
}

/// A style that compares with nothing finds nothing.
TEST_F(Scripts, CompareTheStyleWithAKnownCommit) {
  if (!fs::exists(DEPTHCOST_SOURCE_DIR "/.git")) GTEST_SKIP() << "no repository";
  expect_error("style", {"no_such_branch"},
               "no_such_branch:1:1: error: unknown BASE (no commit of this repository)");
}

/// With a depthcost and benchmarks of ours: the profile can be fitted from so many rounds on.
TEST_F(Scripts, MeasureMoreRoundsUntilRatesAreSteady) {
  copy_scripts({"measure", "arguments.sh", "packages.sh"});
  folder_.written("here/scripts/cuda.sh", "has_nvcc() { return 1; }\n");
  executable("here/scripts/run_benchmarks",
             "#!/bin/sh\nmkdir -p $2\necho '\"name\": \"cpu/a\"' >$2/samples.json\n"
             "echo $DEPTHCOST_ROUNDS >>rounds\necho table of $DEPTHCOST_ROUNDS\n");
  executable("here/build/cpu/depthcost",
             "#!/bin/sh\n[ $(tail -n 1 rounds) -ge $(cat enough) ] || exit 3\n");
  const auto measured = [&](const std::string& enough) {
    fs::remove(folder_.path("here/rounds"));
    folder_.written("here/enough", enough);
    return run(folder_.path("here/scripts/measure"), {"-o", "out"}, "DEPTHCOST_ROUNDS=2");
  };
  const std::string out = folder_.path("out");
  const Outcome steady = measured("3");
  EXPECT_EQ(content_of(folder_.path("here/rounds")), "2\n3\n");
  EXPECT_EQ(steady.exit_code, 0);
  EXPECT_EQ(steady.output, "table of 3\n");
  EXPECT_EQ(steady.errors, "-> " + out + "/profile.yaml; depthcost compare " + out +
                               "/profile.yaml shows every kernel of it\n");
  const Outcome unsteady = measured("9");
  EXPECT_EQ(content_of(folder_.path("here/rounds")), "2\n3\n4\n");
  EXPECT_EQ(unsteady.exit_code, 3);
  EXPECT_EQ(unsteady.output, "table of 4\n");
  EXPECT_EQ(unsteady.errors,
            "DEPTHCOST_ROUNDS=5 scripts/measure -o " + out + " goes on with more rounds\n");
}

/// As on machines whose nvcc comes without cuobjdump.
TEST_F(Scripts, FindSpillsAndNarrowLoadsInThePtxThatTheBuildHasKept) {
  if (fs::exists("/usr/bin/cuobjdump")) GTEST_SKIP() << "cuobjdump would read the library";
  const std::string library = folder_.written("lib.a", "");
  const auto checked = [&] { return run(kScripts + "check_sass", {library}, "CUDA_HOME=none"); };
  const Outcome without_ptx = checked();
  EXPECT_EQ(without_ptx.exit_code, 77);
  EXPECT_EQ(without_ptx.errors,
            "check_sass: no cuobjdump, and no PTX beside " + library + ": skipped\n");

  fs::create_directories(folder_.path("ptx/a.cu"));
  const std::string wide = ".visible .entry copy(\n)\nld.global.v4.f32\nst.global.v4.f32\n";
  folder_.written("ptx/a.cu/a.ptx", wide);
  const Outcome sound = checked();
  EXPECT_EQ(sound.exit_code, 0);
  EXPECT_EQ(sound.output, library + ": 1 kernels\n");

  folder_.written("ptx/a.cu/a.ptx", wide + "ld.global.f32\nst.local.f32\n");
  const Outcome narrow = checked();
  EXPECT_EQ(narrow.exit_code, 1);
  EXPECT_EQ(narrow.output,
            "error: copy: 1 accesses to local memory\n"
            "error: copy: 1 loads of less than 16 bytes\n" +
                library + ": 1 kernels\n");
}

/// With a depthcost of ours.
/// Its other profiles have limits that were changed by hand, for a reason that stands there.
TEST_F(Scripts, MakeTheLimitsOfAShippedProfile) {
  const std::string machine = "xeon_granite_rapids_vm";
  const Outcome made = run_program({.arguments = {DEPTHCOST_PROGRAM, machine},
                                    .folder = DEPTHCOST_SOURCE_DIR,
                                    .program = kScripts + "sample_limits"});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_EQ(made.output,
            content_of(DEPTHCOST_SOURCE_DIR "/scenarios/tolerances/" + machine + ".yaml"));
}

TEST_F(Scripts, MakeNoLimitsOfWhatIsNotThere) {
  expect_error("sample_limits", {"depthcost"},
               kScripts +
                   "sample_limits:1:1: error: missing or unknown arguments (it takes a "
                   "program and a name)");
  expect_error("sample_limits", {"depthcost", "none"},
               "scenarios/profiles/none.yaml:1:1: error: cannot be read (run from the root of the "
               "project)");
}

TEST_F(Scripts, PrepareAGpuRunOnlyAsTheyAreTold) {
  expect_error(
      "h200", {},
      kScripts + "h200:1:1: error: missing command (bundle DIR, plan DIR, or use ARCHIVE NAME)");
  expect_error(
      "h200", {"go"},
      kScripts +
          "h200:1:1: error: unknown command 'go' (bundle DIR, plan DIR, or use ARCHIVE NAME)");
  expect_error("h200", {"plan", "none"},
               "none:1:1: error: no bundle (scripts/h200 bundle makes one)");
  expect_error("h200", {"use", "none.tar.gz", "h200", "--tree"},
               "--tree:1:1: error: missing value (a folder)");
  expect_error("h200", {"use", "none.tar.gz", "h200", "--loud"},
               "use:1:1: error: missing or unknown arguments (it takes an archive and a name)");
  expect_error("h200", {"bundle"},
               "bundle:1:1: error: missing or unknown arguments (it takes a folder)");
  expect_error("h200", {"use", "none.tar.gz", "h200"},
               "none.tar.gz:1:1: error: cannot read the file");
  expect_error("h200", {"use", "none.tar.gz", "../h200"},
               "NAME:1:1: error: invalid name '../h200' (must be small letters, digits and _)");
  folder_.written("text.tar.gz", "no archive");
  expect_error("h200", {"use", "text.tar.gz", "h200"},
               "text.tar.gz:1:1: error: no archive of DIR/run (tar cannot read it)");
}

/// A bundle whose programs are stand-ins.
class GpuRun : public Scripts {
 protected:
  GpuRun() {
    fs::create_directories(folder_.path("bundle"));
    fs::copy(kScripts + "h200_steps", folder_.path("bundle/run"));
    fs::copy(kScripts + "arguments.sh", folder_.path("bundle/arguments.sh"));
    folder_.written("bundle/version", "1234567");
  }

  Outcome run_steps(const std::vector<std::string>& arguments,
                    const std::string& variable = "") const {
    return run(folder_.path("bundle/run"), arguments, variable);
  }
};

TEST_F(GpuRun, SkipsEachStepByNameWithoutAGpu) {
  const Outcome outcome = run_steps({"-o", "out"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "identity: skipped: the GPU (no nvidia-smi, or it lists none)\n"
            "headline: skipped: no GPU\ntests: skipped: no GPU\nrounds: skipped: no GPU\n"
            "peers: skipped: no GPU\ncounters: skipped: no GPU\nmemcheck: skipped: no GPU\n"
            "races: skipped: no GPU\n-> " +
                folder_.path("out") + ".tar.gz\n");
  EXPECT_TRUE(fs::exists(folder_.path("out.tar.gz")));
  EXPECT_TRUE(content_of(folder_.path("out/identity/machine.txt")).starts_with("bundle 1234567\n"));
}

TEST_F(GpuRun, RefusesAnUnknownStep) {
  expect_refusal(run_steps({"all"}),
                 folder_.path("bundle/run") +
                     ":1:1: error: unknown step 'all' (must be one of: identity headline tests "
                     "rounds peers counters memcheck races)");
  EXPECT_FALSE(fs::exists(folder_.path("results")));
}

TEST_F(GpuRun, RunsEachPartOnceAndSaysWhatFailedAndWhatIsToGo) {
  executable("bin/nvidia-smi", "#!/bin/sh\necho GPU 0: stand-in\n");
  executable(
      "bundle/bin/kernels_cuda_device_tests",
      "#!/bin/sh\ncase \"$*\" in *list_tests*) printf 'Mhc.\\n  Pre\\n  Post\\nRows/0.\\n  Add\\n'; "
      "exit;; esac\necho $1 >>" +
          folder_.path("ran") + "\n[ $1 != --gtest_filter=Mhc.Post ]\n");
  const Outcome none = run_steps({"-o", "out", "tests"}, "DEPTHCOST_STEP_SECONDS=0");
  EXPECT_EQ(none.exit_code, 4) << none.errors;
  EXPECT_TRUE(none.output.starts_with("tests: 0 parts done, 0 failed, 3 to go: run it again\n"))
      << none.output;
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = run_steps({"-o", "out", "tests"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
    EXPECT_TRUE(outcome.output.starts_with("tests: 3 parts done, 1 failed\n")) << outcome.output;
  }
  const std::string ran = content_of(folder_.path("ran"));
  EXPECT_EQ(std::count(ran.begin(), ran.end(), '\n'), 3);
  EXPECT_TRUE(fs::exists(folder_.path("out/tests/device.Rows_0.Add.status")));
}

TEST_F(GpuRun, FailsWhereTheTestsDoNotStart) {
  executable("bin/nvidia-smi", "#!/bin/sh\necho GPU 0: stand-in\n");
  executable("bundle/bin/kernels_cuda_device_tests", "#!/bin/sh\nexit 127\n");
  const Outcome outcome = run_steps({"-o", "out", "tests"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with("tests: 1 parts done, 1 failed\n")) << outcome.output;
}

/// What the cases of a step are expected to take is counted from their names.
TEST_F(GpuRun, PrintsAPlanThatBeginsWithTheHeadline) {
  for (const char* program : {"skeletons", "ceilings", "step"})
    executable("bundle/bin/bench_" + std::string(program), "#!/bin/sh\n");
  executable("bundle/bin/bench_kernels",
             "#!/bin/sh\ncase \"$*\" in *residual_add_rmsnorm*)\n"
             "echo cuda/residual_add_rmsnorm/bf16/T:8192/d:7168/graph/cold/iterations:3\n"
             "echo cuda/residual_add_rmsnorm/bf16/T:1/d:7168/graph/hot/iterations:3\nesac\n");
  EXPECT_EQ(run_steps({"--plan", "identity", "headline", "races"}).output,
            "step                    parts  cases     time    until\n"
            "identity                    1      -      5 s      5 s\n"
            "headline                    1      2     48 s     53 s\n"
            "races                       -      -    450 s    503 s\n"
            "Times are expected, not measured. Whatever is done when the time ends is in the "
            "archive.\n");
  EXPECT_FALSE(fs::exists(folder_.path("results")));
}

/// All benchmarks have a round before any has two.
TEST_F(GpuRun, MeasuresEverythingOnceBeforeItBeginsAgain) {
  executable("bin/nvidia-smi", "#!/bin/sh\necho GPU 0: stand-in\n");
  executable("bundle/run_benchmarks",
             "#!/bin/sh\necho $DEPTHCOST_ROUNDS ${2##*/} >>" + folder_.path("made") + "\n");
  EXPECT_EQ(run_steps({"-o", "out", "rounds"}).exit_code, 0);
  EXPECT_EQ(content_of(folder_.path("made")),
            "1 machine\n1 large\n1 few\n1 step\n2 machine\n2 large\n2 few\n2 step\n"
            "3 machine\n3 large\n3 few\n3 step\n");
}

/// A benchmark that takes longer than the step is ended, and is not counted as done.
TEST_F(GpuRun, EndsAPartThatTakesTooLong) {
  executable("bin/nvidia-smi", "#!/bin/sh\necho GPU 0: stand-in\n");
  executable("bundle/run_benchmarks", "#!/bin/sh\nexec sleep 60\n");
  const Outcome outcome = run_steps({"-o", "out", "headline"}, "DEPTHCOST_STEP_SECONDS=1");
  EXPECT_EQ(outcome.exit_code, 4) << outcome.errors;
  EXPECT_TRUE(
      outcome.output.starts_with("headline: 0 parts done, 0 failed, 1 to go: run it again\n"))
      << outcome.output;
}

/// In a repository of ours, whose part reads a folder.
class IfChanged : public Scripts {
 protected:
  void SetUp() override {
    copy_scripts({"if_changed", "arguments.sh"});
    folder_.written("here/.ci/parts/page", "# its inputs\nweb  # a folder\n");
    folder_.written("here/web/page.html", "one");
    folder_.written("here/other/text", "one");
    if (run("/usr/bin/env", {"git", "-C", "here", "init", "-q"}).exit_code != 0)
      GTEST_SKIP() << "no git";
  }

  Outcome build(const std::string& command, const std::string& variable = "") const {
    return run(folder_.path("here/scripts/if_changed"), {"page", "--", "sh", "-c", command},
               variable);
  }
  bool builds(const std::string& variable = "") const {
    return build("echo built", variable).output == "built\n";
  }
};

TEST_F(IfChanged, BuildsAPartOnlyAfterItsInputsChanged) {
  EXPECT_TRUE(builds());
  const Outcome again = build("echo built");
  EXPECT_EQ(again.output,
            "page: skipped, its inputs have not changed since it was built "
            "(.ci/parts/page.built)\n");
  EXPECT_EQ(again.exit_code, 0);
  folder_.written("here/other/text", "two");
  EXPECT_FALSE(builds());
  EXPECT_TRUE(builds("DEPTHCOST_ALL_PARTS=1"));
  folder_.written("here/web/page.html", "two");
  EXPECT_TRUE(builds());
  folder_.written("here/web/new.html", "");
  EXPECT_TRUE(builds());
  fs::remove(folder_.path("here/web/new.html"));
  EXPECT_TRUE(builds());
  executable("here/web/page.html", "two");
  EXPECT_TRUE(builds());
  EXPECT_FALSE(builds());
}

TEST_F(IfChanged, BuildsAgainWhatFailed) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(build("exit 77").exit_code, 77);
  EXPECT_TRUE(builds());
}

TEST_F(IfChanged, BuildsAlwaysWithoutARepository) {
  fs::remove_all(folder_.path("here/.git"));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(builds());
}

TEST_F(IfChanged, RefusesWhatIsNoPart) {
  const std::string script = folder_.path("here/scripts/if_changed");
  expect_refusal(run(script, {}), script + ":1:1: error: missing PART (a file of .ci/parts)");
  expect_refusal(run(script, {"page"}),
                 script + ":1:1: error: missing COMMAND (what builds 'page')");
  expect_refusal(run(script, {"../page", "true"}),
                 script + ":1:1: error: invalid PART '../page' (a file of .ci/parts)");
  expect_refusal(run(script, {"none", "true"}),
                 ".ci/parts/none:1:1: error: cannot read the file (it lists the inputs of 'none', "
                 "one a line)");
  folder_.written("here/.ci/parts/page", "gone\n");
  EXPECT_EQ(build("echo built").errors,
            "fatal: pathspec 'gone' did not match any files\n"
            ".ci/parts/page:1:1: error: cannot hash the inputs (see above)\n");
}

TEST_F(Scripts, ReportWhatTheyAreAsked) {
  copy_scripts({"report", "arguments.sh", "packages.sh"});
  executable("here/build/report/depthcost",
             "#!/bin/sh\nfor word in \"$@\"; do echo \"<$word>\"; done\n");
  const auto reported = [&](const std::vector<std::string>& arguments) {
    return run(folder_.path("here/scripts/report"), arguments).output;
  };
  const std::string usual =
      "<report>\n<" + folder_.path("here/scenarios/kimi_k3_8xb300.yaml") + ">\n";
  EXPECT_EQ(reported({}), usual);
  EXPECT_EQ(reported({"-o", "there"}), usual + "<-o>\n<there>\n");
  EXPECT_EQ(reported({"mine.yaml"}), "<report>\n<mine.yaml>\n");
  EXPECT_EQ(reported({"-o", "there", "mine.yaml"}), "<report>\n<-o>\n<there>\n<mine.yaml>\n");
  EXPECT_EQ(reported({"--model", "config.json"}), "<report>\n<--model>\n<config.json>\n");
  EXPECT_EQ(reported({""}), "<report>\n<>\n") << "the program refuses an empty text";
}

TEST_F(Scripts, HaveEveryPackageInTheTableOfDependencies) {
  const std::string table = content_of(DEPTHCOST_SOURCE_DIR "/docs/pages/dependencies.md");
  const std::string lists = content_of(kScripts + "packages.sh");
  const std::regex list("packages_[a-z]+=\"([^\"]*)\"");
  std::size_t num_packages = 0;
  for (std::sregex_iterator at(lists.begin(), lists.end(), list), end; at != end; ++at) {
    std::istringstream words((*at)[1].str());
    for (std::string package; words >> package;) {
      if (package.starts_with("$")) continue;
      ++num_packages;
      EXPECT_NE(table.find("| " + package + " | "), std::string::npos)
          << package << ": run scripts/dependencies";
    }
  }
  EXPECT_GT(num_packages, 30U);
}

}  // namespace
}  // namespace depthcost::test::scripts_test
