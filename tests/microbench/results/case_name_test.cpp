// The name of a benchmark says all that a sample needs.
#include "microbench/results/case_name.hpp"

#include <gtest/gtest.h>

namespace depthcost::bench::case_name_test {
namespace {

TEST(CaseNames, AreTakenApart) {
  const CaseName name = parse_case_name("cpu/attnres_single_pass/bare/bf16/T:2048/d:7168/n:5/cold");
  EXPECT_EQ(name.backend, "cpu");
  EXPECT_EQ(name.operation, "attnres_single_pass/bare");
  EXPECT_EQ(name.type, "bf16");
  EXPECT_EQ(name.number("T", 0), 2048);
  EXPECT_EQ(name.number("d", 0), 7168);
  EXPECT_EQ(name.number("n", 8), 5);
  EXPECT_EQ(name.number("m", 4), 4);
  EXPECT_EQ(name.temperature, "cold");
  EXPECT_EQ(name.launch, "");
  EXPECT_FALSE(name.is_again);
}

TEST(CaseNames, SayLaunchAndRepetition) {
  const CaseName name = parse_case_name("cuda/mhc_post/f32/T:1/d:8/graph_pdl/hot/again");
  EXPECT_EQ(name.backend, "cuda");
  EXPECT_EQ(name.launch, "graph_pdl");
  EXPECT_EQ(name.temperature, "hot");
  EXPECT_TRUE(name.is_again);
}

TEST(CaseNames, WithoutATypeAreAllOperation) {
  EXPECT_EQ(parse_case_name("cpu/skeleton/threads").operation, "skeleton/threads");
  EXPECT_EQ(parse_case_name("cpu").operation, "");
}

}  // namespace
}  // namespace depthcost::bench::case_name_test
