// Dense mixing on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/dense_mix_problems.hpp"
#include "tests/kernels/cpu/run.hpp"

namespace depthcost::test::dense_mix_test {
namespace {

template <class T>
void expect_dense_match() {
  const auto is_feasible = [](const Levels& l) {
    return (l[2] + 6) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels stores{only_input, stored_mix, stored_stream};
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kSourceLevels, stores, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, n, stores, norm:" + text_of(l));
    expect_matches<DenseMixProblem<T>>(DenseShape{l[0], l[1], l[2], l[3], l[4]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DenseMixOnCpu, MatchesTheReferenceInFloat) { expect_dense_match<float>(); }
TEST(DenseMixOnCpu, MatchesTheReferenceInBf16) { expect_dense_match<Bf16>(); }

TEST(DenseMixOnCpu, IsRepeatable) {
  expect_repeatable<DenseMixProblem<Bf16>>(DenseShape{65, 2304, 9, stored_stream, 1});
  expect_repeatable<DenseMixProblem<float>>(DenseShape{65, 1031, 8, only_input, 1});
}

TEST(DenseMixOnCpu, WritesNothingIfAnArgumentIsWrong) {
  expect_refused<DenseMixProblem<Bf16>>(DenseShape{3, 8, 2, stored_stream, 1},
                                        [](auto& op) { op.bank_row = 1; });
}

}  // namespace
}  // namespace depthcost::test::dense_mix_test
