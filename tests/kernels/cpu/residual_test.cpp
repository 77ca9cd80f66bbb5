// The standard residual on the CPU: where a row may begin, and how bf16 rounds.
#include "tests/kernels/cpu/row_problems.hpp"

namespace depthcost::test::residual_test {
namespace {

/// b of the bank grows in its row, wherever that begins.
TEST(ResidualAddOnCpu, AddsToAnUnalignedRow) {
  const Tensor<Bf16> bank(2, 3, 7);
  const Tensor<Bf16> layer_output(1, 3, 7);
  fill(bank, 1, 1);
  fill(layer_output, 2, 1);
  cpu::run(ResidualAdd<Bf16>{3, 7, bank.at(1, 0), layer_output.data()});
  const Tensor<Bf16> expected(2, 3, 7);
  fill(expected, 1, 1);
  reference::run(ResidualAdd<Bf16>{3, 7, expected.at(1, 0), layer_output.data()});
  EXPECT_TRUE(bank.same_bits(expected));
}

/// Rounding on the way to bf16, infinities and NaNs as Bf16(float) has them.
TEST(ResidualAddOnCpu, RoundsEveryValueAsBf16Does) {
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000; high += 37)
    for (const std::uint32_t low : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  // b + f of two bf16 reaches every rounding case through their difference in exponent.
  const std::size_t count = values.size();
  const Tensor<Bf16> b(1, 1, count);
  const Tensor<Bf16> f(1, 1, count);
  const Tensor<Bf16> expected(1, 1, count);
  for (std::size_t i = 0; i < count; ++i) {
    b.data()[i] = Bf16(values[i]);
    f.data()[i] = Bf16(values[(i * 7919) % count]);
    expected.data()[i] = Bf16(static_cast<float>(b.data()[i]) + static_cast<float>(f.data()[i]));
  }
  cpu::run(ResidualAdd<Bf16>{1, count, b.data(), f.data()});
  for (std::size_t i = 0; i < count; ++i) {
    const bool both_nan = std::isnan(static_cast<float>(b.data()[i])) &&
                          std::isnan(static_cast<float>(expected.data()[i]));
    ASSERT_TRUE(both_nan || b.data()[i].bits == expected.data()[i].bits) << "element " << i;
  }
}

}  // namespace
}  // namespace depthcost::test::residual_test
