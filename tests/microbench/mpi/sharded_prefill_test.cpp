// Sequence-sharded prefill: equal to the unsharded network, with the model's bytes.
#include <gtest/gtest.h>

#include "tests/microbench/mpi/mpirun.hpp"

namespace depthcost::test::sharded_prefill_test {
namespace {

struct PrefillCase {
  const char* name;
  int num_ranks;
  const char* arguments;
  const char* bank;  // the row of the table, by hand: (N + 1) ceil(min(T, chunk) / P) d 8
};

void PrintTo(const PrefillCase& row, std::ostream* out) { *out << row.name; }

class ShardedPrefill : public testing::TestWithParam<PrefillCase> {};

TEST_P(ShardedPrefill, EqualsTheUnshardedNetworkAndTheModelsBytes) {
  const PrefillCase& row = GetParam();
  const MpiOutcome outcome =
      mpirun(row.num_ranks, std::string(DEPTHCOST_SHARDED_PREFILL " ") + row.arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
  EXPECT_NE(outcome.output.find(row.bank), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("WRONG"), std::string::npos) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ShardedPrefill,
    testing::Values(
        PrefillCase{"OneRank", 1, "--tokens 5 --hidden 16", " 2560 "},
        PrefillCase{"TokensDivide", 4, "--tokens 64 --hidden 16 --blocks 2,2", " 6144 "},
        PrefillCase{"TokensDoNotDivide", 4, "--tokens 37", " 15360 "},
        PrefillCase{"FewerTokensThanRanks", 4, "--tokens 2 --blocks 3,1", " 1152 "},
        PrefillCase{"InChunks", 4, "--tokens 37 --chunk 10", " 4608 "},
        PrefillCase{"FullAttnRes", 2, "--tokens 9 --hidden 8 --blocks 1,1,1,1,1", " 1920 "}),
    [](const auto& row) { return row.param.name; });

TEST(ShardedPrefillErrors, NameTheOption) {
  const MpiOutcome outcome = mpirun(2, DEPTHCOST_SHARDED_PREFILL " --blocks 3,,1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find("error: invalid blocks '' (must be an integer, at least 1)"),
            std::string::npos)
      << outcome.errors;
}

}  // namespace
}  // namespace depthcost::test::sharded_prefill_test
