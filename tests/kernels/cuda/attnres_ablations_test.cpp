// The ablations of AttnRes on the device against the reference, over shapes.
#include "tests/kernels/cpu/attnres_ablation_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::attnres_ablations_test {
namespace {

class AttnResVariantsOnDevice : public OnDevice {};

template <class T>
void expect_variant(const Levels& l) {
  SCOPED_TRACE("T, d, n, joining, norm, heads, keys, sigmoid, by token:" + text_of(l));
  const VariantShape shape{{l[0], l[1], l[2], l[3], l[4]}, l[5], l[6], l[7], l[8]};
  expect_matches_on_device<VariantProblem<T>>(shape, {shape.largest_logit()});
}

template <class T>
void expect_variants_match() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t rows = l[2] + kSpareRows + 4;
    const bool divides = l[1] % l[5] == 0;
    return l[2] + l[3] > 0 && divides && rows * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels joining{nothing, stored_sum, added_sum, closed_block, forgotten_sum};
  const Levels sources{0, 1, 2, 4, 5, 9, 64};
  const Levels keys{0, 1, 2};
  const Levels tokens{0, 1, 3, 300};
  for (const Levels& l : covering_cases_on_device({tokens,
                                                   kHiddenLevels,
                                                   sources,
                                                   joining,
                                                   {0, 1},
                                                   {1, 2, 7, 16, 64},
                                                   keys,
                                                   {0, 1},
                                                   {0, 1}},
                                                  is_feasible)) {
    expect_variant<T>(l);
    if (testing::Test::HasFailure()) return;
  }
  // Each row of the paper's table as it is measured; a row longer than registers hold.
  for (const Levels& variant :
       {Levels{1, 0, 1, 0}, {16, 0, 0, 0}, {1, 2, 0, 0}, {1, 0, 0, 1}, {16, 1, 1, 1}})
    for (const Levels& l : {Levels{1, 7168, 8}, {300, 7168, 8}, {2, 40000, 3}})
      expect_variant<T>(
          {l[0], l[1], l[2], added_sum, 1, variant[0], variant[1], variant[2], variant[3]});
}

TEST_F(AttnResVariantsOnDevice, MatchTheReferenceInFloat) { expect_variants_match<float>(); }
TEST_F(AttnResVariantsOnDevice, MatchTheReferenceInBf16) { expect_variants_match<Bf16>(); }

/// Whole vectors, of which the queries begin in the middle of one.
TEST_F(AttnResVariantsOnDevice, TakeQueriesThatAreNotAligned) {
  const VariantShape shape{{3, 136, 5, nothing, 1}, 1, 0, 0, 1};
  expect_matches_on_device_after<VariantProblem<Bf16>>(shape, {kLargestLogit}, [](auto& problem) {
    problem.op.num_tokens = 2;
    problem.op.variant.token_queries += 68;
  });
}

class AttnResWindowOnDevice : public OnDevice {};

/// Rows outside the window are never read: they are poison here. In every variant: few tokens,
/// tokens for every SM, and rows that are not whole vectors.
TEST_F(AttnResWindowOnDevice, LeavesOldRowsAlone) {
  for (const std::size_t first : {1U, 2U, 5U, 8U}) {
    SCOPED_TRACE("first recent row " + std::to_string(first));
    const auto change = [&](auto& problem) {
      problem.op.variant.first_recent_row = first;
      for (std::size_t row = 1; row < first; ++row)
        std::fill_n(problem.bank.at(row, 0), problem.bank.count() / problem.bank.num_rows(),
                    std::numeric_limits<float>::quiet_NaN());
    };
    for (const auto& [num_tokens, d] :
         {std::pair<std::size_t, std::size_t>{5, 2304}, {300, 2304}, {5, 1031}}) {
      expect_matches_on_device_after<SinglePassProblem<float>>(
          SinglePassShape{num_tokens, d, 8, added_sum, 1}, {kLargestLogit}, change);
      expect_matches_on_device_after<VariantProblem<float>>(
          VariantShape{{num_tokens, d, 8, nothing, 1}, 1, 1, 0, 1}, {kLargestLogit}, change);
    }
  }
}

}  // namespace
}  // namespace depthcost::test::attnres_ablations_test
