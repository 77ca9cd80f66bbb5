// The standard residual on the device: rows and gains may begin anywhere.
#include "tests/kernels/cpu/row_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::residual_test {
namespace {

class ResidualOnDevice : public OnDevice {};

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
