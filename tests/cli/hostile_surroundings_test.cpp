// Files are all written or none, whatever fails and whenever a signal comes; and the program ends
// with one line.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::hostile_surroundings_test {
namespace {

namespace fs = std::filesystem;

const std::string kScenario =
    "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\nhardware: b300_sxm\n"
    "residual: {compare: [standard]}\nparallelism: {tensor: 8}\n"
    "workload: {prefill: {tokens: 131072, sequence_shards: 8}}\n"
    "budgets: {prefill_bank: 2.5 GB}\n";

using Files = std::map<std::string, std::string>;

/// Names and contents, hidden ones too.
Files files_in(const std::string& folder) {
  Files files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    files[entry.path().filename()] = content_of(entry.path());
  return files;
}

std::size_t num_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Reports of a scenario, into a folder where another program's reports lie.
class Surroundings : public testing::Test {
 protected:
  Surroundings() {
    folder_.written("kimi.yaml", kScenario);
    folder_.written("no_programs/none", "");
    static const Files made_once = [this] {
      run("", "new");
      return files_in(folder_.path("new"));
    }();
    new_ = made_once;
    for (const auto& [name, content] : new_) old_[name] = "old";
  }

  /// Without gnuplot.
  Outcome run(const std::string& fault, const std::string& output) const {
    std::vector<std::string> variables;
    if (!fault.empty())
      variables = {"LD_PRELOAD=" + std::string(DEPTHCOST_FAULTS), "FAULT=" + fault};
    return run_program({.arguments = {"report", "kimi.yaml", "-o", output},
                        .folder = folder_.path(),
                        .path = folder_.path("no_programs"),
                        .variables = variables});
  }

  /// After `fault` either all files are old and there is one line, or all are new.
  void expect_all_or_nothing(const std::string& fault) {
    SCOPED_TRACE(fault);
    fs::remove_all(folder_.path("out"));
    for (const auto& [name, content] : old_) folder_.written("out/" + name, content);
    const Outcome outcome = run(fault, "out");
    if (outcome.exit_code == 0) {
      EXPECT_EQ(files_in(folder_.path("out")), new_);
      return;
    }
    const Files left = files_in(folder_.path("out"));
    if (outcome.exit_code == -1) {  // by the signal, which may have come behind the last file
      EXPECT_TRUE(left == old_ || left == new_);
      num_failures_ += left == old_ ? 1 : 0;
      return;
    }
    ++num_failures_;
    EXPECT_EQ(left, old_);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(num_lines(outcome.errors), 1U) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
  }

  TemporaryFolder folder_;
  Files new_;
  Files old_;
  int num_failures_ = 0;
};

#ifndef __SANITIZE_ADDRESS__  // which must be loaded before others itself

TEST_F(Surroundings, LeaveAllFilesOrNoneWhereTheNthCallFails) {
  ASSERT_EQ(new_.size(), 2U);
  for (const std::string kind : {"open", "write", "fsync", "link", "rename"})
    for (int nth = 1; nth <= 5; ++nth) expect_all_or_nothing(kind + ":" + std::to_string(nth));
  EXPECT_GE(num_failures_, 4);
}

TEST_F(Surroundings, LeaveAllFilesOrNoneWhereverASignalComes) {
  for (const std::string kind : {"open", "write", "fsync", "link", "rename"})
    for (int nth = 1; nth <= 3; ++nth)
      expect_all_or_nothing("SIGTERM@" + kind + ":" + std::to_string(nth));
  EXPECT_GE(num_failures_, 4);
}

TEST_F(Surroundings, LeaveNoNewFolderWhereAWriteFails) {
  const Outcome outcome = run("write:1", "deep/er");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_.path("deep")));
}

TEST_F(Surroundings, MayLackMemoryAnywhere) {
  const auto run_with = [&](long nth) {
    return run_program({.arguments = {"evaluate", "kimi.yaml"},
                        .folder = folder_.path(),
                        .variables = {"LD_PRELOAD=" + std::string(DEPTHCOST_FAULTS),
                                      "FAULT=malloc:" + std::to_string(nth)}});
  };
  int num_refused = 0;
  for (long nth = 1; nth < 200'000; nth += 1 + nth / 5) {
    const Outcome outcome = run_with(nth);
    if (outcome.exit_code == 0) continue;
    SCOPED_TRACE(nth);
    ++num_refused;
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(num_lines(outcome.errors), 1U) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
  }
  EXPECT_GT(num_refused, 10);
}

#endif

TEST_F(Surroundings, MayHaveTenWritersAtOnce) {
  std::vector<std::thread> writers;
  std::vector<int> codes(10, -1);
  for (int& code : codes) writers.emplace_back([&, this] { code = run("", "shared").exit_code; });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(codes, std::vector<int>(10, 0));
  EXPECT_EQ(files_in(folder_.path("shared")), new_);
}

TEST_F(Surroundings, MayHaveAChainOfLinksInPlaceOfAFile) {
  const std::string name = new_.begin()->first;
  folder_.written("elsewhere/target.md", "old");
  fs::create_directories(folder_.path("out"));
  fs::create_symlink("middle", folder_.path("out/" + name));
  fs::create_symlink("../elsewhere/target.md", folder_.path("out/middle"));
  EXPECT_EQ(run("", "out").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_.path("out/" + name)));
  EXPECT_TRUE(fs::is_symlink(folder_.path("out/middle")));
  EXPECT_EQ(content_of(folder_.path("elsewhere/target.md")), new_.begin()->second);
}

TEST_F(Surroundings, AreCheckedBeforeAnyFileIsReplaced) {
  const std::string last = new_.rbegin()->first;
  for (const auto& [name, content] : old_) folder_.written("out/" + name, content);
  fs::remove(folder_.path("out/" + last));
  fs::create_directories(folder_.path("out/" + last));
  EXPECT_EQ(run("", "out").errors,
            "out/" + last + ":1:1: error: cannot write the file (a directory is there)\n");
  fs::remove(folder_.path("out/" + last));
  Files left = old_;
  left.erase(last);
  EXPECT_EQ(files_in(folder_.path("out")), left);
}

TEST_F(Surroundings, MayNotHideAVerdict) {
  const auto check = [&](const std::vector<std::string>& more, const std::string& summary) {
    std::vector<std::string> arguments{"check", "kimi.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program({.arguments = arguments,
                        .folder = folder_.path(),
                        .variables = {"GITHUB_STEP_SUMMARY=" + summary}});
  };
  const std::string verdict = check({}, "").output;
  const Outcome junit = check({"--junit", "no_programs"}, "");
  EXPECT_EQ(junit.exit_code, 2);
  EXPECT_EQ(junit.output, verdict);
  EXPECT_EQ(junit.errors,
            "./no_programs:1:1: error: cannot write the file (a directory is there)\n");
  ASSERT_EQ(::mkfifo(folder_.path("fifo").c_str(), 0600), 0);
  const Outcome summary = check({"--github"}, folder_.path("fifo"));
  EXPECT_EQ(summary.exit_code, 2);
  EXPECT_EQ(summary.output, verdict);
  EXPECT_EQ(summary.errors, folder_.path("fifo") +
                                ":1:1: error: cannot write the file (no such device or address)\n");
}

TEST_F(Surroundings, AreNotObeyed) {
  std::string text = kScenario;
  text.replace(text.find("name: Kimi"), 10, "name: \"::stop-commands::x\"");
  folder_.written("::stop-commands::y.yaml", text);
  const std::vector<std::string> words{"::stop-commands::y.yaml"};
  for (const std::string command : {"evaluate", "check"}) {
    const Outcome outcome =
        run_program({.arguments = {command, words[0]}, .folder = folder_.path()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_FALSE(outcome.output.starts_with("::")) << outcome.output;
    EXPECT_EQ(outcome.output.find("\n::"), std::string::npos) << outcome.output;
  }
  const Outcome bad = run_program({.arguments = {"check", "::error::z"}, .folder = folder_.path()});
  EXPECT_EQ(bad.errors.rfind("\\x3A:error::z:1:1: error: ", 0), 0U) << bad.errors;
}

TEST_F(Surroundings, AreNotQuotedWhereTheyAreNoFilesOfOurs) {
  folder_.written(".env", "SECRET=hunter2\nOTHER=1\n");
  folder_.written("secret.json", "{\"key\": \"hunter2\n");
  folder_.written("leak.yaml",
                  "schema: depthcost/1\nmodel: ./.env\nresidual: {scheme: standard}\n");
  folder_.written("json.yaml",
                  "schema: depthcost/1\nmodel: ./secret.json\nresidual: {scheme: standard}\n");
  for (const std::string file : {".env", "leak.yaml", "json.yaml"}) {
    const Outcome outcome =
        run_program({.arguments = {"check", file, "--github"}, .folder = folder_.path()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ((outcome.output + outcome.errors).find("hunter2"), std::string::npos)
        << outcome.output << outcome.errors;
  }
  EXPECT_EQ(run_program({.arguments = {"check", "leak.yaml"}, .folder = folder_.path()}).errors,
            ".env:1:1: error: invalid model (must be a map, not a single value)\n");
}

}  // namespace
}  // namespace depthcost::test::hostile_surroundings_test
