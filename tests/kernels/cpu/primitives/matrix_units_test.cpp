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

/// Rows that are shorter than the columns meet them seven times, over the chunks in which sums
/// start anew; products lie in rows of a matrix, and add up.
TEST(MatrixUnits, MeetAShortRowAgainAndAddToProducts) {
  if (!cpu::has_matrix_units()) GTEST_SKIP() << "this core has none";
  constexpr std::size_t kRows = 5;
  constexpr std::size_t kColumns = 2 * cpu::kUnitColumns;
  constexpr std::size_t kSize = 768;  // of a column in memory, of which 672 take part
  constexpr std::size_t kMet = 672;
  constexpr std::size_t kRowSize = 96;
  const std::vector<Bf16> rows = numbers(kRows * kRowSize, 1);
  const std::vector<Bf16> columns = numbers(kColumns * kSize, 2);
  std::vector<Bf16> interleaved(columns.size());
  for (std::size_t first = 0; first < kColumns; first += cpu::kUnitColumns)
    cpu::interleave(columns.data() + first * kSize, kSize, kSize,
                    interleaved.data() + first * kSize);
  std::vector<float> products(kRows * kColumns, 1000);
  cpu::begin_products(kRows);
  cpu::multiply({.rows = rows.data(),
                 .row_stride = kRowSize,
                 .num_rows = kRows,
                 .columns = interleaved.data(),
                 .num_groups = 2,
                 .size = kMet,
                 .products = products.data(),
                 .product_stride = kColumns,
                 .group_stride = cpu::kUnitColumns,
                 .row_size = kRowSize,
                 .column_size = kSize,
                 .sums = cpu::Sums::from_products});
  cpu::end_products();
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t column = 0; column < kColumns; ++column) {
      double sum = 1000;
      for (std::size_t k = 0; k < kMet; ++k)
        sum += reference::to_double(rows[row * kRowSize + k % kRowSize]) *
               reference::to_double(columns[column * kSize + k]);
      EXPECT_NEAR(products[row * kColumns + column], sum, 0.01) << row << " " << column;
    }
}

}  // namespace
}  // namespace depthcost::matrix_units_test
