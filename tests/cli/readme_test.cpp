// Every command that the README and the handbook quote is run, and prints what they show. Commands
// that are not run, or run in another form, are in kExceptions with the reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/documents.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::readme_test {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = DEPTHCOST_SOURCE_DIR;

// --- what a document quotes ---

struct Quoted {
  std::string document;
  std::string command;
  int line = 0;
  std::string shown;  // below it; empty if nothing is
};

bool is_program(std::string_view word) {
  return word == "depthcost" || word.ends_with("/depthcost") || word.starts_with("scripts/") ||
         word.starts_with("build/") || word == ".ci/run" || word == "cmake" || word == "time";
}

/// "source <(depthcost completion bash)" is one too.
bool is_command(std::string text) {
  if (text.starts_with("source <(")) text.erase(0, text.find('(') + 1);
  return is_program(text.substr(0, text.find(' ')));
}

/// Commands in a line of prose: `depthcost ...` with arguments, or a script.
std::vector<std::string> commands_in_prose(const std::string& line) {
  std::vector<std::string> commands;
  for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at + 1)) {
    const std::size_t end = line.find('`', at + 1);
    if (end == std::string::npos) break;
    const std::string span = line.substr(at + 1, end - at - 1);
    const bool is_name_alone = span.find(' ') == std::string::npos && span.ends_with("depthcost");
    if (is_command(span) && !is_name_alone) commands.push_back(span);
    at = end;
  }
  return commands;
}

/// "- run: depthcost check" in a workflow, "$ depthcost" in a console: the command.
std::string without_prompt(std::string line) {
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string prompt : {"- ", "run: ", "entry: ", "$ "})
    if (line.starts_with(prompt)) line.erase(0, prompt.size());
  return line;
}

/// Commands in order, each with what is shown below it: a fenced text, the lines of a console, or
/// what stands between marks.
class Reader {
 public:
  explicit Reader(const std::string& text, std::string document = "")
      : document_(std::move(document)) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      if (line.starts_with("```"))
        fence(line.substr(3));
      else if (in_fence_)
        inside(line);
      else
        outside(line);
    }
  }

  std::vector<Quoted> commands;
  std::vector<std::string> scenarios;  // fenced YAML

 private:
  void fence(const std::string& language) {
    in_fence_ = !in_fence_;
    if (!in_fence_) return;
    language_ = language;
    if (language_ == "yaml") scenarios.emplace_back();
  }

  void inside(const std::string& line) {
    if (language_ == "text") return show(line);
    if (language_ == "yaml") scenarios.back() += line + "\n";
    const bool is_output = language_ == "console" && !line.starts_with("$ ");
    if (is_output) return show(line);
    if (is_command(without_prompt(line))) add(without_prompt(line));
  }

  void outside(const std::string& line) {
    // No command prints these lines: tests/reports/documents/readme_test.cpp and
    // tests/microbench/results/kernels_readme_test.cpp make them.
    if (line.starts_with("<!-- begin "))
      in_marks_ = line != "<!-- begin trust -->" && line != "<!-- begin kernels -->" &&
                  line != "<!-- begin unmodelled -->";
    if (line.starts_with("<!-- end ")) in_marks_ = false;
    if (line.starts_with("<!--")) return;
    if (line.starts_with("    ")) return add(line.substr(4));
    if (in_marks_ && !line.empty()) show(line);
    for (const std::string& command : commands_in_prose(line)) add(command);
  }

  void add(std::string command) {
    const std::size_t remark = command.find(" #");
    if (remark != std::string::npos) command.erase(command.find_last_not_of(' ', remark) + 1);
    commands.push_back({document_, command, number_, {}});
  }
  void show(const std::string& line) {
    if (!commands.empty()) commands.back().shown += line + "\n";
  }

  std::string document_;
  int number_ = 0;
  bool in_fence_ = false;
  bool in_marks_ = false;
  std::string language_;
};

// --- how its commands are run ---

/// How what is shown is found in what is printed.
enum class Shown {
  whole,      // nothing is left out; a line "..." stands for any number of lines
  lines,      // each of its lines is printed, others too
  elsewhere,  // another test makes it
};

struct Exception {
  std::string command;
  std::string why;
  std::string instead;  // what is run; nothing if empty
  Shown shown = Shown::whole;
  int exit_code = 0;
};

const std::string kClaims = "depthcost report scenarios/claims/*.yaml";
const std::string kTurin = "scenarios/profiles/epyc_turin_vm.yaml";
const std::string kXeon = "scenarios/profiles/xeon_granite_rapids_vm.yaml";
const std::string kEmerald = "scenarios/profiles/xeon_emerald_rapids_vm.yaml";
const std::string kH200 = "scenarios/profiles/h200_vm.yaml";
const std::string kEpyc = "scenarios/profiles/epyc_genoa_vm.yaml";

const std::string kPythonQuestion =
    "--model llama_3_1_70b --hardware h100_sxm --tensor 8 --residual block_attnres --block-size 16";

const std::string kWorkflow = "in a tree of its own: tests/cli/ci_snippets_test.cpp";

const std::vector<Exception> kExceptions{
    {"scripts/report", "sets up and builds; the README shows the document, not the terminal",
     "depthcost report scenarios/kimi_k3_8xb300.yaml >out && cat depthcost-report/*b300*.md out",
     Shown::lines},
    {"scripts/report my_scenario.yaml", "sets up and builds", "depthcost report my_scenario.yaml"},
    {"build/report/depthcost report scenarios/claims/*.yaml",
     "the table has a line of each report: tests/reports/documents/readme_test.cpp", kClaims,
     Shown::elsewhere},
    {"build/report/depthcost compare --published",
     "as Markdown, and of the cases those that are promised",
     "depthcost compare --published --format markdown", Shown::lines},
    {"build/cpu/depthcost compare", "the machine's profile is one that is shipped",
     "depthcost compare"},
    {"build/report/depthcost profile show " + kTurin, "ceilings and rates are left out",
     "depthcost profile show " + kTurin, Shown::lines},
    {"build/report/depthcost profile show " + kXeon, "ceilings and rates are left out",
     "depthcost profile show " + kXeon, Shown::lines},
    {"build/report/depthcost profile show " + kEmerald, "ceilings and rates are left out",
     "depthcost profile show " + kEmerald, Shown::lines},
    {"build/report/depthcost profile show " + kH200, "ceilings and rates are left out",
     "depthcost profile show " + kH200, Shown::lines},
    {"build/report/depthcost profile show " + kEpyc, "ceilings and rates are left out",
     "depthcost profile show " + kEpyc, Shown::lines},
    {"build/report/depthcost compare " + kTurin, "as Markdown, and without the kernels",
     "depthcost compare " + kTurin + " --format markdown", Shown::lines},
    {"build/report/depthcost evaluate scenarios/kimi_k3_training.yaml", "named without its output",
     "depthcost evaluate scenarios/kimi_k3_training.yaml"},
    {"depthcost/build/report/depthcost check scenarios/*.yaml --github --junit "
     "depthcost-report/junit.xml",
     kWorkflow, "", Shown::elsewhere},
    {"depthcost/build/report/depthcost evaluate scenarios/serving.yaml --format json > "
     "depthcost-report/new.json",
     kWorkflow, "", Shown::elsewhere},
    {"depthcost/build/report/depthcost diff expected.json depthcost-report/new.json --tolerance 1% "
     "--format markdown >> \"$GITHUB_STEP_SUMMARY\"",
     kWorkflow, "", Shown::elsewhere},
    {"source <(depthcost completion bash)", "tests/cli/completion_test has bash do it",
     "depthcost completion bash"},
    {"scripts/measure", "measures for minutes", ""},
    {"scripts/h200 bundle DIR", "needs nvcc: tests/cli/scripts_test runs its steps", ""},
    {"scripts/h200 plan DIR", "needs a bundle: tests/cli/scripts_test has one", ""},
    {"scripts/h200 use ARCHIVE NAME --part h200_sxm",
     "tests/microbench/bench/gpu_archive_test does, on a fixture", ""},
    {"scripts/release", "builds for minutes: tests/install/ configures it and runs the program",
     ""},
    {"scripts/test", "runs this test", ""},
    {"scripts/measure --bundle DIR", "builds for minutes", ""},
    {"scripts/measure --bundle bundle", "builds for minutes", ""},
    {"scripts/cluster/merge build/report/depthcost fleet 16 fleet.yaml --part h100_sxm",
     "needs what a fleet has measured: scripts/cluster_test", ""},
    {"scripts/cluster/merge", "needs what a fleet has measured: scripts/cluster_test", ""},
    {"scripts/cluster_test", "needs root and Slurm", ""},
    {"scripts/action_test", "a test of its own: tests/cli/CMakeLists.txt", ""},
    {"scripts/container_test", "needs root: tests/install/CMakeLists.txt", ""},
    {"depthcost evaluate SCENARIO --format plan", "no file", ""},
    {"scripts/wheel && python3 -m venv .venv && .venv/bin/pip install dist/*.whl",
     "builds for minutes; the package prints what the program does: tests/python/test_documents.py",
     "depthcost report " + kPythonQuestion},
    {"scripts/wheel", "builds for minutes; .ci/run calls it", ""},
    {"scripts/docs", "needs PyPI; .ci/run calls it", ""},
    {"scripts/web", "needs emscripten and Chromium, and tests what it builds", ""},
    {"cmake --install build/cpu --prefix DIR", "tests/install/find_package", ""},
    {".ci/run", "runs this test", ""},
};

const Exception* exception_for(const std::string& command) {
  for (const Exception& exception : kExceptions)
    if (exception.command == command) return &exception;
  return nullptr;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Whether `shown`, with "..." for any number of lines, is `printed`.
bool is_whole(const std::vector<std::string>& shown, const std::vector<std::string>& printed) {
  std::vector<std::vector<std::string>> parts(1);
  for (const std::string& line : shown) {
    if (line == "...")
      parts.emplace_back();
    else
      parts.back().push_back(line);
  }
  auto at = printed.begin();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    const bool is_last = i + 1 == parts.size();
    auto found = std::search(at, printed.end(), part.begin(), part.end());
    if (i > 0 && is_last) found = std::find_end(at, printed.end(), part.begin(), part.end());
    const bool is_anchored = i == 0 ? found == at : true;
    if ((found == printed.end() && !part.empty()) || !is_anchored) return false;
    at = part.empty() && is_last && i > 0 ? printed.end()
                                          : found + static_cast<std::ptrdiff_t>(part.size());
  }
  return at == printed.end();
}

void expect_shown(const Quoted& quoted, Shown how, const std::string& printed) {
  if (quoted.shown.empty() || how == Shown::elsewhere) return;
  const std::string place = fmt::format("{}:{}: {}", quoted.document, quoted.line, quoted.command);
  if (how == Shown::whole) {
    // Where they differ, the message of EXPECT_EQ says in which line.
    if (is_whole(lines_of(quoted.shown), lines_of(printed))) return;
    EXPECT_EQ(quoted.shown, printed) << place;
    return;
  }
  const std::vector<std::string> lines = lines_of(printed);
  for (const std::string& line : lines_of(quoted.shown))
    EXPECT_TRUE(line.empty() || std::find(lines.begin(), lines.end(), line) != lines.end())
        << place << " does not print: " << line;
}

/// What the documents have their reader write.
struct OwnFiles {
  std::string model;
  std::string hardware;
};

/// A copy of the tree as far as commands name it, with the program wherever it is built to, and the
/// user's own files that the documents speak of.
class Tree {
 public:
  explicit Tree(const OwnFiles& own) {
    fs::copy(kRoot + "/scenarios", folder_.path("scenarios"), fs::copy_options::recursive);
    for (const std::string place : {"bin", "build/report", "build/cpu"}) {
      fs::create_directories(folder_.path(place));
      fs::create_symlink(DEPTHCOST_PROGRAM, folder_.path(place + "/depthcost"));
    }
    fs::create_symlink("/bin/cat", folder_.path("bin/cat"));
    folder_.written("my_scenario.yaml", own.model);
    folder_.written("my_gpu.yaml", own.hardware);
    copy("tests/scenarios/configs/kimi_k3.json", "config.json");
    copy("tests/scenarios/configs/qwen3_32b.json", "tests/scenarios/configs/qwen3_32b.json");
    folder_.written("alpha.json", R"({"schema": "depthcost-mixing/1", "scheme": "standard",
      "num_layers": 54})");
    folder_.written("kernels.csv",
                    "operation,tokens,hidden_size,microseconds\nmhc_post,8192,4096,150\n");
    copy("tests/profile/traces/files/step.json", "trace.json");
    copy(kXeon, "depthcost-measurements/profile.yaml");
    copy("scenarios/profiles/xeon_granite_rapids_vm.samples.json",
         "depthcost-measurements/xeon_granite_rapids_vm.samples.json");
    for (const char* node : {"fleet/node1.yaml", "fleet/node2.yaml", "fleet/node3.yaml"})
      copy(kXeon, node);
  }

  /// By a shell, without gnuplot: plots take seconds, and tests of their own.
  Outcome run(const std::string& command) const {
    return run_program({.arguments = {"-c", command},
                        .folder = folder_.path(),
                        .path = folder_.path("bin"),
                        .program = "/bin/sh"});
  }

 private:
  void copy(const std::string& from, const std::string& to) const {
    folder_.written(to, content_of(kRoot + "/" + from));
  }

  TemporaryFolder folder_;
};

std::vector<Reader> readers() {
  std::vector<Reader> all;
  for (const std::string& document : documents())
    all.emplace_back(document_text(document), document);
  return all;
}

/// The commands of all documents, in order.
std::vector<Quoted> quoted_commands() {
  std::vector<Quoted> all;
  for (const Reader& reader : readers())
    all.insert(all.end(), reader.commands.begin(), reader.commands.end());
  return all;
}

/// The file of that name that the handbook has its reader write.
std::string written_as(const std::string& name) {
  for (const Reader& reader : readers())
    for (const std::string& file : reader.scenarios)
      if (file.find("name: " + name) != std::string::npos) return file;
  throw std::runtime_error("no document has a file named " + name);
}

/// A tree with the user's own files.
Tree tree_of_a_reader() {
  return Tree({.model = written_as("My model"), .hardware = written_as("My GPU")});
}

TEST(CommandsOfTheDocuments, PrintWhatItShows) {
  const Tree tree = tree_of_a_reader();
  for (const Quoted& one : quoted_commands()) {
    const Exception* exception = exception_for(one.command);
    const std::string command = exception == nullptr ? one.command : exception->instead;
    if (command.empty()) continue;
    const Outcome outcome = tree.run(command);
    EXPECT_EQ(outcome.exit_code, exception == nullptr ? 0 : exception->exit_code)
        << one.document << ":" << one.line << ": " << one.command << "\n"
        << outcome.errors;
    expect_shown(one, exception == nullptr ? Shown::whole : exception->shown, outcome.output);
  }
}

/// The documents quote how the verdict begins.
TEST(PythonInTheDocuments, ShowsTheVerdictOfTheProgram) {
  const Outcome outcome = tree_of_a_reader().run("depthcost report " + kPythonQuestion);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  std::string begin;
  for (const std::string& line : lines_of(outcome.output)) {
    if (line.starts_with("workload")) break;
    begin += line + "\n";
  }
  expect_blocks_of_documents({{"python_verdict", "\n```text\n" + begin + "...\n```\n\n"}});
}

TEST(CommandsOfTheDocuments, AreFound) {
  std::set<std::string> commands;
  for (const Quoted& one : quoted_commands()) commands.insert(one.command);
  EXPECT_GE(commands.size(), 20U);
  for (const Exception& exception : kExceptions)
    EXPECT_TRUE(commands.contains(exception.command)) << exception.command << " is not quoted";
}

TEST(CommandsOfTheDocuments, AreReadFromEveryKindOfBlock) {
  const Reader read(
      "    depthcost a\n\n```text\nshown\n```\n\nSay `depthcost b c` or `depthcost`, not `b`.\n\n"
      "<!-- begin x -->\n\n| table |\n\n<!-- end x -->\n\n```console\n$ depthcost d\none\n$ depthcost "
      "e\n```\n\n```yaml\n- run: depthcost f\n```\n\n```sh\nscripts/g\n```\n");
  std::vector<std::string> commands;
  std::map<std::string, std::string> shown;
  for (const Quoted& one : read.commands) {
    commands.push_back(one.command);
    shown[one.command] = one.shown;
  }
  EXPECT_EQ(commands, (std::vector<std::string>{"depthcost a", "depthcost b c", "depthcost d",
                                                "depthcost e", "depthcost f", "scripts/g"}));
  EXPECT_EQ(shown["depthcost a"], "shown\n");
  EXPECT_EQ(shown["depthcost b c"], "| table |\n");
  EXPECT_EQ(shown["depthcost d"], "one\n");
  EXPECT_EQ(shown["depthcost e"], "");
}

TEST(CommandsOfTheDocuments, MayLeaveOutLinesWhereTheySaySo) {
  const std::vector<std::string> printed{"a", "b", "c", "d"};
  using Lines = std::vector<std::string>;
  for (const Lines& shown : {Lines{"a", "b", "c", "d"}, Lines{"a", "...", "d"}, Lines{"..."},
                             Lines{"...", "c", "d"}, Lines{"a", "b", "..."}})
    EXPECT_TRUE(is_whole(shown, printed)) << testing::PrintToString(shown);
  for (const Lines& shown : {Lines{"a", "b", "c"}, Lines{"b", "c", "d"}, Lines{"a", "c", "d"},
                             Lines{"a", "...", "c"}, Lines{"...", "e", "..."}, Lines{"b", "..."}})
    EXPECT_FALSE(is_whole(shown, printed)) << testing::PrintToString(shown);
}

// --- its table of commands, and the examples of the helps ---

std::set<std::string> offered(const std::vector<std::string>& words) {
  std::vector<std::string> arguments{"__complete"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::set<std::string> first;
  for (const std::string& line : lines_of(run_program({.arguments = arguments}).output))
    first.insert(line.substr(0, line.find('\t')));
  return first;
}

TEST(CommandTableOfTheHandbook, NamesEveryCommandAndOnlyOptionsThatExist) {
  std::set<std::string> named;
  const std::set<std::string> commands = offered({""});
  std::string text;
  for (const std::string& document : documents()) text += document_text(document);
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find_first_of(" `", 3) - 3);
    if (!commands.contains(name)) continue;
    named.insert(name);
    const std::set<std::string> options = offered({name, "-"});
    for (std::size_t at = line.find("--"); at != std::string::npos; at = line.find("--", at + 2)) {
      const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
      const std::string option = line.substr(at, end - at);
      EXPECT_TRUE(options.contains(option)) << name << " " << option;
    }
  }
  EXPECT_EQ(named, commands);
}

/// The help of a command and of those below it, and the examples at its end.
void add_examples(const std::vector<std::string>& words, std::vector<std::string>& examples) {
  std::vector<std::string> arguments = words;
  arguments.emplace_back("--help");
  const Outcome help = run_program({.arguments = arguments});
  const std::string heading = "For example:\n  ";
  const std::size_t at = help.output.find(heading);
  EXPECT_EQ(at == std::string::npos, words.empty()) << fmt::format("{}", fmt::join(words, " "));
  if (at != std::string::npos)
    for (const std::string& line : lines_of(help.output.substr(at + heading.size() - 2)))
      if (line.starts_with("  ")) examples.push_back(line.substr(2));
  for (const std::string& line :
       lines_of(help.output.find("Subcommands:") == std::string::npos
                    ? ""
                    : help.output.substr(help.output.find("Subcommands:\n") + 13))) {
    if (!line.starts_with("  ")) break;
    std::vector<std::string> below = words;
    below.push_back(line.substr(2, line.find(' ', 2) - 2));
    add_examples(below, examples);
  }
}

TEST(ExamplesOfEveryHelp, AreThereAndRun) {
  std::vector<std::string> examples;
  add_examples({}, examples);
  EXPECT_GE(examples.size(), 18U);
  const Tree tree = tree_of_a_reader();
  for (const std::string& example : examples) {
    EXPECT_TRUE(example.starts_with("depthcost ")) << example;
    const Outcome outcome = tree.run(example);
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1)
        << example << ": " << outcome.exit_code << "\n"
        << outcome.errors;
  }
}

}  // namespace
}  // namespace depthcost::test::readme_test
