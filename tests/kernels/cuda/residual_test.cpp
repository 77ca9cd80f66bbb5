// The standard residual on the device against the reference, over shapes.
#include "tests/kernels/cpu/residual_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::residual_test {
namespace {

class ResidualOnDevice : public OnDevice {};

/// Rows that one warp, four slices, or no registers hold, and odd ones.
const std::vector<ResidualShape> kLengths{{5, 120},   {9, 512},   {3, 8200},
                                          {2, 32768}, {2, 40000}, {3, 2305}};

template <class Problem>
void expect_all_match() {
  std::vector<ResidualShape> shapes = kLengths;
  for (const std::size_t num_tokens : kTokenLevels)
    for (const std::size_t hidden_size : kHiddenLevels)
      if (3 * num_tokens * hidden_size * sizeof(float) <= kCaseBytes)
        shapes.push_back({num_tokens, hidden_size});
  for (const ResidualShape& shape : shapes) {
    SCOPED_TRACE("T " + std::to_string(shape.num_tokens) + ", d " +
                 std::to_string(shape.hidden_size));
    expect_matches_on_device<Problem>(shape);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(ResidualOnDevice, AddMatchesTheReferenceInFloat) {
  expect_all_match<ResidualAddProblem<float>>();
}
TEST_F(ResidualOnDevice, AddMatchesTheReferenceInBf16) {
  expect_all_match<ResidualAddProblem<Bf16>>();
}
TEST_F(ResidualOnDevice, AddRmsNormMatchesTheReferenceInFloat) {
  expect_all_match<ResidualAddRmsNormProblem<float>>();
}
TEST_F(ResidualOnDevice, AddRmsNormMatchesTheReferenceInBf16) {
  expect_all_match<ResidualAddRmsNormProblem<Bf16>>();
}
TEST_F(ResidualOnDevice, RmsNormMatchesTheReferenceInFloat) {
  expect_all_match<UnfusedRmsNormProblem<float>>();
}
TEST_F(ResidualOnDevice, RmsNormMatchesTheReferenceInBf16) {
  expect_all_match<UnfusedRmsNormProblem<Bf16>>();
}

/// b of the bank grows in its row, and gains lie in a larger buffer, wherever they begin.
template <class T>
void expect_any_alignment(std::size_t hidden_size) {
  const Tensor<T> bank(2, 3, hidden_size);
  const Tensor<T> expected(2, 3, hidden_size);
  const Tensor<T> layer_output(1, 3, hidden_size);
  const Tensor<float> gains(2, 1, hidden_size + 1);
  const Tensor<T> x(1, 3, hidden_size);
  const Tensor<T> expected_x(1, 3, hidden_size);
  fill(bank, 1, 1);
  fill(expected, 1, 1);
  fill(layer_output, 2, 1);
  fill(gains, 3, 1);
  const auto add = [&](const Tensor<T>& to) {
    return ResidualAdd<T>{2, hidden_size, to.data() + 1, layer_output.data()};
  };
  run_on_device(add(bank));
  reference::run(add(expected));
  EXPECT_TRUE(bank.same_bits(expected)) << hidden_size;
  const auto norm = [&](const Tensor<T>& from, const Tensor<T>& to) {
    return UnfusedRmsNorm<T>{3, hidden_size, from.at(1, 0), {gains.data() + 1}, to.data()};
  };
  run_on_device(norm(bank, x));
  reference::run(norm(expected, expected_x));
  for (std::size_t i = 0; i < x.count(); ++i)
    ASSERT_NEAR(reference::to_double(x.data()[i]), reference::to_double(expected_x.data()[i]), 2e-2)
        << hidden_size << ", element " << i;
}

TEST_F(ResidualOnDevice, TakesRowsOfAnyAlignment) {
  for (const std::size_t hidden_size : {7, 64}) {
    expect_any_alignment<float>(hidden_size);
    expect_any_alignment<Bf16>(hidden_size);
  }
}

}  // namespace
}  // namespace depthcost::test::residual_test
