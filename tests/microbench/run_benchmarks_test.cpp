// The script that goes in rounds, with programs of our own in place of those that measure.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/temporary_folder.hpp"

namespace depthcost::test::run_benchmarks_test {
namespace {

class RunBenchmarks : public testing::Test {
 protected:
  /// Programs that write down that they ran; summarize writes down what it was given.
  void SetUp() override {
    for (const char* kind : {"core", "skeletons", "ceilings", "kernels", "step"})
      program(std::string("bench_") + kind,
              "case \"$*\" in *list_tests*) case \"$*\" in *nothing*) ;; *) echo case ;; esac ;;\n"
              "*) echo ran >>\"$(dirname \"$0\")/log\"\n"
              "for word in \"$@\"; do case $word in --benchmark_out=*) echo {} >\"${word#*=}\" ;; "
              "esac; done ;; esac");
    program("summarize", "echo \"$@\" >\"$(dirname \"$0\")/summary\"; touch \"$1\"");
  }

  void program(const std::string& name, const std::string& body) const {
    const std::string path = folder_.written("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  int run(const std::string& rounds, const std::string& filter = ".",
          const std::string& environment = "") const {
    const std::string command = environment + "DEPTHCOST_ROUNDS=" + rounds + " " +
                                DEPTHCOST_SOURCE_DIR + "/scripts/run_benchmarks " +
                                folder_.path("bin") + " " + folder_.path("out") + " '" + filter +
                                "' 2>" + folder_.path("errors");
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// How often programs have measured; a round is five of them.
  std::size_t num_runs() const {
    const std::string log = content_of(folder_.path("bin/log"));
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
  }

  std::string summary() const { return content_of(folder_.path("bin/summary")); }

  const TemporaryFolder folder_;
};

/// A round from which time was stolen is made again, so that there may be more than were asked for.
TEST_F(RunBenchmarks, MakesTheRoundsThatItWasAskedFor) {
  EXPECT_EQ(run("2"), 0);
  EXPECT_GE(num_runs(), 10U);
  EXPECT_NE(summary().find("samples.json 2/2 "), std::string::npos) << summary();
}

TEST_F(RunBenchmarks, GoesOnWhereItWas) {
  ASSERT_EQ(run("1"), 0);
  const std::size_t before = num_runs();
  ASSERT_EQ(run("2"), 0);
  EXPECT_GE(num_runs(), before + 5);
  ASSERT_EQ(run("2"), 0);
  const std::size_t after = num_runs();
  ASSERT_EQ(run("2"), 0);
  EXPECT_EQ(num_runs(), after);
}

TEST_F(RunBenchmarks, DoesNotMixRoundsOfOtherPrograms) {
  ASSERT_EQ(run("1"), 0);
  program("bench_core", "echo case");
  EXPECT_EQ(run("2"), 2);
  EXPECT_NE(content_of(folder_.path("errors")).find("rounds of other programs"), std::string::npos);
}

TEST_F(RunBenchmarks, RefusesAFilterThatNamesNothing) {
  EXPECT_EQ(run("1", "nothing"), 2);
  EXPECT_EQ(content_of(folder_.path("errors")),
            "nothing: error: names nothing that can be measured\n");
}

TEST_F(RunBenchmarks, SaysThatThereAreNoLinks) {
  ASSERT_EQ(run("1"), 0);
  EXPECT_NE(content_of(folder_.path("errors"))
                .find("skipped: links between processes (built without MPI)\n"),
            std::string::npos);
}

/// mpirun of our own: what it is asked to run is written down.
TEST_F(RunBenchmarks, MeasuresLinksUnderMpirun) {
  program("mpi/bench_links", "exit 7");
  program("mpirun",
          "echo \"called $*\" >>\"$(dirname \"$0\")/mpilog\"\n"
          "case \"$*\" in *list_tests*) echo case ;; *) for word in \"$@\"; do case $word in "
          "--benchmark_out=*) echo {} >\"${word#*=}\" ;; esac; done ;; esac");
  if (std::system("test $(nproc) -ge 2") != 0) GTEST_SKIP() << "a single core";
  const std::string path = "PATH=" + folder_.path("bin") + ":$PATH ";
  ASSERT_EQ(run("1", ".", path), 0) << content_of(folder_.path("errors"));
  EXPECT_NE(content_of(folder_.path("bin/mpilog"))
                .find("called -n 2 " + folder_.path("bin/mpi/bench_links")),
            std::string::npos);
  EXPECT_NE(summary().find("/links.json"), std::string::npos) << summary();
}

TEST_F(RunBenchmarks, SaysThatAProgramFailedAndKeepsTheOthers) {
  program("bench_core", "case \"$*\" in *list_tests*) echo case ;; *) exit 1 ;; esac");
  EXPECT_EQ(run("3"), 1);
  EXPECT_NE(summary().find("kernels.json"), std::string::npos);
  EXPECT_EQ(summary().find("core.json"), std::string::npos);
}

}  // namespace
}  // namespace depthcost::test::run_benchmarks_test
