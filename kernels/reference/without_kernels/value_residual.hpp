// Value Residual, arXiv:2410.17897: attention layers mix their values with those of the first one,
// in the epilogue of the projection that makes them. No fast kernel.
#pragma once

#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// V_n = lambda_1 V_1 + lambda_2 x W_V. Any projection reads x and writes V_n; the mechanism adds
/// the read of V_1.
template <class T>
struct ValueResidual {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t value_size = 0;             // d_kv
  const T* input = nullptr;               // x (T, d)
  const Scalar<T>* projection = nullptr;  // W_V (d_kv, d), row by output
  const T* first_values = nullptr;        // V_1 (T, d_kv)
  Scalar<T> first_scale = 0;              // lambda_1
  Scalar<T> own_scale = 1;                // lambda_2
  T* values = nullptr;                    // V_n (T, d_kv)
};

template <class T, class Access = DirectAccess>
void value_residual(const ValueResidual<T>& op, Access&& access = {}) {
  const std::size_t size = op.value_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row x = load_row(access, row_at(op.input, t, op.hidden_size), op.hidden_size);
    Row V = scaled(op.own_scale, projected(op.projection, size, x));
    add(V, scaled(op.first_scale, load_row(access, row_at(op.first_values, t, size), size)));
    store_row(access, row_at(op.values, t, size), V);
  }
}

}  // namespace depthcost::reference
