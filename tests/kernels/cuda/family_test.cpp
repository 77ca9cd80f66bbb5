// Scaled and gated residuals, hyper-connections in one scan and dense mixing on the device against
// the reference, over shapes.
#include "tests/kernels/cpu/family_problems.hpp"
#include "tests/kernels/cuda/family_operands.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::family_test {

namespace {

class FamilyOnDevice : public OnDevice {};

template <class T>
void expect_hidden_states_match() {
  const auto is_feasible = [](const Levels& l) {
    return 3 * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  Levels sizes = kHiddenLevels;
  for (const std::size_t size : {120U, 512U, 8200U, 40000U, 2305U}) sizes.push_back(size);
  for (const Levels& l : covering_cases({kTokenLevels, sizes, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, vector:" + text_of(l));
    expect_matches_on_device<ScaledAddRmsNormProblem<T>>(ScaledShape{l[0], l[1], l[2]});
    expect_matches_on_device<HighwayRmsNormProblem<T>>(ResidualShape{l[0], l[1]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(FamilyOnDevice, HiddenStatesMatchTheReferenceInFloat) {
  expect_hidden_states_match<float>();
}
TEST_F(FamilyOnDevice, HiddenStatesMatchTheReferenceInBf16) { expect_hidden_states_match<Bf16>(); }

template <class T>
void expect_streams_match() {
  const auto is_feasible = [](const Levels& l) {
    return (2 * l[2] + 2) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  for (const Levels& l : covering_cases(
           {kTokenLevels, kHiddenLevels, {1, 2, 3, 4, 5, 8, 12}, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, m, norm, in place:" + text_of(l));
    const MhcShape shape{l[0], l[1], l[2], l[3], l[4]};
    expect_matches_on_device<HcBoundaryProblem<T>>(shape);
    expect_matches_on_device<SinglePassMhcProblem<T>>(shape, kMhcAccuracy<T>);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(FamilyOnDevice, StreamsMatchTheReferenceInFloat) { expect_streams_match<float>(); }
TEST_F(FamilyOnDevice, StreamsMatchTheReferenceInBf16) { expect_streams_match<Bf16>(); }

template <class T>
void expect_dense_match() {
  const auto is_feasible = [](const Levels& l) {
    return (l[2] + 6) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels stores{only_input, stored_mix, stored_stream};
  for (const Levels& l :
       covering_cases({kTokenLevels, kHiddenLevels, kSourceLevels, stores, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, n, stores, norm:" + text_of(l));
    expect_matches_on_device<DenseMixProblem<T>>(DenseShape{l[0], l[1], l[2], l[3], l[4]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(FamilyOnDevice, DenseMixesMatchTheReferenceInFloat) { expect_dense_match<float>(); }
TEST_F(FamilyOnDevice, DenseMixesMatchTheReferenceInBf16) { expect_dense_match<Bf16>(); }

}  // namespace
}  // namespace depthcost::test::family_test
