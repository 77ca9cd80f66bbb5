// Products of bf16 by what a core has for them: the matrix units of Intel's AMX, or the dot
// products of pairs of AMD's AVX-512 since Zen 4. A tile has 16 rows of a matrix, which stay as
// they are in memory, or 16 columns, interleaved by pairs of their elements; products add up in
// f32.
#pragma once

#include <cstddef>

#include "kernels/operations/bf16.hpp"

namespace depthcost::cpu {

inline constexpr std::size_t kUnitRows = 16;     // of a matrix in a tile
inline constexpr std::size_t kUnitColumns = 16;  // that meet them
inline constexpr std::size_t kUnitStep = 32;     // elements of both at a time
inline constexpr std::size_t kUnitGroups = 4;    // of columns that meet a tile of rows at once

/// Whether this machine has one of them that is faster than vectors of floats, and its system lets
/// us use it.
bool has_matrix_units();
/// Whether it is AMX, whose tiles multiply eight times as fast as vectors of floats and more.
bool has_tiles();

/// Sixteen columns of `size` elements, `stride` apart, as products want them: pairs of elements of
/// all columns, one behind the other. `size` is a multiple of kUnitStep.
void interleave(const Bf16* columns, std::size_t stride, std::size_t size, Bf16* to);

/// Whether transpose() does anything, on a machine with AVX-512.
#if defined(__x86_64__) && defined(__linux__)
inline constexpr bool kCanTranspose = true;
#else
inline constexpr bool kCanTranspose = false;
#endif
inline constexpr std::size_t kTransposedWords = 16;

/// to[j * to_stride + i] = from[i * from_stride + j], sixteen by sixteen.
void transpose(const float* from, std::size_t from_stride, float* to, std::size_t to_stride);

/// Do products start from zero, or from what is there?
enum class Sums { from_zero, from_products };

struct UnitProduct {
  const Bf16* rows = nullptr;  // row_stride elements apart
  std::size_t row_stride = 0;
  std::size_t num_rows = 0;       // up to kUnitRows
  const Bf16* columns = nullptr;  // interleaved groups of kUnitColumns, one behind the other
  std::size_t num_groups = 0;     // up to kUnitGroups
  std::size_t size = 0;           // how much of a column meets a row, a multiple of kUnitStep
  float* products = nullptr;      // of kUnitColumns each; rows beyond num_rows are not written
  // In elements, from one row's products to the next and from one group's.
  std::size_t product_stride = kUnitColumns;
  std::size_t group_stride = kUnitRows * kUnitColumns;
  // A row that is shorter than a column meets it again behind its end. A divisor of `size`, and a
  // multiple of kUnitStep.
  std::size_t row_size = size;
  std::size_t column_size = size;  // in memory, at least `size`
  Sums sums = Sums::from_zero;
};

/// Between begin and end a thread may multiply rows of their number.
void begin_products(std::size_t num_rows);
void multiply(const UnitProduct& product);
void end_products();

}  // namespace depthcost::cpu
