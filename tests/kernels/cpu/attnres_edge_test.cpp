// AttnRes on the CPU where the mathematics has its corners. Without the next norm, whose invariance
// to scale would hide wrong weights.
#include "tests/kernels/cpu/attnres_problems.hpp"

namespace depthcost::test::attnres_edge_test {
namespace {

constexpr double kHugeLogit = 700;

/// Signs along which a query and some sources lie.
float sign_of(std::size_t element) { return element % 3 == 0 ? 1.0F : -1.0F; }

/// A query whose logits are +-kHugeLogit for sources along its signs.
void make_query_huge(const Tensor<float>& query, std::size_t row) {
  const auto scale = static_cast<float>(kHugeLogit / static_cast<double>(query.size()));
  for (std::size_t i = 0; i < query.size(); ++i) query.at(row, 0)[i] = scale * sign_of(i);
}

/// Sources along the signs, all tokens: scale of either sign. A little off, so that roundings
/// differ from element to element.
template <class T>
void lay_along_signs(const Tensor<T>& tensor, std::size_t row, float scale) {
  Noise noise(row);
  for (std::size_t t = 0; t < tensor.num_tokens(); ++t)
    for (std::size_t i = 0; i < tensor.size(); ++i)
      tensor.at(row, t)[i] = static_cast<T>(scale * sign_of(i) * (1 + noise.next() / 16));
}

template <class T>
void clear_row(const Tensor<T>& tensor, std::size_t row) {
  for (std::size_t t = 0; t < tensor.num_tokens(); ++t)
    std::fill_n(tensor.at(row, t), tensor.size(), T{});
}

template <class T>
void expect_huge_logits_match() {
  const auto single_pass = [](const SinglePassProblem<T>& problem) {
    make_query_huge(problem.query, 0);
    lay_along_signs(problem.bank, 0, -2);
    lay_along_signs(problem.bank, 1, 2);
    lay_along_signs(problem.bank, 2, 3);
    lay_along_signs(problem.layer_output, 0, 0.5F);
  };
  const auto phase1 = [](const auto& problem) {
    make_query_huge(problem.queries, 0);
    make_query_huge(problem.queries, 1);
    lay_along_signs(problem.bank, 0, -2);
    lay_along_signs(problem.bank, 1, 2);
    lay_along_signs(problem.bank, 2, 3);
  };
  for (const std::size_t d : {8U, 1031U, 7168U}) {
    SCOPED_TRACE("d " + std::to_string(d));
    for (const std::size_t joining : {nothing, added_sum, closed_block})
      expect_matches_after<SinglePassProblem<T>>(SinglePassShape{5, d, 4, joining, 0}, kHugeLogit,
                                                 single_pass);
    expect_matches_after<Phase1Problem<T, T>>(Phase1Shape{5, d, 4, 3, 0, 0}, kHugeLogit, phase1);
    expect_matches_after<Phase1Problem<T, float>>(Phase1Shape{5, d, 4, 3, 0, 0}, kHugeLogit,
                                                  phase1);
  }
}

TEST(AttnResOnCpu, TakesHugeLogitsInFloat) { expect_huge_logits_match<float>(); }
TEST(AttnResOnCpu, TakesHugeLogitsInBf16) { expect_huge_logits_match<Bf16>(); }

/// Phase 2, where either side, both or neither of them is huge.
template <class T, class O>
void expect_phase2_matches_for_huge_logits() {
  for (const float maximum : {-700.0F, 699.0F, 700.0F})
    for (const float sign : {-1.0F, 1.0F})
      for (const std::size_t num_further : {0U, 2U}) {
        SCOPED_TRACE(std::to_string(maximum) + " against " + std::to_string(sign * 700));
        const auto change = [&](const Phase2Problem<T, O>& problem) {
          make_query_huge(problem.query, 0);
          lay_along_signs(problem.partial_sum, 0, 2 * sign);
          clear_row(problem.layer_output, 0);
          std::fill_n(problem.maximum.data(), problem.maximum.count(), maximum);
        };
        expect_matches_after<Phase2Problem<T, O>>(Phase2Shape{5, 2304, num_further, 1, 0},
                                                  kHugeLogit, change);
      }
}

TEST(AttnResPhase2OnCpu, TakesHugeLogits) {
  expect_phase2_matches_for_huge_logits<float, float>();
  expect_phase2_matches_for_huge_logits<Bf16, Bf16>();
  expect_phase2_matches_for_huge_logits<Bf16, float>();
}

/// Its key is zero and its logit too: eps keeps the norm finite.
template <class T>
void expect_zero_sources_match() {
  const auto no_first_row = [](const auto& problem) { clear_row(problem.bank, 0); };
  const auto no_sum = [](const auto& problem) {
    clear_row(problem.partial_sum, 0);
    clear_row(problem.layer_output, 0);
  };
  for (const std::size_t joining : {nothing, stored_sum, added_sum, closed_block, forgotten_sum}) {
    const SinglePassShape shape{3, 4099, 3, joining, 0};
    expect_matches_after<SinglePassProblem<T>>(shape, kLargestLogit, no_first_row);
    expect_matches_after<SinglePassProblem<T>>(shape, kLargestLogit, no_sum);
  }
  expect_matches_after<SinglePassProblem<T>>(SinglePassShape{3, 4099, 1, nothing, 1}, kLargestLogit,
                                             no_first_row);
  const Phase1Shape phase1{3, 4099, 2, 3, 1, 0};
  expect_matches_after<Phase1Problem<T, T>>(phase1, kLargestLogit, no_first_row);
  expect_matches_after<Phase1Problem<T, T>>(phase1, kLargestLogit, no_sum);
  expect_matches_after<Phase2Problem<T, T>>(Phase2Shape{3, 4099, 0, 1, 0}, kLargestLogit, no_sum);
}

TEST(AttnResOnCpu, TakesAZeroSourceInFloat) { expect_zero_sources_match<float>(); }
TEST(AttnResOnCpu, TakesAZeroSourceInBf16) { expect_zero_sources_match<Bf16>(); }

/// With a zero query every weight is 1 / n, here a power of two: no rounding but the output's.
template <class T>
void expect_exact_mean() {
  constexpr std::size_t kSources = 8;
  const SinglePassShape shape{5, 2311, kSources - 1, added_sum, 0};
  SinglePassProblem<T> problem(shape);
  std::fill_n(problem.query.data(), problem.query.count(), 0.0F);
  // Few digits, so that sums of the sources are exact.
  const auto shorten = [](const Tensor<T>& tensor, std::size_t num_rows) {
    for (std::size_t i = 0; i < num_rows * tensor.num_tokens() * tensor.size(); ++i)
      tensor.data()[i] = static_cast<T>(std::round(16 * static_cast<float>(tensor.data()[i])) / 16);
  };
  shorten(problem.bank, kSources - 1);
  shorten(problem.partial_sum, 1);
  shorten(problem.layer_output, 1);
  cpu::run(problem.op);
  for (std::size_t t = 0; t < shape.num_tokens; ++t)
    for (std::size_t i = 0; i < shape.hidden_size; ++i) {
      double sum = reference::to_double(problem.partial_sum.at(0, t)[i]);
      for (std::size_t s = 0; s + 1 < kSources; ++s)
        sum += reference::to_double(problem.bank.at(s, t)[i]);
      ASSERT_EQ(reference::to_double(problem.output.at(0, t)[i]),
                reference::to_double(reference::round_to<T>(sum / kSources)));
    }
}

TEST(AttnResOnCpu, GivesTheExactMeanForAZeroQuery) {
  expect_exact_mean<float>();
  expect_exact_mean<Bf16>();
}

/// The partial sum where it grows, behind the valid rows of the bank: closing the block in place.
TEST(AttnResSinglePassOnCpu, ClosesABlockInItsOwnRow) {
  const auto in_place = [](auto& problem) {
    problem.op.bank_row = problem.op.num_bank_sources;
    problem.op.partial_sum = problem.bank.at(problem.op.bank_row, 0);
    const std::size_t count = problem.partial_sum.count();
    std::copy_n(problem.partial_sum.data(), count, problem.op.partial_sum);
  };
  for (const std::size_t d : {7U, 2304U}) {
    const SinglePassShape shape{5, d, 3, closed_block, 1};
    expect_matches_after<SinglePassProblem<float>>(shape, kLargestLogit, in_place);
    expect_matches_after<SinglePassProblem<Bf16>>(shape, kLargestLogit, in_place);
    const Phase1Shape phase1{5, d, 3, 4, 1, 1};
    expect_matches_after<Phase1Problem<Bf16, Bf16>>(phase1, kLargestLogit, [](auto& problem) {
      problem.op.partial_sum = problem.bank.at(problem.op.bank_row, 0);
      std::copy_n(problem.partial_sum.data(), problem.partial_sum.count(),
                  problem.bank.at(problem.op.bank_row, 0));
    });
  }
}

TEST(AttnResOnCpu, WritesNothingIfAnArgumentIsWrong) {
  const auto bank_overlaps = [](auto& op) { op.output = op.bank; };
  expect_refused<SinglePassProblem<float>>(SinglePassShape{3, 8, 2, added_sum, 1}, bank_overlaps);
  expect_refused<SinglePassProblem<Bf16>>(SinglePassShape{3, 8, 2, closed_block, 1},
                                          [](auto& op) { op.bank_row = 0; });
  expect_refused<Phase1Problem<Bf16, float>>(Phase1Shape{3, 8, 2, 3, 1, 1}, bank_overlaps);
  expect_refused<Phase2Problem<Bf16, Bf16>>(Phase2Shape{3, 8, 2, 1, 1},
                                            [](auto& op) { op.sum = nullptr; });
}

}  // namespace
}  // namespace depthcost::test::attnres_edge_test
