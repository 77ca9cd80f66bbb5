// Residuals whose terms have fixed scales, shifts, or a gate.
#pragma once

#include "kernels/operations/residual.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// h = beta h + lambda o f.
template <class T, class Access = DirectAccess>
void run(const ScaledAddRmsNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const Row lambda = parameters(op.scales, op.num_scales);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row h = load_row(access, row_at(op.hidden_state, t, d), d);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    for (std::size_t i = 0; i < d; ++i)
      h[i] = op.hidden_scale * h[i] + lambda[i % op.num_scales] * f[i];
    store_row(access, row_at(op.hidden_state, t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// g = sigmoid(z); h = (1 - g) o h + g o f.
template <class T, class Access = DirectAccess>
void run(const HighwayRmsNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row h = load_row(access, row_at(op.hidden_state, t, d), d);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    const Row z = load_row(access, row_at(op.gate_logits, t, d), d);
    for (std::size_t i = 0; i < d; ++i) {
      const double g = sigmoid(z[i]);
      h[i] = (1 - g) * h[i] + g * f[i];
    }
    store_row(access, row_at(op.hidden_state, t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// (v + shift) o scale; v itself where there is no scale.
template <class P>
Row channel_scaled(Row v, const P* scale, const P* shift) {
  if (scale == nullptr) return v;
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = (v[i] + to_double(shift[i])) * to_double(scale[i]);
  return v;
}

/// r = (r + b_r) o s_r + (f + b_f) o s_f.
template <class T, class Access = DirectAccess>
void run(const ResidualScalingRmsNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row r = channel_scaled(load_row(access, row_at(op.hidden_state, t, d), d), op.hidden_scales,
                           op.hidden_shifts);
    add(r,
        channel_scaled(load_row(access, row_at(op.layer_output, t, d), d), op.scales, op.shifts));
    store_row(access, row_at(op.hidden_state, t, d), r);
    Row x = next_norm(r, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
