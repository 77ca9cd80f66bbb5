// LAuReL, arXiv:2411.07501, with a low-rank path over the state (LR) or over earlier states (PA).
// Its third form (RW) is scaled_add_rmsnorm. No fast kernel.
#pragma once

#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// h = h + B A h + f; x = norm(h).
template <class T>
struct LaurelLowRank {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t rank = 0;             // r
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
  const Scalar<T>* down = nullptr;  // A (r, d)
  const Scalar<T>* up = nullptr;    // B (d, r)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

template <class T, class Access = DirectAccess>
void laurel_low_rank(const LaurelLowRank<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row h = load_row(access, row_at(op.hidden_state, t, d), d);
    add(h, projected(op.up, d, projected(op.down, op.rank, h)));
    add(h, load_row(access, row_at(op.layer_output, t, d), d));
    store_row(access, row_at(op.hidden_state, t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// h_l = h_{l-1} + sum_{i=1}^{k} gamma_i B A h_{l-1-i} + f; x = norm(h_l).
template <class T>
struct LaurelHistory {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t rank = 0;                // r
  std::size_t num_earlier = 0;         // k
  const T* hidden_state = nullptr;     // h_{l-1} (T, d)
  const T* earlier = nullptr;          // h_{l-2}, h_{l-3} .. (k, T, d)
  const T* layer_output = nullptr;     // f (T, d)
  const Scalar<T>* weights = nullptr;  // gamma (k)
  const Scalar<T>* down = nullptr;     // A (r, d)
  const Scalar<T>* up = nullptr;       // B (d, r)
  BasicNextNorm<Scalar<T>> norm;
  T* next_state = nullptr;  // h_l (T, d)
  T* output = nullptr;      // x (T, d)
};

template <class T, class Access = DirectAccess>
void laurel_history(const LaurelHistory<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row h = load_row(access, row_at(op.hidden_state, t, d), d);
    for (std::size_t i = 0; i < op.num_earlier; ++i) {
      const Row past = load_row(access, row_at(op.earlier, i * op.num_tokens + t, d), d);
      add(h, scaled(op.weights[i], projected(op.up, d, projected(op.down, op.rank, past))));
    }
    add(h, load_row(access, row_at(op.layer_output, t, d), d));
    store_row(access, row_at(op.next_state, t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
