// Residual scaling of ZAYA1: model/REFERENCES.md, [residual_scaling]. No fast kernel.
#pragma once

#include "kernels/operations/operands.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// A scale and a shift for each channel: (v + shift) o scale.
template <class T>
struct ChannelScale {
  const Scalar<T>* scale = nullptr;  // (d), or null: v stays as it is
  const Scalar<T>* shift = nullptr;  // (d)
};

/// r = (r + b_r) o s_r + (f + b_f) o s_f; x = norm(r).
template <class T>
struct ResidualScaling {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* stream = nullptr;              // r (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
  ChannelScale<T> of_stream;
  ChannelScale<T> of_output;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

template <class T>
Row channel_scaled(Row row, const ChannelScale<T>& by) {
  if (by.scale == nullptr) return row;
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = (row[i] + by.shift[i]) * by.scale[i];
  return row;
}

template <class T, class Access = DirectAccess>
void residual_scaling(const ResidualScaling<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row r = channel_scaled(load_row(access, row_at(op.stream, t, d), d), op.of_stream);
    add(r, channel_scaled(load_row(access, row_at(op.layer_output, t, d), d), op.of_output));
    store_row(access, row_at(op.stream, t, d), r);
    Row x = next_norm(r, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
