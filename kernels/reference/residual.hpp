// The standard residual, h_l = h_{l-1} + f_{l-1}(h_{l-1}).
#pragma once

#include "kernels/operations/residual.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// Adds f to h for one token and returns h as it was stored.
template <class T, class Access>
Row add_in_place(Access& access, T* hidden_state, const T* layer_output, std::size_t d) {
  Row h = load_row(access, hidden_state, d);
  add(h, load_row(access, layer_output, d));
  store_row(access, hidden_state, h);
  return h;
}

template <class T, class Access = DirectAccess>
void run(const ResidualAdd<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t)
    add_in_place(access, row_at(op.hidden_state, t, d), row_at(op.layer_output, t, d), d);
}

template <class T, class Access = DirectAccess>
void run(const ResidualAddRmsNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row h =
        add_in_place(access, row_at(op.hidden_state, t, d), row_at(op.layer_output, t, d), d);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
