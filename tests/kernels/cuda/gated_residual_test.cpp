// Both passes of Gated Residual on the device against the reference, over shapes.
#include "tests/kernels/cpu/gated_residual_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::gated_residual_test {
namespace {

class GatedResidualOnDevice : public OnDevice {};

template <class T>
void expect_match(const GateShape& shape) {
  expect_matches_on_device<GatedApplyDownProblem<T>>(shape);
  expect_matches_on_device_after<GatedUpMixProblem<T>>(shape, {}, round_activations<T>);
}

template <class T>
void expect_all_match() {
  const auto is_feasible = [](const Levels& l) { return l[1] * l[2] * l[3] <= 4'000'000; };
  for (const Levels& l : covering_cases_on_device({{0, 1, 3, 17, 33, 65, 260, 1100},
                                                   {1, 7, 64, 72, 264, 2560},
                                                   {1, 2, 3, 4, 5, 8},
                                                   {1, 8, 65, 320, 328},
                                                   {0, 1},
                                                   {0, 1}},
                                                  is_feasible)) {
    SCOPED_TRACE("T, d, n, r, in place, exit:" + text_of(l));
    expect_match<T>(GateShape{l[0], l[1], l[2], l[3], l[4], l[5]});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(GatedResidualOnDevice, MatchesTheReferenceInFloat) { expect_all_match<float>(); }
TEST_F(GatedResidualOnDevice, MatchesTheReferenceInBf16) { expect_all_match<Bf16>(); }

/// The sums of few tokens cancel here, so that what their terms have lost is more of them.
TEST_F(GatedResidualOnDevice, MatchesWhereTermsCancel) {
  expect_match<Bf16>(GateShape{3, 72, 3, 1});
}

/// Each variant by name, whatever cases the covering has chosen for this run.
TEST_F(GatedResidualOnDevice, EveryVariantMatches) {
  for (const GateShape& shape :
       {GateShape{2, 512, 4, 40}, GateShape{3, 2080, 5, 8}, GateShape{24, 128, 4, 24},
        GateShape{3, 520, 3, 8, 1, 1}, GateShape{2, 64, 5, 16}, GateShape{3, 136, 4, 12}}) {
    SCOPED_TRACE("T " + std::to_string(shape.num_tokens) + ", d " +
                 std::to_string(shape.hidden_size));
    expect_match<Bf16>(shape);
    GatedApplyDownProblem<Bf16> problem(shape);
    run_on_device(problem.op);
    expect_factors_of_stored_streams(problem.op);
  }
}

}  // namespace
}  // namespace depthcost::test::gated_residual_test
