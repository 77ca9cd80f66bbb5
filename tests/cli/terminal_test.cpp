// Output on a terminal that a file does not get: width, colours, progress, next steps.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <sstream>

#include "tests/cli/pseudo_terminal.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::terminal_test {
namespace {

const std::string kScenario = DEPTHCOST_SOURCE_DIR "/scenarios/kimi_k3_8xb300.yaml";
const std::string kBroken =
    "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\n"
    "workload: {prefill: {tokens: 131072}}\nbudgets: {prefill_bank: 1 kB}\n";

/// What a terminal as stderr shows of a program in `folder`.
std::string told_in(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                    const std::string& path, const std::vector<std::string>& variables) {
  PseudoTerminal terminal(80);
  run_program({.arguments = arguments,
               .folder = folder.path(),
               .errors = terminal.path(),
               .path = path,
               .variables = variables});
  return terminal.text();
}

/// A report whose gnuplot takes longer than anybody waits in silence.
class SlowReport {
 public:
  SlowReport() {
    folder_.written("broken.yaml", kBroken);
    const std::string gnuplot = folder_.written(
        "programs/gnuplot",
        "#!/bin/sh\n[ -e drawn ] || /bin/sleep 2.6\n: >drawn\nwhile read -r line; do :; done\n"
        "echo '<svg></svg>'\n");
    ::chmod(gnuplot.c_str(), 0700);
  }

  /// What a terminal is told of it.
  std::string told(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"report", "broken.yaml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return told_in(folder_, arguments, folder_.path("programs"), {"TERM=xterm"});
  }

 private:
  TemporaryFolder folder_;
};

struct SlowReports {
  std::string usual;
  std::string quiet;
};

/// Both at once, since each of them waits. A program that is still being written cannot be started:
/// both are there before either runs.
const SlowReports& slow_reports() {
  static const SlowReports told = [] {
    const SlowReport first;
    const SlowReport second;
    auto quiet = std::async(std::launch::async, [&] { return second.told({"--quiet"}); });
    SlowReports both{.usual = first.told({}), .quiet = ""};
    both.quiet = quiet.get();
    return both;
  }();
  return told;
}

class Terminal : public testing::Test {
 protected:
  Terminal() {
    folder_.written("config.json",
                    content_of(DEPTHCOST_SOURCE_DIR "/tests/scenarios/configs/kimi_k3.json"));
    folder_.written("broken.yaml", kBroken);
    folder_.written("whole.yaml",
                    "schema: depthcost/1\nname: Kimi\nmodel: kimi_k3\n"
                    "workload: {prefill: {tokens: 131072}}\nbudgets: {prefill_bank: 1 TB}\n");
  }

  /// What a terminal as stdout shows.
  std::string shown(const std::vector<std::string>& arguments, unsigned short width = 80,
                    const std::vector<std::string>& variables = {"TERM=xterm"}) const {
    PseudoTerminal terminal(width);
    run_program({.arguments = arguments,
                 .folder = folder_.path(),
                 .output = terminal.path(),
                 .variables = variables});
    return terminal.text();
  }

  /// What a terminal as stderr shows.
  std::string told(const std::vector<std::string>& arguments, const std::string& path = "",
                   const std::vector<std::string>& variables = {"TERM=xterm"}) const {
    return told_in(folder_, arguments, path, variables);
  }

  const TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Terminal, SeesNoLineThatIsWiderThanItself) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"report", kScenario}, {"sweep", kScenario}, {"evaluate", kScenario}}) {
    const std::string text = shown(arguments, 72, {"TERM=xterm", "NO_COLOR=1"});
    EXPECT_GT(text.size(), 1000U);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 72U) << line;
  }
}

TEST_F(Terminal, ShowsColoursUnlessToldNotTo) {
  EXPECT_TRUE(has(shown({"check", "broken.yaml"}), "\x1b[31mtoo much\x1b[0m"));
  EXPECT_FALSE(has(shown({"check", "broken.yaml"}, 80, {"TERM=xterm", "NO_COLOR=1"}), "\x1b"));
  EXPECT_TRUE(has(shown({"check", "broken.yaml"}, 80, {"TERM=xterm", "NO_COLOR="}), "\x1b"))
      << "no-color.org: when present and not an empty string";
  EXPECT_FALSE(has(shown({"check", "broken.yaml"}, 80, {"TERM=dumb"}), "\x1b"));
}

TEST_F(Terminal, GetsTheSameTextAsAFileWhereItIsWideAndWithoutColours) {
  const Outcome outcome = run_program({.arguments = {"evaluate", kScenario}});
  EXPECT_EQ(shown({"evaluate", kScenario}, 1000, {"NO_COLOR=1"}), outcome.output);
  EXPECT_FALSE(has(outcome.output, "\x1b"));
}

TEST_F(Terminal, GetsWhatMachinesReadAsItIs) {
  for (const std::string format : {"json", "csv"})
    EXPECT_EQ(shown({"evaluate", "broken.yaml", "--format", format}),
              run_program({.arguments = {"evaluate", "broken.yaml", "--format", format},
                           .folder = folder_.path()})
                  .output);
}

TEST_F(Terminal, SeesErrorsInRed) {
  EXPECT_EQ(told({"check", "none.yaml"}),
            "none.yaml:1:1: \x1b[1;31merror:\x1b[0m cannot read the file (no such file or "
            "directory)\n");
  EXPECT_EQ(told({"check", "none.yaml"}, "", {"NO_COLOR=1"}),
            "none.yaml:1:1: error: cannot read the file (no such file or directory)\n");
}

TEST_F(Terminal, IsToldTheNextStepAndAFileIsNot) {
  const std::vector<std::string> import{"import", "config.json", "-o", "mine.yaml"};
  EXPECT_EQ(told(import),
            "next: depthcost report --model mine.yaml --hardware h200_sxm --tensor 8\n");
  EXPECT_EQ(told({"check", "broken.yaml"}),
            "next: depthcost sweep broken.yaml says which block sizes keep their budgets\n");
  EXPECT_EQ(told({"check", "whole.yaml", "broken.yaml"}),
            "next: depthcost sweep broken.yaml says which block sizes keep their budgets\n")
      << "the first one that fails";
  EXPECT_EQ(told({"import", "config.json", "-o", "mine.yaml", "--quiet"}), "");
  EXPECT_EQ(run_program({.arguments = import, .folder = folder_.path()}).errors, "");
}

TEST_F(Terminal, SeesHowMuchTimeIsLeftOfWhatTakesLong) {
  const std::string& text = slow_reports().usual;
  EXPECT_TRUE(text.starts_with("\r\x1b[Kreport: ")) << text;
  EXPECT_TRUE(has(text, " %, ")) << text;
  EXPECT_TRUE(has(text, " s left")) << text;
  EXPECT_TRUE(has(text, " s left\r\x1b[Knext: ")) << "the line is gone at the end: " << text;
}

TEST_F(Terminal, SeesNoProgressOfWhatIsQuick) {
  EXPECT_FALSE(has(told({"report", "broken.yaml"}, folder_.path()), "left"));
}

TEST_F(Terminal, IsToldErrorsAloneWhereItIsQuiet) {
  EXPECT_EQ(slow_reports().quiet, "");
  EXPECT_EQ(told({"report", "broken.yaml", "-q"}, folder_.path()), "");
  EXPECT_NE(told({"report", "none.yaml", "-q"}), "");
}

TEST(Pipe, IsToldNoProgressAndNoNextStep) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {.arguments = {"report", kScenario}, .folder = folder.path(), .path = folder.path()});
  EXPECT_EQ(outcome.errors,
            "warning: No plots: gnuplot is not installed (Debian: apt-get install gnuplot-nox).\n");
}

}  // namespace
}  // namespace depthcost::test::terminal_test
