// Exit codes: a program fails when nothing was measured.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

namespace depthcost::bench::program_test {
namespace {

int exit_code_of(const std::string& arguments) {
  const std::string command =
      std::string(DEPTHCOST_BENCH_SKELETONS) + " " + arguments + " >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(BenchmarkProgram, FailsWhereNothingMatches) {
  EXPECT_EQ(exit_code_of("--benchmark_filter=no_such_benchmark"), 1);
}

TEST(BenchmarkProgram, RefusesOptionsThatItDoesNotKnow) {
  EXPECT_EQ(exit_code_of("--benchmark_filtre=x"), 2);
}

TEST(BenchmarkProgram, SucceedsWhereSomethingWasMeasured) {
  EXPECT_EQ(exit_code_of("--benchmark_filter=cpu/skeleton/elementwise"), 0);
}

}  // namespace
}  // namespace depthcost::bench::program_test
