// Residuals whose terms have a fixed scale or a gate.
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

}  // namespace depthcost::reference
