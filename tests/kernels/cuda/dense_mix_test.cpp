// Dense mixing on the device against the reference, over shapes.
#include "tests/kernels/cpu/dense_mix_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::dense_mix_test {
namespace {

class DenseMixOnDevice : public OnDevice {};

template <class T>
void expect_dense_match() {
  const auto is_feasible = [](const Levels& l) {
    return (l[2] + 6) * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels stores{only_input, stored_mix, stored_stream};
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, kSourceLevels, stores, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, n, stores, norm:" + text_of(l));
    expect_matches_on_device<DenseMixProblem<T>>(DenseShape{l[0], l[1], l[2], l[3], l[4]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(DenseMixOnDevice, DenseMixesMatchTheReferenceInFloat) { expect_dense_match<float>(); }
TEST_F(DenseMixOnDevice, DenseMixesMatchTheReferenceInBf16) { expect_dense_match<Bf16>(); }

/// h + f goes to the bank rounded, and later mixes read it from there. This one must mix the same.
TEST_F(DenseMixOnDevice, MixesTheSourceThatItStores) {
  for (const std::size_t has_norm : {0, 1})
    expect_matches_on_device<DenseMixProblem<Bf16>>(DenseShape{2, 7, 9, stored_stream, has_norm});
}

}  // namespace
}  // namespace depthcost::test::dense_mix_test
