// bench_links measures every size once, and summarize reads its file like those of other programs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/microbench/mpi/mpirun.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::bench_links_test {
namespace {

const std::string kProgram = DEPTHCOST_BENCH_LINKS;

TEST(BenchLinks, WriteEveryTransferForTheOtherProgramsReaders) {
  const TemporaryFolder folder;
  const std::string file = folder.path("links.json");
  const MpiOutcome outcome =
      mpirun(2, kProgram +
                    " --benchmark_repetitions=3 --benchmark_filter='bytes:(8|1024|65536)/' "
                    "--benchmark_out_format=json --benchmark_out=" +
                    file);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::string samples = folder.path("samples.json");
  const MpiOutcome summary = run_alone(DEPTHCOST_SUMMARIZE " " + samples + " 3/3 " + file);
  ASSERT_EQ(summary.exit_code, 0) << summary.errors;
  const auto links = nlohmann::json::parse(content_of(samples)).at("links");
  EXPECT_EQ(links.size(), 15U);
  for (const auto& link : links) {
    EXPECT_EQ(link.at("ranks"), 2);
    EXPECT_EQ(link.at("seconds").size(), 3U);
    for (const double seconds : link.at("seconds")) EXPECT_GT(seconds, 0);
  }
}

/// 8 bytes are two elements, of which four ranks cannot have equal shares.
TEST(BenchLinks, LeaveOutWhatDoesNotDivide) {
  const MpiOutcome outcome = mpirun(
      4, kProgram + " --benchmark_list_tests --benchmark_filter='all_gather|one_way/.*bytes:8/'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output.find("all_gather/f32/ranks:4/bytes:8/"), std::string::npos);
  EXPECT_NE(outcome.output.find("all_gather/f32/ranks:4/bytes:16/"), std::string::npos);
  EXPECT_NE(outcome.output.find("one_way/f32/ranks:2/bytes:8/"), std::string::npos);
}

TEST(BenchLinks, NeedTwoEnds) {
  const MpiOutcome outcome = run_alone(kProgram);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("error: 1 process started (mpirun -n 2: links have two ends)\n"),
            std::string::npos)
      << outcome.errors;
}

}  // namespace
}  // namespace depthcost::test::bench_links_test
