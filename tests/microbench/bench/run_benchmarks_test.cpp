// scripts/run_benchmarks measures in rounds. Small scripts stand in for the benchmark programs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/temporary_folder.hpp"

namespace depthcost::test::run_benchmarks_test {
namespace {

const std::string kScripts = DEPTHCOST_SOURCE_DIR "/scripts/";

class RunBenchmarks : public testing::Test {
 protected:
  /// Programs that record that they ran. summarize records its arguments.
  void SetUp() override {
    for (const char* kind : {"core", "skeletons", "ceilings", "kernels", "step"})
      program(std::string("bench_") + kind,
              "case \"$*\" in *list_tests*) case \"$*\" in *nothing*) ;; *) echo case ;; esac ;;\n"
              "*) [ ! -e \"$0.broken\" ] || exit 1\n"
              "echo ran >>\"$(dirname \"$0\")/log\"\n"
              "for word in \"$@\"; do case $word in --benchmark_out=*) echo {} >\"${word#*=}\" ;; "
              "esac; done\n"
              "[ ! -e \"$0.wrong\" ] || exit 1 ;; esac");
    program("summarize", "echo \"$@\" >\"$(dirname \"$0\")/summary\"; echo \"$2\" >\"$1\"");
  }

  void program(const std::string& name, const std::string& body) const {
    const std::string path = folder_.written("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  int run(const std::string& rounds, const std::string& filter = ".",
          const std::string& environment = "") const {
    return shell(environment + "DEPTHCOST_ROUNDS=" + rounds + " " + kScripts + "run_benchmarks " +
                 folder_.path("bin") + " " + folder_.path("out") + " '" + filter + "'");
  }

  int shell(const std::string& command) const {
    const int status = std::system(
        (command + " >" + folder_.path("said") + " 2>" + folder_.path("errors")).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string errors() const { return content_of(folder_.path("errors")); }
  std::string failure_of(const std::string& failed) const {
    return "\n" + failed + ":1:1: error: failed (what it printed is in " +
           folder_.path("out/rounds") + "; remove that to begin anew)\n";
  }
  std::string samples() const { return content_of(folder_.path("out/samples.json")); }

  /// How often programs have measured: a round runs five programs, and bench_core again after four.
  std::size_t num_runs() const {
    const std::string log = content_of(folder_.path("bin/log"));
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
  }

  std::string summary() const { return content_of(folder_.path("bin/summary")); }

  const TemporaryFolder folder_;
};

TEST_F(RunBenchmarks, MakesTheRoundsThatItWasAskedFor) {
  EXPECT_EQ(run("2"), 0);
  EXPECT_EQ(num_runs(), 18U);
  EXPECT_NE(summary().find("samples.json 2/2 "), std::string::npos) << summary();
}

TEST_F(RunBenchmarks, GoesOnWhereItWas) {
  ASSERT_EQ(run("1"), 0);
  const std::size_t before = num_runs();
  ASSERT_EQ(run("2"), 0);
  EXPECT_EQ(num_runs(), before + 9);
  ASSERT_EQ(run("2"), 0);
  const std::size_t after = num_runs();
  ASSERT_EQ(run("2"), 0);
  EXPECT_EQ(num_runs(), after);
}

/// On a clock of which a minute passes with each look at it. A round looks when it begins and ends.
TEST_F(RunBenchmarks, BeginsNoRoundThatWouldEndTooLate) {
  program("date",
          "dir=$(dirname \"$0\")\ncount=$(cat \"$dir/count\" 2>/dev/null || echo 0)\n"
          "echo $((count + 1)) >\"$dir/count\"\necho $((60 * count))");
  const std::string clock = "PATH=" + folder_.path("bin") + ":$PATH ";
  EXPECT_EQ(run("9", ".", clock + "DEPTHCOST_MINUTES=6 "), 0) << errors();
  EXPECT_NE(summary().find("samples.json 2/2 "), std::string::npos) << summary();
  EXPECT_EQ(num_runs(), 18U);
  for (const std::string minutes : {"0", "1.5", "many"}) {
    EXPECT_EQ(run("9", ".", "DEPTHCOST_MINUTES=" + minutes + " "), 2);
    EXPECT_EQ(errors(), "DEPTHCOST_MINUTES:1:1: error: invalid value '" + minutes +
                            "' (must be a whole number from 1 to 999)\n");
  }
}

TEST_F(RunBenchmarks, DoesNotMixRoundsOfOtherPrograms) {
  ASSERT_EQ(run("1"), 0);
  program("bench_core", "echo case");
  EXPECT_EQ(run("2"), 2);
  const std::string out = folder_.path("out");
  EXPECT_EQ(errors(), out + ":1:1: error: rounds of other programs or of another filter (remove " +
                          out + "/rounds to begin anew)\n");
}

TEST_F(RunBenchmarks, RefusesAFilterThatNamesNothing) {
  EXPECT_EQ(run("1", "nothing"), 2);
  EXPECT_EQ(errors(),
            "nothing:1:1: error: names nothing that can be measured (a regular expression on the "
            "names of benchmarks)\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out"))) << "the right filter finds no room";
  EXPECT_EQ(run("1"), 0) << errors();
}

TEST_F(RunBenchmarks, RefusesWhatCannotBeMeasured) {
  const std::string out = folder_.path("out");
  for (const std::string rounds : {"abc", "0", "-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(run("'" + rounds + "'"), 2);
    EXPECT_EQ(errors(), "DEPTHCOST_ROUNDS:1:1: error: invalid value '" + rounds +
                            "' (must be a whole number from 1 to 999)\n");
  }
  EXPECT_EQ(run("1", ""), 2);
  EXPECT_EQ(errors(), "FILTER:1:1: error: missing value (the text is empty)\n");
  EXPECT_FALSE(std::filesystem::exists(out));
  folder_.written("out", "a file");
  EXPECT_EQ(run("1"), 2);
  EXPECT_EQ(errors(), out + ":1:1: error: cannot create the folder ('" + out + "' is no folder)\n");
  EXPECT_EQ(content_of(out), "a file");
}

TEST_F(RunBenchmarks, SaysThatThereAreNoLinks) {
  ASSERT_EQ(run("1"), 0);
  EXPECT_NE(errors().find("skipped: links between processes (built without MPI)\n"),
            std::string::npos);
}

/// This mpirun records what it is asked to run.
TEST_F(RunBenchmarks, MeasuresLinksUnderMpirun) {
  program("mpi/bench_links", "exit 7");
  program("mpirun",
          "echo \"called $*\" >>\"$(dirname \"$0\")/mpilog\"\n"
          "case \"$*\" in *list_tests*) echo case ;; *) for word in \"$@\"; do case $word in "
          "--benchmark_out=*) echo {} >\"${word#*=}\" ;; esac; done ;; esac");
  if (std::system("test $(nproc) -ge 2") != 0) GTEST_SKIP() << "a single core";
  const std::string path = "PATH=" + folder_.path("bin") + ":$PATH ";
  ASSERT_EQ(run("1", ".", path), 0) << errors();
  EXPECT_NE(content_of(folder_.path("bin/mpilog"))
                .find("called -n 2 " + folder_.path("bin/mpi/bench_links")),
            std::string::npos);
  EXPECT_NE(summary().find("/links.json"), std::string::npos) << summary();
}

TEST_F(RunBenchmarks, SaysThatAProgramFailedAndKeepsTheOthers) {
  folder_.written("bin/bench_core.broken", "");
  EXPECT_EQ(run("3"), 1);
  EXPECT_TRUE(errors().ends_with(failure_of("bench_core") + "-> " +
                                 folder_.path("out/samples.json") + "\n"))
      << errors();
  EXPECT_NE(summary().find("kernels.json"), std::string::npos);
  EXPECT_EQ(summary().find("core.json"), std::string::npos);
}

/// One wrong result of hundreds: the program goes on to its end, and its exit code says so.
TEST_F(RunBenchmarks, KeepsWhatAProgramMeasuredBesideACaseThatFailed) {
  folder_.written("bin/bench_kernels.wrong", "");
  EXPECT_EQ(run("2"), 1);
  EXPECT_TRUE(errors().ends_with(failure_of("bench_kernels") + "-> " +
                                 folder_.path("out/samples.json") + "\n"))
      << errors();
  EXPECT_EQ(samples(), "2/2\n");
  EXPECT_NE(summary().find("good.2/kernels.json"), std::string::npos) << summary();
  EXPECT_EQ(run("2"), 1) << "what is missing is missing the second time, too";
}

TEST_F(RunBenchmarks, OverwritesNoSamplesWhereAProgramFails) {
  ASSERT_EQ(run("2"), 0);
  const std::string before = samples();
  folder_.written("bin/bench_core.broken", "");
  EXPECT_EQ(run("4"), 1);
  EXPECT_TRUE(errors().ends_with(failure_of("bench_core"))) << errors();
  EXPECT_EQ(samples(), before);
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/rounds/good.2/core.json")));
  std::filesystem::remove(folder_.path("bin/bench_core.broken"));
  EXPECT_EQ(run("4"), 0) << errors();
  EXPECT_EQ(samples(), "4/4\n");
}

/// If nothing was summarized yet, whole rounds are better than one that lacks a program.
TEST_F(RunBenchmarks, SummarizesTheGoodRoundsBeforeTheFailedOne) {
  ASSERT_EQ(run("1"), 0);
  std::filesystem::remove(folder_.path("out/samples.json"));
  folder_.written("bin/bench_core.broken", "");
  EXPECT_EQ(run("2"), 1);
  EXPECT_NE(summary().find("good.1/core.json"), std::string::npos) << summary();
  EXPECT_EQ(summary().find("failed.1"), std::string::npos) << summary();
}

TEST_F(RunBenchmarks, RefuseCeilingsThatAreTooWeak) {
  program("summarize", "echo \"$2\" >\"$1\"; echo 'weak' >&2; exit 3");
  EXPECT_EQ(run("1"), 3);
  EXPECT_TRUE(errors().ends_with("\nweak\n-> " + folder_.path("out/samples.json") + "\n"))
      << errors();
  EXPECT_EQ(samples(), "1/1\n");
}

/// The bundle of this test has programs that measure nothing.
TEST_F(RunBenchmarks, AreWhatABundleBringsAlong) {
  const std::string bundle = folder_.path("bundle");
  std::filesystem::create_directories(folder_.path("programs"));
  std::filesystem::copy("/bin/true", folder_.path("programs/bench_core"));
  ASSERT_EQ(shell(kScripts + "bundle " + folder_.path("programs") + " " + bundle + " bench_core"),
            0)
      << errors();
  EXPECT_NE(content_of(bundle + "/bin/bench_core").find("# checksum "), std::string::npos)
      << "rounds of other programs could be mixed";
  EXPECT_EQ(shell(bundle + "/measure --help"), 0);
  EXPECT_NE(content_of(folder_.path("said")).find("Bring home OUT/samples.json"),
            std::string::npos);
  std::filesystem::remove_all(bundle + "/bin");
  std::filesystem::copy(folder_.path("bin"), bundle + "/bin");
  const std::string out = " " + folder_.path("out");
  EXPECT_EQ(shell("DEPTHCOST_FILTER=nothing " + bundle + "/measure" + out), 2);
  EXPECT_TRUE(errors().starts_with("nothing:1:1: error: names nothing that can be measured"))
      << errors();
  EXPECT_EQ(shell(bundle + "/measure --loud"), 2);
  EXPECT_EQ(errors(), bundle + "/run_benchmarks:1:1: error: unknown option '--loud'\n");
  EXPECT_EQ(shell(bundle + "/measure ''"), 2);
  EXPECT_EQ(errors(), "OUT:1:1: error: missing value (the text is empty)\n");
  EXPECT_EQ(shell("DEPTHCOST_ROUNDS=1 " + bundle + "/measure" + out), 0) << errors();
  EXPECT_EQ(samples(), "1/1\n");
}

}  // namespace
}  // namespace depthcost::test::run_benchmarks_test
