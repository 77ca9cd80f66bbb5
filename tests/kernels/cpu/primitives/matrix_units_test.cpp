// Products by matrix units, or by dot products of pairs, against a plain loop.
#include "kernels/cpu/primitives/matrix_units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/accessor.hpp"

namespace depthcost::matrix_units_test {
namespace {

/// Numbers in [-1, 1) that repeat after a prime.
std::vector<Bf16> numbers(std::size_t count, std::size_t seed) {
  std::vector<Bf16> all;
  for (std::size_t i = 0; i < count; ++i)
    all.emplace_back(static_cast<float>((i * 7919 + seed) % 1021) / 512.0F - 1);
  return all;
}

void expect_products(std::size_t num_rows, std::size_t num_groups, std::size_t size) {
  const std::vector<Bf16> rows = numbers(num_rows * size, 1);
  const std::vector<Bf16> columns = numbers(num_groups * cpu::kUnitColumns * size, 2);
  std::vector<Bf16> interleaved(columns.size());
  for (std::size_t i = 0; i < num_groups; ++i)
    cpu::interleave(columns.data() + i * cpu::kUnitColumns * size, size, size,
                    interleaved.data() + i * cpu::kUnitColumns * size);
  std::vector<float> products(num_groups * cpu::kUnitRows * cpu::kUnitColumns,
                              std::numeric_limits<float>::quiet_NaN());
  cpu::begin_products(num_rows);
  cpu::multiply(
      {rows.data(), size, num_rows, interleaved.data(), num_groups, size, products.data()});
  cpu::end_products();
  for (std::size_t column = 0; column < num_groups * cpu::kUnitColumns; ++column)
    for (std::size_t row = 0; row < num_rows; ++row) {
      double sum = 0;
      double magnitudes = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const double product = reference::to_double(rows[row * size + k]) *
                               reference::to_double(columns[column * size + k]);
        sum += product;
        magnitudes += std::abs(product);
      }
      const std::size_t group = column / cpu::kUnitColumns;
      const float actual =
          products[(group * cpu::kUnitRows + row) * cpu::kUnitColumns + column % cpu::kUnitColumns];
      // One rounding for each pair of elements that a sum goes through.
      EXPECT_NEAR(actual, sum, 0x1p-24 * static_cast<double>(size) / 2 * magnitudes)
          << row << " " << column << " " << size;
    }
}

TEST(MatrixUnits, MultiplyRowsByColumns) {
  if (!cpu::has_matrix_units()) GTEST_SKIP() << "this core has none";
  for (const std::size_t size : {32U, 96U, 320U, 4096U})
    for (const std::size_t num_rows : {1U, 4U, 7U, 16U})
      for (const std::size_t num_groups : {1U, 2U, 3U, 4U})
        expect_products(num_rows, num_groups, size);
}

}  // namespace
}  // namespace depthcost::matrix_units_test
