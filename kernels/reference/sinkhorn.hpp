// Sinkhorn's iteration: m x m matrices whose columns and rows are made to sum to one in turn.
// arXiv:2512.24880v2; the AttnRes paper gives neither the order nor the number of iterations.
#pragma once

#include "kernels/operations/mhc.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// A row or column of an m x m matrix, whose sum an iteration makes one.
struct Line {
  std::size_t first = 0;
  std::size_t stride = 0;
};

inline Line row_line(std::size_t index, std::size_t m) { return {index * m, 1}; }
inline Line column_line(std::size_t index, std::size_t m) { return {index, m}; }

/// Divides every line of `matrix` by its sum.
template <class LineOf>
void normalise(Row& matrix, std::size_t m, const LineOf& line_of) {
  for (std::size_t index = 0; index < m; ++index) {
    const Line line = line_of(index, m);
    double sum = 0;
    for (std::size_t i = 0; i < m; ++i) sum += matrix[line.first + i * line.stride];
    for (std::size_t i = 0; i < m; ++i) matrix[line.first + i * line.stride] /= sum;
  }
}

/// Sinkhorn(matrix), positive.
inline Row sinkhorn_of(Row matrix, std::size_t m, std::size_t iterations, SinkhornOrder order) {
  for (std::size_t i = 0; i < iterations; ++i) {
    if (order == SinkhornOrder::row_col) normalise(matrix, m, row_line);
    normalise(matrix, m, column_line);
    if (order == SinkhornOrder::col_row) normalise(matrix, m, row_line);
  }
  return matrix;
}

/// exp(logits), where each line that is normalised first is taken relative to its largest logit.
/// Its sum divides that factor out again.
inline Row exp_for_sinkhorn(Row logits, std::size_t m, SinkhornOrder order) {
  for (std::size_t index = 0; index < m; ++index) {
    const Line line = order == SinkhornOrder::col_row ? column_line(index, m) : row_line(index, m);
    double largest = logits[line.first];
    for (std::size_t i = 1; i < m; ++i)
      largest = std::max(largest, logits[line.first + i * line.stride]);
    for (std::size_t i = 0; i < m; ++i) {
      double& element = logits[line.first + i * line.stride];
      element = std::exp(element - largest);
    }
  }
  return logits;
}

template <class P, class Access = DirectAccess>
void run(const BasicSinkhorn<P>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  for (std::size_t i = 0; i < op.count; ++i) {
    P* matrix = row_at(op.matrices, i, m * m);
    Row balanced = sinkhorn_of(load_row(access, matrix, m * m), m, op.iterations, op.order);
    store_row(access, matrix, balanced);
  }
}

}  // namespace depthcost::reference
