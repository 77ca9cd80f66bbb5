// mHC on the CPU against the reference, over shapes.
#include <cmath>
#include <limits>

#include "tests/kernels/cpu/mhc_problems.hpp"

namespace depthcost::test::mhc_test {
namespace {

template <template <class> class Problem, class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) {
    return (2 * l[2] + 2) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases(
           {kTokenLevels, kHiddenLevels, kStreamLevels, {0, 1}, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, m, norm, in place, order:" + text_of(l));
    const SinkhornOrder order = l[5] == 0 ? SinkhornOrder::col_row : SinkhornOrder::row_col;
    expect_matches<Problem<T>>(MhcShape{l[0], l[1], l[2], l[3], l[4], order});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MhcPreOnCpu, MatchesTheReferenceInFloat) { expect_all_match<MhcPreProblem, float>(); }
TEST(MhcPreOnCpu, MatchesTheReferenceInBf16) { expect_all_match<MhcPreProblem, Bf16>(); }
TEST(MhcPostOnCpu, MatchesTheReferenceInFloat) { expect_all_match<MhcPostProblem, float>(); }
TEST(MhcPostOnCpu, MatchesTheReferenceInBf16) { expect_all_match<MhcPostProblem, Bf16>(); }
TEST(MhcBoundaryOnCpu, MatchesTheReferenceInFloat) {
  expect_all_match<MhcBoundaryProblem, float>();
}
TEST(MhcBoundaryOnCpu, MatchesTheReferenceInBf16) { expect_all_match<MhcBoundaryProblem, Bf16>(); }

TEST(MhcOnCpu, TakesAnyNumberOfStreams) {
  for (const std::size_t m : {3U, 5U, 6U, 7U, 12U}) {
    SCOPED_TRACE("m " + std::to_string(m));
    expect_matches<MhcPreProblem<float>>(MhcShape{17, 136, m, 1, 0});
    expect_matches<MhcBoundaryProblem<Bf16>>(MhcShape{17, 136, m, 1, 1});
  }
}

TEST(SinkhornOnCpu, MatchesTheReference) {
  for (const Levels& l : covering_cases({kTokenLevels, {1, 2, 3, 4, 8}, {0, 1, 20}, {0, 1}})) {
    SCOPED_TRACE("count, m, iterations, order:" + text_of(l));
    const SinkhornOrder order = l[3] == 0 ? SinkhornOrder::col_row : SinkhornOrder::row_col;
    expect_matches<SinkhornProblem>(SinkhornShape{l[0], l[1], l[2], order});
  }
}

TEST(MhcOnCpu, IsRepeatable) {
  expect_repeatable<MhcPreProblem<float>>(MhcShape{65, 1031, 4, 1, 0});
  expect_repeatable<MhcPreProblem<Bf16>>(MhcShape{101, 2304, 4, 1, 0});
  expect_repeatable<MhcPostProblem<float>>(MhcShape{65, 1031, 4, 1, 0});
  expect_repeatable<MhcPostProblem<Bf16>>(MhcShape{65, 2304, 2, 1, 1});
  expect_repeatable<MhcBoundaryProblem<float>>(MhcShape{65, 1031, 2, 1, 1});
  expect_repeatable<MhcBoundaryProblem<Bf16>>(MhcShape{101, 2304, 4, 1, 0});
  expect_repeatable<SinkhornProblem>(SinkhornShape{8192, 4, 20, SinkhornOrder::col_row});
}

/// A bias, whichever coefficient it belongs to.
TEST(MhcPreOnCpu, KeepsLogitsThatAreNoNumbers) {
  constexpr std::size_t kStreams = 4;
  const auto all_nan = [](const Tensor<float>& tensor, std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < tensor.count(); i += step)
      if (!std::isnan(tensor.data()[i])) return false;
    return true;
  };
  for (std::size_t row = 0; row < kStreams * (kStreams + 2); ++row) {
    MhcPreProblem<float> problem(MhcShape{5, 40, kStreams, 0, 0});
    problem.parameters.bias.data()[row] = std::numeric_limits<float>::quiet_NaN();
    cpu::run(problem.op);
    if (row < kStreams)
      EXPECT_TRUE(all_nan(problem.output, 0, 1)) << row;
    else if (row < 2 * kStreams)
      EXPECT_TRUE(all_nan(problem.coefficients.post, row - kStreams, kStreams)) << row;
    else
      EXPECT_TRUE(all_nan(problem.coefficients.residual, row - 2 * kStreams, kStreams * kStreams))
          << row;
  }
}

TEST(MhcOnCpu, TakesLogitsFarBelowTheirNeighbours) {
  for (const std::size_t m : {2U, 3U, 4U, 5U, 8U})
    for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col}) {
      SCOPED_TRACE("m " + std::to_string(m));
      const MhcShape shape{7, 136, m, 1, 0, order};
      expect_matches<MhcLowLineProblem<float>>(shape);
      expect_matches<MhcLowLineProblem<Bf16>>(shape);
    }
}

}  // namespace
}  // namespace depthcost::test::mhc_test
