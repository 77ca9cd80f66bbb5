// Commands, exit codes, outputs that cannot be written, and what happens without gnuplot.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/parsed_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::cli_test {
namespace {

namespace fs = std::filesystem;

/// Budgets of its own; the bank takes 2.114 GB on each of eight devices.
std::string kimi(const std::string& budgets) {
  return "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\nresidual: {compare: [standard]}\n"
         "workload: {prefill: {tokens: 131072, sequence_shards: 8}}\n" +
         budgets;
}

const std::string kKept = "budgets: {prefill_bank: 2.5 GB}\n";
const std::string kBroken = "budgets: {prefill_bank: 2 GB}\n";
const std::string kUnknown = "budgets: {prefill_bank: 2.5 GB, device_memory: fits}\n";

/// A folder with scenarios that keep, break and do not know their budgets, and one that is wrong.
class Program : public testing::Test {
 protected:
  Program() {
    folder_.written("kept.yaml", kimi(kKept));
    folder_.written("broken.yaml", kimi(kBroken));
    folder_.written("unknown.yaml", kimi(kUnknown));
    folder_.written("silent.yaml", kimi(""));
    folder_.written("bad.yaml", "model: kimi_k3\n");
    folder_.written("no_programs/none", "");
  }

  /// Without any program on PATH, so that nothing is drawn.
  Outcome run(const std::vector<std::string>& arguments) const {
    return run_program(
        {.arguments = arguments, .folder = folder_.path(), .path = folder_.path("no_programs")});
  }

  void expect_error(const std::vector<std::string>& arguments, const std::string& line) const {
    expect_refusal(run(arguments), line);
  }

  std::vector<std::string> files_in(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path(name)))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  const TemporaryFolder folder_;
};

const std::string kBadLine =
    "bad.yaml:1:1: error: missing key 'schema' (the first line is 'schema: "
    "depthcost/1')";

// --- exit codes of check ---

TEST_F(Program, ChecksBudgets) {
  EXPECT_EQ(run({"check", "kept.yaml"}).exit_code, 0);
  EXPECT_EQ(run({"check", "broken.yaml"}).exit_code, 1);
  EXPECT_EQ(run({"check", "kept.yaml", "broken.yaml"}).exit_code, 1);
  EXPECT_EQ(run({"check", "unknown.yaml"}).exit_code, 1);
  EXPECT_EQ(run({"check", "unknown.yaml", "--strict"}).exit_code, 1);
  EXPECT_EQ(run({"check", "kept.yaml", "--strict"}).exit_code, 0);
  for (const auto& [file, word] : {std::pair<std::string, std::string>{"kept.yaml", "OK"},
                                   {"broken.yaml", "too much"},
                                   {"unknown.yaml", "unknown"}}) {
    const Outcome outcome = run({"check", file});
    EXPECT_EQ(outcome.errors, "");
    EXPECT_TRUE(outcome.output.starts_with(file + ": Kimi: " + word + "\n")) << outcome.output;
    EXPECT_NE(outcome.output.find("prefill_bank"), std::string::npos);
  }
}

TEST_F(Program, CannotCheckWithoutBudgets) {
  expect_error({"check", "silent.yaml"},
               "silent.yaml:1:1: error: missing key 'budgets' (a scenario without budgets cannot "
               "be checked; for example budgets: {decode_overhead: 2 %})");
}

TEST_F(Program, ChecksTheFilesBesideABadOne) {
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{"kept.yaml", "bad.yaml", "broken.yaml"},
        {"bad.yaml", "broken.yaml", "kept.yaml"}}) {
    std::vector<std::string> arguments{"check"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.errors, std::string(kBadLine) + "\n");
    EXPECT_NE(outcome.output.find("kept.yaml: Kimi: OK\n"), std::string::npos);
    EXPECT_NE(outcome.output.find("broken.yaml: Kimi: too much\n"), std::string::npos);
  }
}

TEST_F(Program, SaysWhichFileHasNothingToCheck) {
  const Outcome outcome = run({"check", "silent.yaml", "kept.yaml"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_NE(outcome.output.find("\n\nno budgets: nothing to check\n\nkept.yaml: Kimi: OK\n"),
            std::string::npos)
      << outcome.output;
}

// --- numbers ---

TEST_F(Program, EvaluatesToTheSameJsonTwice) {
  const std::vector<std::string> arguments{"evaluate", "kept.yaml", "--format", "json", "--layers"};
  const Outcome first = run(arguments);
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.errors, "");
  const auto json = parsed_json(first.output);
  for (const std::string key : {"schema_version", "program_version", "scenario", "ledger", "time"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(run(arguments).output, first.output);
  // What it says does not depend on where it runs.
  const Outcome elsewhere = run_program(
      {.arguments = {"evaluate", folder_.path("kept.yaml"), "--format", "json", "--layers"},
       .folder = "/"});
  EXPECT_EQ(elsewhere.output, first.output);
}

TEST_F(Program, EvaluatesToTablesAndCsv) {
  for (const std::string format : {"table", "csv"}) {
    const Outcome outcome = run({"evaluate", "kept.yaml", "--format", format});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.errors, "");
    EXPECT_NE(outcome.output.find("block_attnres"), std::string::npos);
  }
}

TEST_F(Program, WritesThePlanOfATrainingStep) {
  const Outcome outcome = run(
      {"evaluate", DEPTHCOST_SOURCE_DIR "/scenarios/kimi_k3_training.yaml", "--format", "plan"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const auto plan = parsed_json(outcome.output);
  EXPECT_EQ(plan["schema"], "depthcost-pipeline/1");
  EXPECT_EQ(plan["chunk_seconds"].size(), 32u);
  const Outcome without = run({"evaluate", "kept.yaml", "--format", "plan"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(without.output, "");
  EXPECT_EQ(without.errors,
            "kept.yaml:1:1: error: missing key 'workload.training.sequence_length' (a plan is of "
            "a training step)\n");
}

// --- reports ---

TEST_F(Program, ReportsWithoutGnuplot) {
  const Outcome outcome = run({"report", "kept.yaml", "-o", "a/b"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors,
            "warning: No plots: gnuplot is not installed (Debian: apt-get install gnuplot-nox).\n");
  EXPECT_EQ(files_in("a/b"), std::vector<std::string>{"kept.md"});
  EXPECT_NE(content_of(folder_.path("a/b/kept.md")).find("gnuplot-nox"), std::string::npos);
}

TEST_F(Program, WritesNothingIfGnuplotFails) {
  const std::string gnuplot =
      folder_.written("programs/gnuplot", "#!/bin/sh\necho 'line 0: broken' >&2\nexit 1\n");
  ASSERT_EQ(::chmod(gnuplot.c_str(), 0700), 0);
  const Outcome outcome = run_program({.arguments = {"report", "kept.yaml", "-o", "out"},
                                       .folder = folder_.path(),
                                       .path = folder_.path("programs")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors,
            "depthcost:1:1: error: gnuplot failed on bytes.svg (line 0: broken) (internal; please "
            "report it)\n");
  EXPECT_EQ(outcome.output, "");
  EXPECT_FALSE(fs::exists(folder_.path("out")));
}

TEST_F(Program, ReportsToTheDefaultFolder) {
  EXPECT_EQ(run({"report", "kept.yaml", "broken.yaml"}).exit_code, 0);
  EXPECT_EQ(files_in("depthcost-report"), (std::vector<std::string>{"broken.md", "kept.md"}));
}

TEST_F(Program, ReportsTheSameTwice) {
  run({"report", "kept.yaml", "-o", "one"});
  run({"report", "kept.yaml", "-o", "two"});
  EXPECT_EQ(content_of(folder_.path("one/kept.md")), content_of(folder_.path("two/kept.md")));
  EXPECT_EQ(run({"report", "kept.yaml", "-o", "one"}).exit_code, 0) << "over an older report";
}

TEST_F(Program, WritesNoReportIfOneScenarioIsBad) {
  folder_.written("out/kept.md", "older");
  expect_error({"report", "kept.yaml", "bad.yaml", "-o", "out"}, kBadLine);
  expect_error({"report", "kept.yaml", "bad.yaml", "-o", "new"}, kBadLine);
  EXPECT_EQ(files_in("out"), std::vector<std::string>{"kept.md"});
  EXPECT_EQ(content_of(folder_.path("out/kept.md")), "older");
  EXPECT_FALSE(fs::exists(folder_.path("new")));
}

TEST_F(Program, WritesNoReportsOfTheSameName) {
  folder_.written("other/kept.yaml", kimi(""));
  expect_error({"report", "kept.yaml", "other/kept.yaml", "-o", "new"},
               "other/kept.yaml:1:1: error: two reports named 'kept.md' (rename one scenario)");
  EXPECT_FALSE(fs::exists(folder_.path("new")));
}

TEST_F(Program, WritesAllReportsOrNone) {
  fs::create_directories(folder_.path("out/kept.md"));
  expect_error({"report", "broken.yaml", "kept.yaml", "-o", "out"},
               "out/kept.md:1:1: error: cannot write the file (a directory is there)");
  EXPECT_EQ(files_in("out"), std::vector<std::string>{"kept.md"});
}

TEST_F(Program, CannotReportBelowAFile) {
  expect_error({"report", "kept.yaml", "-o", "bad.yaml"},
               "bad.yaml:1:1: error: cannot create the folder (a file is there)");
  expect_error({"report", "kept.yaml", "-o", "bad.yaml/out"},
               "bad.yaml:1:1: error: cannot create the folder (a file is there)");
  expect_error({"report", "kept.yaml", "-o", "new/a\nb/" + std::string(300, 'x')},
               "new/a\\x0Ab/" + std::string(300, 'x') +
                   ":1:1: error: cannot create the folder (file name too long)");
  EXPECT_FALSE(fs::exists(folder_.path("new"))) << "folders on the way are left behind";
}

TEST_F(Program, TakesAnEmptyTextForNoValue) {
  expect_error({"report", "kept.yaml", "-o", ""},
               "--output:1:1: error: missing value (the text is empty)");
  expect_error({"mixing", "kept.yaml", "--weights", ""},
               "--weights:1:1: error: missing value (the text is empty)");
  expect_error({"check", "kept.yaml", "--junit", ""},
               "--junit:1:1: error: missing value (the text is empty)");
  expect_error({"explain", "kept.yaml", ""},
               "METRIC:1:1: error: missing value (the text is empty)");
}

/// A workflow's `--junit=${{ inputs.file }} --strict` with nothing in it: the parser took --strict
/// for the file, and nothing was strict.
TEST_F(Program, TakesNoOptionForTheEmptyValueOfAnother) {
  expect_error({"check", "kept.yaml", "--junit=", "--strict"},
               "--junit:1:1: error: missing value (the text is empty)");
  expect_error({"report", "kept.yaml", "--output=", "--quiet"},
               "--output:1:1: error: missing value (the text is empty)");
  expect_error({"sweep", "--axis=", "kept.yaml"},
               "--axis:1:1: error: missing value (the text is empty)");
  expect_error({"report", "kept.yaml", "-o="}, "-o:1:1: error: missing value (the text is empty)");
  expect_error({"check", "kept.yaml", "--junit", "--strict"},
               "--junit:1:1: error: missing value ('--strict' is an option)");
  EXPECT_FALSE(fs::exists(folder_.path("--strict")));
}

/// Names that others can guess are links to what they want overwritten.
TEST_F(Program, WritesThroughNoLinkWithAGuessedName) {
  folder_.written("victim", "mine");
  const int next = static_cast<int>(::getpid());
  for (int process = next; process < next + 3000; ++process)
    fs::create_symlink("victim", folder_.path(".depthcost." + std::to_string(process) + ".0"));
  EXPECT_EQ(run({"check", "kept.yaml", "--junit", "all.xml"}).exit_code, 0);
  EXPECT_TRUE(fs::is_regular_file(folder_.path("all.xml")));
  EXPECT_EQ(content_of(folder_.path("victim")), "mine");
}

TEST_F(Program, CannotReportIntoAReadOnlyFolder) {
  if (::geteuid() == 0) {
    // Not even root writes there.
    expect_error({"report", "kept.yaml", "-o", "/proc"},
                 "/proc/kept.md:1:1: error: cannot write the file (no such file or directory)");
    expect_error({"report", "kept.yaml", "-o", "/proc/out"},
                 "/proc/out:1:1: error: cannot create the folder (no such file or directory)");
    return;
  }
  fs::create_directories(folder_.path("closed"));
  fs::permissions(folder_.path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  expect_error({"report", "kept.yaml", "-o", "closed"},
               "closed/kept.md:1:1: error: cannot write the file (permission denied)");
  expect_error({"report", "kept.yaml", "-o", "closed/out"},
               "closed/out:1:1: error: cannot create the folder (permission denied)");
}

TEST_F(Program, LeavesNoFolderBehindIfItCannotWrite) {
  const std::string name(250, 'x');
  folder_.written(name + ".yaml", kimi(""));
  std::string deep = "new";  // a path of 4,096 characters is too long with the report's name
  for (int i = 0; i < 16; ++i) deep += "/" + std::string(240, 'd');
  const Outcome outcome = run({"report", name + ".yaml", "-o", deep});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors,
            deep + "/" + name + ".md:1:1: error: cannot write the file (file name too long)\n");
  EXPECT_FALSE(fs::exists(folder_.path("new")));
}

// --- stdout and stderr that take nothing ---

TEST_F(Program, SaysThatStdoutIsFull) {
  const std::vector<std::vector<std::string>> commands{{"evaluate", "kept.yaml"},
                                                       {"check", "broken.yaml"},
                                                       {"explain", "kept.yaml"},
                                                       {"report", "kept.yaml"},
                                                       {"presets", "list"},
                                                       {"presets", "schema"},
                                                       {"--help"},
                                                       {"--version"}};
  for (const auto& arguments : commands) {
    SCOPED_TRACE(arguments.front());
    const Outcome outcome =
        run_program({.arguments = arguments, .folder = folder_.path(), .output = "/dev/full"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.errors, "stdout:1:1: error: cannot write (no space left on device)\n");
  }
}

TEST_F(Program, KeepsItsExitCodeIfStderrIsFull) {
  EXPECT_EQ(
      run_program(
          {.arguments = {"evaluate", "bad.yaml"}, .folder = folder_.path(), .errors = "/dev/full"})
          .exit_code,
      2);
}

// --- usage ---

TEST_F(Program, HelpsWithEachCommand) {
  const std::vector<std::vector<std::string>> commands{{},
                                                       {"report"},
                                                       {"evaluate"},
                                                       {"check"},
                                                       {"compare"},
                                                       {"diff"},
                                                       {"explain"},
                                                       {"presets"},
                                                       {"presets", "list"},
                                                       {"presets", "show"},
                                                       {"presets", "lint"},
                                                       {"presets", "schema"},
                                                       {"presets", "keys"}};
  for (std::vector<std::string> arguments : commands) {
    SCOPED_TRACE(arguments.empty() ? "depthcost" : arguments.back());
    const std::string name = arguments.empty() ? "depthcost" : arguments.back();
    arguments.push_back("--help");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.errors, "");
    EXPECT_NE(outcome.output.find("Usage: "), std::string::npos);
    EXPECT_NE(outcome.output.find(name), std::string::npos);
  }
}

struct UsageCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const UsageCase& row) { return out << row.name; }

class Usage : public Program, public testing::WithParamInterface<UsageCase> {};

TEST_P(Usage, ErrorsAreOneLine) { expect_error(GetParam().arguments, GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Arguments, Usage,
    testing::ValuesIn(std::vector<UsageCase>{
        {"None", {}, "depthcost:1:1: error: missing command (see depthcost --help)"},
        {"UnknownCommand",
         {"frobnicate"},
         "depthcost:1:1: error: unknown command 'frobnicate' (see depthcost --help)"},
        {"MisspeltCommand",
         {"evalute", "kept.yaml"},
         "depthcost:1:1: error: unknown command 'evalute'; did you mean 'evaluate'? (see depthcost "
         "--help)"},
        {"CommandOnTwoLines",
         {"che\nck"},
         "depthcost:1:1: error: unknown command 'che\\x0Ack'; did you mean 'check'? (see depthcost "
         "--help)"},
        {"MisspeltSubcommand",
         {"presets", "shw"},
         "presets:1:1: error: unknown command 'shw'; did you mean 'show'? (see depthcost presets "
         "--help)"},
        {"UnknownOption",
         {"--frobnicate"},
         "depthcost:1:1: error: unknown option '--frobnicate' (see depthcost --help)"},
        {"MisspeltOption",
         {"evaluate", "kept.yaml", "--formt", "json"},
         "evaluate:1:1: error: unknown option '--formt'; did you mean '--format'? (see depthcost "
         "evaluate --help)"},
        {"NoScenario",
         {"evaluate"},
         "evaluate:1:1: error: missing SCENARIO or --model (see depthcost evaluate --help)"},
        {"NoScenarioToCheck",
         {"check", "--strict"},
         "check:1:1: error: missing SCENARIO or --model (see depthcost check --help)"},
        {"TwoScenarios",
         {"evaluate", "kept.yaml", "bad.yaml"},
         "evaluate:1:1: error: unknown argument 'bad.yaml' (see depthcost evaluate --help)"},
        {"UnknownFormat",
         {"evaluate", "kept.yaml", "--format", "xml"},
         "--format:1:1: error: invalid value 'xml' (must be table | json | csv | plan; see "
         "depthcost evaluate --help)"},
        {"TwoFormats",
         {"evaluate", "kept.yaml", "--format", "json", "--format", "csv"},
         "--format:1:1: error: more than one value (it takes one; see depthcost evaluate --help)"},
        {"UnknownShell",
         {"completion", "tcsh"},
         "SHELL:1:1: error: invalid value 'tcsh' (must be bash | zsh | fish; see depthcost "
         "completion --help)"},
        {"NumberOutOfRange",
         {"sweep", "kept.yaml", "--max-points", "0"},
         "--max-points:1:1: error: invalid value '0' (must be from 1 to 4000000; see depthcost "
         "sweep --help)"},
        {"HalfAStream",
         {"mixing", "kept.yaml", "--streams", "1.5"},
         "--streams:1:1: error: invalid value '1.5' (must be a whole number; see depthcost mixing "
         "--help)"},
        {"NoNumber",
         {"sweep", "kept.yaml", "--compute", "much"},
         "--compute:1:1: error: invalid value 'much' (must be a number; see depthcost sweep "
         "--help)"},
        {"NoFolder",
         {"report", "kept.yaml", "-o"},
         "--output:1:1: error: missing value (see depthcost report --help)"},
        {"NoPreset",
         {"presets", "show"},
         "show:1:1: error: missing ID (see depthcost presets show --help)"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(Program, NamesTheNearestPresetAndMetric) {
  expect_error({"presets", "show", "h200_sx"},
               "presets:1:1: error: unknown preset 'h200_sx'; did you mean 'h200_sxm'?");
  expect_error(
      {"explain", "kept.yaml", "ledger.block_attnres.two_phase.kernl"},
      "kept.yaml:1:1: error: unknown metric 'ledger.block_attnres.two_phase.kernl'; did "
      "you mean 'ledger.block_attnres.two_phase.kernel'? (explain without a metric lists all; "
      "those of the ledger may end in .layer_N)");
  expect_error(
      {"explain", "kept.yaml", "x\ny"},
      "kept.yaml:1:1: error: unknown metric 'x\\x0Ay' (explain without a metric lists all; those of the ledger may end in .layer_N)");
}

TEST_F(Program, ListsTheMetricsBelowABeginning) {
  const Outcome outcome = run({"explain", "kept.yaml", "ledger.block_attnres"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  std::istringstream lines(outcome.output);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(line.starts_with("ledger.block_attnres.")) << line;
  EXPECT_GT(count, 1U);
}

TEST_F(Program, ExplainsABudgetByItsName) {
  const Outcome outcome = run({"explain", "kept.yaml", "prefill_bank"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with("budgets.prefill_bank\n")) << outcome.output;
}

TEST_F(Program, SaysHowAModelIsAskedAboutWhereAScenarioIsMeant) {
  expect_error({"check", "kimi_k3"},
               "kimi_k3:1:1: error: cannot read the file (no such file; did you mean --model "
               "kimi_k3?)");
}

// --- presets ---

TEST_F(Program, ShowsAndLintsPresets) {
  const Outcome shown = run({"presets", "show", "kimi_k3"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.output,
            content_of(std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios/models/kimi_k3.yaml"));
  const Outcome lint = run({"presets", "lint"});
  EXPECT_EQ(lint.exit_code, 0) << lint.output;
  expect_error({"presets", "show", "x"},
               "presets:1:1: error: unknown preset 'x' ('depthcost presets list' shows them)");
  EXPECT_EQ(run({"presets"}).output, run({"presets", "list"}).output);
}

}  // namespace
}  // namespace depthcost::test::cli_test
