// Weights over depth that do not depend on the input: DenseFormer's, and the ablation of AttnRes.
#pragma once

#include <cassert>

#include "kernels/operations/dense_mix.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

/// y = sum_j alpha_j v_j; x = norm(y).
template <class T, class Access = DirectAccess>
void run(const DenseMix<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t n = op.num_bank_sources;
  assert(n <= op.num_bank_rows);
  const Row alpha = parameters(op.weights, n + 1);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows v = load_rows(access, row_at(op.bank, t, d), n, op.num_tokens * d, d);
    v.push_back(load_row(access, row_at(op.layer_output, t, d), d));
    if (op.hidden_state != nullptr)
      add(v.back(), load_row(access, row_at(op.hidden_state, t, d), d));
    if (op.bank_row != kNoRow)
      store_row(access, row_at(op.bank, op.bank_row * op.num_tokens + t, d), v.back());
    Row y = weighted_sum(alpha, v);
    if (op.mixed != nullptr) store_row(access, row_at(op.mixed, t, d), y);
    Row x = next_norm(y, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
