// Products of rows with a weight matrix. Each row is read once for all of its outputs.
#pragma once

#include "kernels/operations/operands.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// W x, with W of `num_rows` rows.
template <class P>
Row projected(const P* matrix, std::size_t num_rows, const Row& x) {
  Row y;
  for (std::size_t i = 0; i < num_rows; ++i)
    y.push_back(dot(parameters(row_at(matrix, i, x.size()), x.size()), x));
  return y;
}

/// y = W x + b. Y is T, or Scalar<T> where the outputs are loose scalars.
template <class T, class Y>
struct Projection {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_outputs = 0;         // c
  const T* input = nullptr;            // x (T, d)
  const Scalar<T>* weights = nullptr;  // W (c, d)
  const Scalar<T>* bias = nullptr;     // b (c), or null
  Y* output = nullptr;                 // y (T, c)
};

template <class T, class Y, class Access = DirectAccess>
void projection(const Projection<T, Y>& op, Access&& access = {}) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row x = load_row(access, row_at(op.input, t, op.hidden_size), op.hidden_size);
    Row y = projected(op.weights, op.num_outputs, x);
    if (op.bias != nullptr) add(y, parameters(op.bias, op.num_outputs));
    store_row(access, row_at(op.output, t, op.num_outputs), y);
  }
}

}  // namespace depthcost::reference
