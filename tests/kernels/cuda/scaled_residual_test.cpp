// Scaled and gated residuals on the device against the reference, over shapes.
#include "tests/kernels/cpu/scaled_residual_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::scaled_residual_test {
namespace {

class ScaledResidualOnDevice : public OnDevice {};

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

TEST_F(ScaledResidualOnDevice, HiddenStatesMatchTheReferenceInFloat) {
  expect_hidden_states_match<float>();
}
TEST_F(ScaledResidualOnDevice, HiddenStatesMatchTheReferenceInBf16) {
  expect_hidden_states_match<Bf16>();
}

}  // namespace
}  // namespace depthcost::test::scaled_residual_test
