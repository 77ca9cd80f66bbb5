// The ablations of AttnRes on the CPU against the reference, over shapes.
#include "tests/kernels/cpu/attnres_ablation_problems.hpp"

namespace depthcost::test::attnres_ablations_test {
namespace {

template <class T>
void expect_variants_match() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t rows = l[2] + kSpareRows + 3;
    const bool divides = l[1] % l[5] == 0;
    return l[2] + l[3] > 0 && divides && rows * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels joining{nothing, stored_sum, added_sum, closed_block, forgotten_sum};
  const Levels tokens{0, 1, 3, 64};
  const Levels sources{0, 1, 2, 9, 64};
  const Levels keys{0, 1, 2};
  for (const Levels& l : covering_cases({tokens,
                                         kHiddenLevels,
                                         sources,
                                         joining,
                                         {0, 1},
                                         {1, 2, 7, 16, 64},
                                         keys,
                                         {0, 1},
                                         {0, 1}},
                                        is_feasible)) {
    SCOPED_TRACE("T, d, n, joining, norm, heads, keys, sigmoid, by token:" + text_of(l));
    const VariantShape shape{{l[0], l[1], l[2], l[3], l[4]}, l[5], l[6], l[7], l[8]};
    expect_matches<VariantProblem<T>>(shape, shape.largest_logit());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AttnResVariantsOnCpu, MatchTheReferenceInFloat) { expect_variants_match<float>(); }
TEST(AttnResVariantsOnCpu, MatchTheReferenceInBf16) { expect_variants_match<Bf16>(); }

/// Rows outside the window are never read: they are poison here.
TEST(AttnResWindowOnCpu, LeavesOldRowsAlone) {
  for (const std::size_t first : {1U, 2U, 5U, 8U}) {
    SCOPED_TRACE("first recent row " + std::to_string(first));
    const auto change = [&](auto& problem) {
      problem.op.variant.first_recent_row = first;
      for (std::size_t row = 1; row < first; ++row)
        std::fill_n(problem.bank.at(row, 0), problem.bank.count() / problem.bank.num_rows(),
                    std::numeric_limits<float>::quiet_NaN());
    };
    expect_matches_after<SinglePassProblem<float>>(SinglePassShape{5, 136, 8, added_sum, 1},
                                                   kLargestLogit, change);
    expect_matches_after<VariantProblem<float>>(VariantShape{{5, 136, 8, nothing, 1}, 4, 1, 0, 1},
                                                kLargestLogit, change);
  }
}

TEST(AttnResVariantsOnCpu, AreRepeatable) {
  expect_repeatable<VariantProblem<Bf16>>(VariantShape{{65, 2304, 9, added_sum, 1}, 16, 0, 0, 0});
  expect_repeatable<VariantProblem<float>>(
      VariantShape{{65, 1032, 8, forgotten_sum, 1}, 3, 2, 1, 1});
}

TEST(AttnResVariantsOnCpu, WriteNothingIfAnArgumentIsWrong) {
  const VariantShape shape{{3, 8, 2, added_sum, 1}, 2, 0, 0, 0};
  expect_refused<VariantProblem<float>>(shape, [](auto& op) { op.variant.num_heads = 3; });
  expect_refused<VariantProblem<float>>(shape, [](auto& op) { op.variant.first_recent_row = 3; });
}

}  // namespace
}  // namespace depthcost::test::attnres_ablations_test
