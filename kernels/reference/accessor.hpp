// How the reference touches d-vectors and per-token scalars: through an accessor, element by
// element, so that a test can put a counting one in its place. Parameters (queries, gains, phi) are
// not per-token traffic and are read directly.
#pragma once

#include <cstddef>

#include "kernels/reference/rounding.hpp"
#include "kernels/reference/row.hpp"

namespace depthcost::reference {

/// Reads and writes memory, and counts nothing.
struct DirectAccess {
  template <class T>
  double load(const T* element) const {
    return to_double(*element);
  }
  template <class T>
  void store(T* element, double value) const {
    *element = round_to<T>(value);
  }
};

/// Where row `index` of `rows`, each of `size` elements, begins; null stays null.
template <class T>
T* row_at(T* rows, std::size_t index, std::size_t size) {
  return rows == nullptr ? nullptr : rows + index * size;
}

template <class T, class Access>
Row load_row(Access& access, const T* row, std::size_t size) {
  Row values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = access.load(row + i);
  return values;
}

/// Stores `values` and leaves in them what was stored: later steps see the rounded value.
template <class T, class Access>
void store_row(Access& access, T* row, Row& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    access.store(row + i, values[i]);
    values[i] = to_double(round_to<T>(values[i]));
  }
}

/// Rows of one token that lie `stride` elements apart, each loaded once.
template <class T, class Access>
Rows load_rows(Access& access, const T* first, std::size_t num_rows, std::size_t stride,
               std::size_t size) {
  Rows rows;
  for (std::size_t i = 0; i < num_rows; ++i)
    rows.push_back(load_row(access, first + i * stride, size));
  return rows;
}

}  // namespace depthcost::reference
