// Loops over rows that lie in a core's caches: the in-core term of the time formula. It is measured
// on plain loops, never on the kernels that it predicts.
#pragma once

#include <cstddef>

#include "kernels/operations/bf16.hpp"
#include "model/machine/core_work.hpp"

namespace depthcost::bench {

/// `num_rows` rows of `size` elements of T, and the other operands of a primitive. `size` is a
/// multiple of 64.
template <class T>
struct CoreCall {
  std::size_t num_rows = 0;
  std::size_t size = 0;
  std::size_t row_stride = 0;         // elements from one row to the next
  std::size_t ahead = 0;              // elements by which rows are fetched before their use
  T* rows = nullptr;                  // num_rows of `size`
  const float* parameters = nullptr;  // query, gain or weights: (size); multiply: (24, size)
  float* floats = nullptr;            // (num_rows, size): h of scale, rows of multiply and widen
  T* output = nullptr;                // (size)
  float* sums = nullptr;              // (num_rows, 24)
  const Bf16* columns = nullptr;      // of product: (64, size), interleaved
  float* products = nullptr;          // (num_rows, 64)
};

inline constexpr std::size_t kMultiplyParameters = 24;
inline constexpr std::size_t kProductRows = 16;
inline constexpr std::size_t kProductColumns = 64;

/// Whether the product of rows of T is that of matrix units.
template <class T>
bool is_of_units();

template <class T>
void run_primitive(Primitive primitive, const CoreCall<T>& call);

constexpr bool has_one_row(Primitive primitive) {
  return primitive == Primitive::add || primitive == Primitive::scale;
}

/// Row elements of one call, or its multiply-adds.
template <class T>
double elements(Primitive primitive, const CoreCall<T>& call) {
  const auto size = static_cast<double>(call.size);
  const auto rows = static_cast<double>(call.num_rows);
  if (has_one_row(primitive)) return size;
  if (primitive == Primitive::product && is_of_units<T>()) return rows * kProductColumns * size;
  const bool multiplies = primitive == Primitive::multiply || primitive == Primitive::product;
  return multiplies ? rows * kMultiplyParameters * size : rows * size;
}

}  // namespace depthcost::bench
