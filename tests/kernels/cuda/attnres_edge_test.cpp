// AttnRes on the device where the mathematics has its corners, in every variant. Without the next
// norm, whose invariance to scale would hide wrong weights.
#include "tests/kernels/cpu/attnres_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::attnres_edge_test {
namespace {

class AttnResCornersOnDevice : public OnDevice {};

/// Few tokens, tokens for every SM, and rows that are not whole vectors.
const std::vector<std::pair<std::size_t, std::size_t>> kVariants{{5, 2304}, {300, 2304}, {5, 1031}};

/// The same change of single pass, both phases, and each type.
template <class T, class Change>
void expect_all_match(double largest_logit, const Change& change) {
  for (const auto& [num_tokens, d] : kVariants) {
    SCOPED_TRACE("T " + std::to_string(num_tokens) + ", d " + std::to_string(d));
    for (const std::size_t joining : {nothing, added_sum, closed_block})
      expect_matches_on_device_after<SinglePassProblem<T>>(
          SinglePassShape{num_tokens, d, 4, joining, 0}, {largest_logit},
          [&](const auto& problem) { change(problem.query, problem.bank); });
    for (const std::size_t closes : {0, 1})
      expect_matches_on_device_after<Phase1Problem<T, float>>(
          Phase1Shape{num_tokens, d, 4, 3, closes, 0}, {largest_logit},
          [&](const auto& problem) { change(problem.queries, problem.bank); });
    for (const std::size_t num_further : {0, 2})
      expect_matches_on_device_after<Phase2Problem<T, T>>(
          Phase2Shape{num_tokens, d, num_further, 1, 0}, {largest_logit},
          [&](const auto& problem) { change(problem.query, problem.partial_sum); });
  }
}

template <class T>
void clear_first_row(const Tensor<T>& tensor) {
  std::fill_n(tensor.data(), tensor.num_tokens() * tensor.size(), T{});
}

float sign_of(std::size_t element) { return element % 3 == 0 ? 1.0F : -1.0F; }

/// Queries along the signs; sources too, or against them, and each a little off: logits of +-700,
/// of which those above are so close to each other that every one of them counts.
template <class T>
void make_logits_huge(const Tensor<float>& queries, const Tensor<T>& sources) {
  const float unit = 700 / static_cast<float>(queries.size());
  for (std::size_t i = 0; i < queries.count(); ++i)
    queries.data()[i] = unit * sign_of(i % queries.size());
  for (std::size_t row = 0; row < sources.num_rows(); ++row)
    for (std::size_t t = 0; t < sources.num_tokens(); ++t)
      for (std::size_t i = 0; i < sources.size(); ++i) {
        T& element = sources.at(row, t)[i];
        const float offset = static_cast<float>(element) / 32;
        element = static_cast<T>((row % 2 == 0 ? -1.0F : 1.0F) * sign_of(i) * (1 + offset));
      }
}

TEST_F(AttnResCornersOnDevice, TakeLogitsOfSevenHundred) {
  const auto change = [](const auto& queries, const auto& sources) {
    make_logits_huge(queries, sources);
  };
  expect_all_match<float>(700, change);
  expect_all_match<Bf16>(700, change);
}

/// Its key is zero and its logit too: eps keeps the norm finite.
TEST_F(AttnResCornersOnDevice, TakeAZeroSource) {
  const auto change = [](const Tensor<float>&, const auto& sources) { clear_first_row(sources); };
  expect_all_match<float>(kLargestLogit, change);
  expect_all_match<Bf16>(kLargestLogit, change);
}

TEST_F(AttnResCornersOnDevice, GiveTheMeanForAZeroQuery) {
  const auto change = [](const Tensor<float>& queries, const auto&) {
    std::fill_n(queries.data(), queries.count(), 0.0F);
  };
  expect_all_match<float>(0, change);
  expect_all_match<Bf16>(0, change);
}

/// The partial sum where it grows, behind the valid rows of the bank.
TEST_F(AttnResCornersOnDevice, CloseABlockInItsOwnRow) {
  const auto in_place = [](auto& problem) {
    problem.op.bank_row = problem.op.num_bank_sources;
    problem.op.partial_sum = problem.bank.at(problem.op.bank_row, 0);
    std::copy_n(problem.partial_sum.data(), problem.partial_sum.count(),
                problem.bank.at(problem.op.bank_row, 0));
  };
  for (const auto& [num_tokens, d] : kVariants) {
    SCOPED_TRACE("T " + std::to_string(num_tokens) + ", d " + std::to_string(d));
    const SinglePassShape shape{num_tokens, d, 3, closed_block, 1};
    expect_matches_on_device_after<SinglePassProblem<float>>(shape, {kLargestLogit}, in_place);
    expect_matches_on_device_after<SinglePassProblem<Bf16>>(shape, {kLargestLogit}, in_place);
    expect_matches_on_device_after<Phase1Problem<Bf16, Bf16>>(
        Phase1Shape{num_tokens, d, 3, 4, 1, 1}, {kLargestLogit}, in_place);
  }
}

}  // namespace
}  // namespace depthcost::test::attnres_edge_test
