// Hyper-connections in one scan on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/hyper_connections_problems.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::hyper_connections_test {
namespace {

template <template <class> class Problem, class T>
void expect_streams_match() {
  const auto is_feasible = [](const Levels& l) {
    return (2 * l[2] + 2) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kStreamLevels, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, m, norm, in place:" + text_of(l));
    expect_matches<Problem<T>>(MhcShape{l[0], l[1], l[2], l[3], l[4]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(HcBoundaryOnCpu, MatchesTheReferenceInFloat) {
  expect_streams_match<HcBoundaryProblem, float>();
}
TEST(HcBoundaryOnCpu, MatchesTheReferenceInBf16) {
  expect_streams_match<HcBoundaryProblem, Bf16>();
}
TEST(SinglePassMhcOnCpu, MatchesTheReferenceInFloat) {
  expect_streams_match<SinglePassMhcProblem, float>();
}
TEST(SinglePassMhcOnCpu, MatchesTheReferenceInBf16) {
  expect_streams_match<SinglePassMhcProblem, Bf16>();
}

TEST(HyperConnectionsOnCpu, TakeAnyNumberOfStreams) {
  for (const std::size_t m : {3U, 5U, 6U, 12U}) {
    SCOPED_TRACE("m " + std::to_string(m));
    expect_matches<HcBoundaryProblem<Bf16>>(MhcShape{17, 136, m, 1, 0});
    expect_matches<SinglePassMhcProblem<float>>(MhcShape{17, 136, m, 1, 1});
  }
}

TEST(HyperConnectionsOnCpu, AreRepeatable) {
  expect_repeatable<HcBoundaryProblem<Bf16>>(MhcShape{65, 2304, 4, 1, 1});
  expect_repeatable<SinglePassMhcProblem<Bf16>>(MhcShape{101, 1031, 4, 1, 0});
}

TEST(HyperConnectionsOnCpu, WriteNothingIfAnArgumentIsWrong) {
  expect_refused<HcBoundaryProblem<float>>(MhcShape{3, 8, 2, 1, 0},
                                           [](auto& op) { op.pre = nullptr; });
  expect_refused<SinglePassMhcProblem<float>>(MhcShape{3, 8, 2, 1, 0},
                                              [](auto& op) { op.mapping.iterations = 0; });
}

}  // namespace
}  // namespace depthcost::test::hyper_connections_test
