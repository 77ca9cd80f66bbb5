// Runs the commands that the handbook offers for CI, as they are written there.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/text/document.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/documents.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::ci_snippets_test {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = DEPTHCOST_SOURCE_DIR;

/// The YAML between "<!-- begin NAME -->" and "<!-- end NAME -->".
std::string snippet(const std::string& name) {
  const std::string page = document_text(documents_with(name).front());
  const std::string fence = "<!-- begin " + name + " -->\n\n```yaml\n";
  const std::size_t start = page.find(fence);
  const std::size_t end = page.find("```\n\n<!-- end " + name + " -->", start);
  if (start == std::string::npos || end == std::string::npos) return "";
  return page.substr(start + fence.size(), end - start - fence.size());
}

const Node& at(const Node& node, std::string_view key) {
  const Node* found = as_map(node, "map").find(key);
  if (found == nullptr) throw std::runtime_error("no key " + std::string(key));
  return *found;
}

const std::string& text_at(const Node& node, std::string_view key) {
  return as_scalar(at(node, key), key).text;
}

/// The `run:` of every step of every job, in order.
std::vector<std::string> run_commands(const std::string& workflow) {
  std::vector<std::string> commands;
  const Node document = parse_document(workflow, "workflow.yml");
  for (const Member& job : as_map(at(document, "jobs"), "jobs").members)
    for (const Node& step : as_list(at(job.value, "steps"), "steps").items)
      if (as_map(step, "step").find("run") != nullptr) commands.push_back(text_at(step, "run"));
  return commands;
}

std::string scenario(const std::string& limit) {
  return "schema: depthcost/1\nname: Served\nmodel: kimi_k3\n"
         "workload: {prefill: {tokens: 16384, sequence_shards: 8}}\nbudgets: {prefill_bank: " +
         limit + "}\n";
}

/// A repository as the handbook assumes it, with a depthcost that need not be built.
class Repository : public testing::Test {
 protected:
  Repository() {
    folder_.written("scenarios/serving.yaml", scenario("300 MB"));
    fs::create_directories(folder_.path("depthcost/build/report"));
    fs::create_symlink(DEPTHCOST_PROGRAM, folder_.path("depthcost/build/report/depthcost"));
    folder_.written("depthcost/scripts/report",
                    "#!/bin/sh\nexec depthcost/build/report/depthcost report \"$@\"\n");
    ::chmod(folder_.path("depthcost/scripts/report").c_str(), 0700);
    // Without gnuplot, which the reports do not need.
    folder_.written("bin/none", "");
    fs::create_symlink(DEPTHCOST_PROGRAM, folder_.path("bin/depthcost"));
    run_program({.arguments = {"evaluate", "scenarios/serving.yaml", "--format", "json"},
                 .folder = folder_.path(),
                 .output = folder_.path("expected.json")});
  }

  /// As GitHub runs a step: bash -eo pipefail.
  Outcome run(const std::string& command) const {
    return run_program({.arguments = {"-eo", "pipefail", "-c", command},
                        .folder = folder_.path(),
                        .path = folder_.path("bin"),
                        .variables = {"GITHUB_STEP_SUMMARY=" + folder_.path("summary.md")},
                        .program = "/bin/bash"});
  }

  const TemporaryFolder folder_;
};

TEST_F(Repository, RunsTheWorkflowOfTheHandbook) {
  const std::vector<std::string> commands = run_commands(snippet("workflow"));
  ASSERT_EQ(commands.size(), 3U) << "report, check, diff";
  for (const std::string& command : commands) {
    EXPECT_NE(command.find("depthcost/"), std::string::npos) << command;
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.errors;
  }
  EXPECT_TRUE(fs::exists(folder_.path("depthcost-report/serving.md")));
  EXPECT_TRUE(fs::exists(folder_.path("depthcost-report/junit.xml")));
  const std::string summary = content_of(folder_.path("summary.md"));
  EXPECT_NE(summary.find("### depthcost check: 1 gate: 1 OK"), std::string::npos) << summary;
  EXPECT_NE(summary.find("predictions in both: 0 worse"), std::string::npos) << summary;
}

TEST_F(Repository, StopsTheWorkflowWhereABudgetBreaks) {
  folder_.written("scenarios/serving.yaml", scenario("200 MB"));
  const std::vector<std::string> commands = run_commands(snippet("workflow"));
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_EQ(run(commands[0]).exit_code, 0);
  const Outcome checked = run(commands[1]);
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_NE(checked.output.find("\n::error file=scenarios/serving.yaml,line=5,"), std::string::npos)
      << checked.output;
  EXPECT_EQ(run(commands[2]).exit_code, 1) << "a verdict changed";
}

/// scripts/action_test runs its steps.
TEST(Action, HasEveryInputThatTheHandbookGives) {
  const Node action = parse_document(file_text(kRoot + "/action.yml"), "action.yml");
  const Map& inputs = as_map(at(action, "inputs"), "inputs");
  const Node workflow = parse_document(snippet("action"), "workflow.yml");
  const Node& job = as_map(at(workflow, "jobs"), "jobs").members.front().value;
  const Node& step = as_list(at(job, "steps"), "steps").items.back();
  EXPECT_EQ(text_at(step, "uses"), std::string("OWNER/depthcost@v") + DEPTHCOST_VERSION);
  for (const Member& given : as_map(at(step, "with"), "with").members)
    EXPECT_NE(inputs.find(given.key), nullptr) << given.key;
  const std::string page = document_text("docs/pages/ci.md");
  for (const Member& input : inputs.members) {
    if (input.key == "token" || input.key == "report") continue;
    EXPECT_NE(page.find(input.key + ":"), std::string::npos) << input.key;
  }
}

/// The hook as pre-commit finds it: an id of the handbook's, in the manifest.
const Node& hook_of(const Node& manifest, const std::string& id) {
  for (const Node& hook : as_list(manifest, "hooks").items)
    if (text_at(hook, "id") == id) return hook;
  throw std::runtime_error("no hook " + id);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST_F(Repository, RunsThePreCommitHookOfTheHandbook) {
  const Node config = parse_document(snippet("hook"), ".pre-commit-config.yaml");
  const Node& repository = as_list(at(config, "repos"), "repos").items.front();
  EXPECT_EQ(text_at(repository, "rev"), std::string("v") + DEPTHCOST_VERSION);
  const Node& wanted = as_list(at(repository, "hooks"), "hooks").items.front();
  const Node manifest = parse_document(file_text(kRoot + "/.pre-commit-hooks.yaml"), "hooks.yaml");
  const Node& hook = hook_of(manifest, text_at(wanted, "id"));
  EXPECT_EQ(text_at(hook, "language"), "system");
  EXPECT_TRUE(std::regex_search("scenarios/serving.yaml", std::regex(text_at(wanted, "files"))));
  // No shell: the words of the entry, then the files.
  const auto run_hook = [&] {
    std::string command;
    for (const std::string& word : words_of(text_at(hook, "entry"))) command += "'" + word + "' ";
    return run(command + "scenarios/serving.yaml").exit_code;
  };
  EXPECT_EQ(run_hook(), 0);
  folder_.written("scenarios/serving.yaml", scenario("200 MB"));
  EXPECT_EQ(run_hook(), 1);
  folder_.written("scenarios/serving.yaml", "x: 1\n");
  EXPECT_EQ(run_hook(), 2);
}

TEST(PreCommitHook, LooksAtScenariosAndNotAtWhatLiesBelowThem) {
  const Node manifest = parse_document(file_text(kRoot + "/.pre-commit-hooks.yaml"), "hooks.yaml");
  const std::regex files(text_at(hook_of(manifest, "depthcost-check"), "files"));
  for (const std::string path : {"scenarios/a.yaml", "serving/scenarios/b.yml"})
    EXPECT_TRUE(std::regex_search(path, files)) << path;
  for (const std::string path : {"scenarios/models/a.yaml", "scenarios/a.json", "a.yaml"})
    EXPECT_FALSE(std::regex_search(path, files)) << path;
}

std::string block_of(const std::string& language, const std::vector<std::string>& arguments) {
  const Outcome outcome = run_program({.arguments = arguments, .folder = kRoot});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  return "\n```" + language + "\n" + outcome.output + "```\n\n";
}

/// Three commands from a config.json to a gate.
TEST(GateInTheHandbook, IsWhatTheProgramPrints) {
  const std::string page = document_text(documents_with("gate_import").front());
  const auto block = [&](const std::string& command, const std::string& language) {
    const std::string start = "\n    build/report/depthcost " + command + " ";
    const std::size_t begin = page.find(start, page.find("From a config.json to a gate"));
    const std::size_t end = page.find('\n', begin + 1);
    std::vector<std::string> words = words_of(page.substr(begin, end - begin));
    words.erase(words.begin());
    return block_of(language, words);
  };
  expect_blocks_of_documents({{"gate_import", block("import", "yaml")},
                              {"gate_sweep", block("sweep", "text")},
                              {"gate_check", block("check", "text")}});
}

}  // namespace
}  // namespace depthcost::test::ci_snippets_test
