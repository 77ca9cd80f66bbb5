// MUDDFormer, arXiv:2502.12170 Eq. 5-8: behind every Transformer block, C mixes of the outputs of
// all blocks, with weights made from the newest. No fast kernel.
#pragma once

#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// X_i = h + f; dw = W_2 GELU(W_1 RMSNorm(X_i)) + a, s weights for each of C ways.
template <class T>
struct MuddWeights {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_weights = 0;        // C s
  std::size_t width = 0;              // of the layer between W_1 and W_2
  const T* hidden_state = nullptr;    // h (T, d)
  const T* layer_output = nullptr;    // f (T, d)
  const Scalar<T>* first = nullptr;   // W_1 (width, d)
  const Scalar<T>* second = nullptr;  // W_2 (C s, width)
  const Scalar<T>* prior = nullptr;   // a (C s)
  Scalar<T> eps = kNormEps<Scalar<T>>;
  T* newest = nullptr;           // X_i (T, d)
  Scalar<T>* weights = nullptr;  // dw (T, C, s)
};

/// X^c = sum_j dw^c_j X_j. The last way is the next hidden state, what is in front of it are inputs
/// of the next layer, normalised; one way alone is both. Behind the last block there is no next
/// hidden state, and one way.
template <class T>
struct MuddMix {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_sources = 0;         // s
  std::size_t num_ways = 0;            // C
  const T* bank = nullptr;             // X_0 .. X_i (s, T, d)
  const Scalar<T>* weights = nullptr;  // dw (T, C, s)
  BasicNextNorm<Scalar<T>> norm;
  T* hidden_state = nullptr;  // (T, d), or null
  T* outputs = nullptr;       // max(C - 1, 1) inputs (.., T, d)
};

/// x Phi(x), Phi the distribution function of the normal distribution. arXiv:1606.08415.
inline double gelu(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }

template <class T, class Access = DirectAccess>
void mudd_weights(const MuddWeights<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row X = load_row(access, row_at(op.hidden_state, t, d), d);
    add(X, load_row(access, row_at(op.layer_output, t, d), d));
    store_row(access, row_at(op.newest, t, d), X);
    Row inner = projected(op.first, op.width, rms_norm(X, op.eps));
    for (double& element : inner) element = gelu(element);
    Row dw = projected(op.second, op.num_weights, inner);
    add(dw, parameters(op.prior, op.num_weights));
    store_row(access, row_at(op.weights, t, op.num_weights), dw);
  }
}

template <class T, class Access = DirectAccess>
void mudd_mix(const MuddMix<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t s = op.num_sources;
  const std::size_t num_inputs = std::max<std::size_t>(op.num_ways - 1, 1);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows X = load_rows(access, row_at(op.bank, t, d), s, op.num_tokens * d, d);
    for (std::size_t way = 0; way < op.num_ways; ++way) {
      Row mixed =
          weighted_sum(load_row(access, row_at(op.weights, t * op.num_ways + way, s), s), X);
      if (way + 1 == op.num_ways && op.hidden_state != nullptr)
        store_row(access, row_at(op.hidden_state, t, d), mixed);
      if (way >= num_inputs) continue;
      Row x = next_norm(mixed, op.norm);
      store_row(access, row_at(op.outputs, way * op.num_tokens + t, d), x);
    }
  }
}

}  // namespace depthcost::reference
