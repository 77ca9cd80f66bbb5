// mHC on the device against the reference, over shapes.
#include "kernels/cuda/mhc/mhc_variants.hpp"
#include "tests/kernels/cpu/mhc_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::mhc_test {
namespace {

class MhcOnDevice : public OnDevice {};

template <template <class> class Problem, class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) {
    return (2 * l[2] + 2) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, kStreamLevels, {0, 1}, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, m, norm, in place, order:" + text_of(l));
    const SinkhornOrder order = l[5] == 0 ? SinkhornOrder::col_row : SinkhornOrder::row_col;
    expect_matches_on_device<Problem<T>>(MhcShape{l[0], l[1], l[2], l[3], l[4], order},
                                         kMhcAccuracy<T>);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(MhcOnDevice, PreMatchesTheReferenceInFloat) { expect_all_match<MhcPreProblem, float>(); }
TEST_F(MhcOnDevice, PreMatchesTheReferenceInBf16) { expect_all_match<MhcPreProblem, Bf16>(); }
TEST_F(MhcOnDevice, PostMatchesTheReferenceInFloat) { expect_all_match<MhcPostProblem, float>(); }
TEST_F(MhcOnDevice, PostMatchesTheReferenceInBf16) { expect_all_match<MhcPostProblem, Bf16>(); }
TEST_F(MhcOnDevice, BoundaryMatchesTheReferenceInFloat) {
  expect_all_match<MhcBoundaryProblem, float>();
}
TEST_F(MhcOnDevice, BoundaryMatchesTheReferenceInBf16) {
  expect_all_match<MhcBoundaryProblem, Bf16>();
}

TEST_F(MhcOnDevice, TakesAnyNumberOfStreams) {
  for (const std::size_t m : {3, 5, 6, 7, 12}) {
    SCOPED_TRACE("m " + std::to_string(m));
    // Beyond four streams every token has a CTA of its own, which takes the emulation long.
    const std::size_t num_tokens = kIsEmulated && m > 4 ? 7 : 17;
    const MhcShape shape{num_tokens, 136, m, 1, 0};
    expect_matches_on_device<MhcPreProblem<float>>(shape);
    expect_matches_on_device<MhcPreProblem<Bf16>>(shape, kMhcAccuracy<Bf16>);
    expect_matches_on_device<MhcPostProblem<Bf16>>(MhcShape{17, 136, m, 1, 1});
    expect_matches_on_device<MhcBoundaryProblem<Bf16>>(MhcShape{num_tokens, 136, m, 1, 1},
                                                       kMhcAccuracy<Bf16>);
  }
}

/// So many tokens that three tiles of columns take one wave where two take two, on the emulation's
/// four multiprocessors and on an H200's, which the emulation leaves out. The last tile is ragged.
TEST_F(MhcOnDevice, TakesTilesOfTwentyFourTokens) {
  const auto tokens_of_a_tile = [](std::size_t num_tokens, unsigned num_sms) {
    return cuda::mhc_plan(num_tokens, 5, 4, {.num_sms = num_sms}).tokens_per_cluster;
  };
  EXPECT_EQ(tokens_of_a_tile(150, 4), 24);
  EXPECT_EQ(tokens_of_a_tile(4300, 132), 24);
  for (const std::size_t num_tokens : kIsEmulated ? Levels{150} : Levels{150, 4300}) {
    const MhcShape shape{num_tokens, 40, 4, 1, 1};
    const auto as_it_is = [](auto&) {};
    expect_matches_at_its_size<MhcPreProblem<Bf16>>(shape, kMhcAccuracy<Bf16>, as_it_is);
    expect_matches_at_its_size<MhcBoundaryProblem<Bf16>>(shape, kMhcAccuracy<Bf16>, as_it_is);
  }
}

TEST_F(MhcOnDevice, SinkhornMatchesTheReference) {
  for (const Levels& l :
       covering_cases_on_device({kTokenLevels, {1, 2, 3, 4, 5, 8, 33}, {1, 20}, {0, 1}})) {
    SCOPED_TRACE("count, m, iterations, order:" + text_of(l));
    const SinkhornOrder order = l[3] == 0 ? SinkhornOrder::col_row : SinkhornOrder::row_col;
    expect_matches_on_device<SinkhornProblem>(SinkhornShape{l[0], l[1], l[2], order});
  }
}

TEST_F(MhcOnDevice, TakesLogitsFarBelowTheirNeighbours) {
  for (const std::size_t m : {2, 3, 4, 5, 8})
    for (const SinkhornOrder order : {SinkhornOrder::col_row, SinkhornOrder::row_col}) {
      SCOPED_TRACE("m " + std::to_string(m));
      const MhcShape shape{7, 136, m, 1, 0, order};
      expect_matches_on_device<MhcLowLineProblem<float>>(shape, kMhcAccuracy<float>);
      expect_matches_on_device<MhcLowLineProblem<Bf16>>(shape, kMhcAccuracy<Bf16>);
    }
}

}  // namespace
}  // namespace depthcost::test::mhc_test
