// Deep Delta Learning, arXiv:2601.00417: a d x d_v state that a layer erases and writes along the
// direction of its output, and a compressor that reads the next layer's input from it. No fast
// kernel.
#pragma once

#include "kernels/reference/mhc.hpp"
#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// Tokens that the compressor sees: this one and those just before it. ddl_state_shortconv of
/// github.com/yifanzhang-pro/deep-delta-learning.
inline constexpr std::size_t kCompressorWidth = 4;

/// k = f / sqrt(f . f + eps^2), beta = 2 sigmoid(w . x + b), v = W_v x + b_v,
/// H = (I - beta k k^T) H + beta k v^T, and over the tokens up to t
///   y_t[e] = sum_c r[c] sum_j K[j][c][e] H_{t-j}[e][c], j = 0 .. 3; x_t = norm(y_t)
/// x on the right is the layer's own input; the public code takes v from it before its norm. The
/// first tokens see zeros in place of those before them.
template <class T>
struct DeltaLearning {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t value_width = 0;                // d_v
  T* state = nullptr;                         // H, column by column (T, d_v, d), read and written
  const T* layer_output = nullptr;            // f (T, d)
  const T* layer_input = nullptr;             // x of the layer that f comes from (T, d)
  const Scalar<T>* gate = nullptr;            // w (d)
  Scalar<T> gate_bias = 0;                    // b
  const Scalar<T>* values = nullptr;          // W_v (d_v, d)
  const Scalar<T>* value_bias = nullptr;      // b_v (d_v)
  const Scalar<T>* convolution = nullptr;     // K (4, d_v, d), this token's first
  const Scalar<T>* read_vector = nullptr;     // r (d_v)
  Scalar<T> direction_eps = Scalar<T>(1e-5);  // its ddl_k_eps
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x of the next layer (T, d); may be `layer_input`
};

/// f / sqrt(f . f + eps^2).
inline Row direction_of(const Row& f, double eps) {
  return scaled(1 / std::sqrt(dot(f, f) + eps * eps), f);
}

/// H = H + beta k (v^T - k^T H), which is the rule with H factored out.
inline void erase_and_write(Rows& H, const Row& k, double beta, const Row& v) {
  for (std::size_t c = 0; c < H.size(); ++c) add(H[c], scaled(beta * (v[c] - dot(k, H[c])), k));
}

/// y of the newest of `window`, whose states are in the order of their tokens.
template <class T>
Row compressed(const DeltaLearning<T>& op, const std::vector<Rows>& window) {
  const std::size_t d = op.hidden_size;
  Row y(d, 0.0);
  for (std::size_t j = 0; j < window.size(); ++j)
    for (std::size_t c = 0; c < op.value_width; ++c) {
      const Row& column = window[window.size() - 1 - j][c];
      const auto* K = row_at(op.convolution, j * op.value_width + c, d);
      for (std::size_t e = 0; e < d; ++e) y[e] += op.read_vector[c] * K[e] * column[e];
    }
  return y;
}

/// The states of the window stay on chip, so that each is read once.
template <class T, class Access = DirectAccess>
void delta_learning(const DeltaLearning<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const Row w = parameters(op.gate, d);
  const Row b_v = parameters(op.value_bias, op.value_width);
  std::vector<Rows> window;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows H = load_streams(access, op.state, t, op.value_width, d);
    const Row k =
        direction_of(load_row(access, row_at(op.layer_output, t, d), d), op.direction_eps);
    const Row x = load_row(access, row_at(op.layer_input, t, d), d);
    Row v = projected(op.values, op.value_width, x);
    add(v, b_v);
    erase_and_write(H, k, 2 * sigmoid(dot(w, x) + op.gate_bias), v);
    store_streams(access, op.state, t, H);
    window.push_back(std::move(H));
    if (window.size() > kCompressorWidth) window.erase(window.begin());
    Row next = next_norm(compressed(op, window), op.norm);
    store_row(access, row_at(op.output, t, d), next);
  }
}

}  // namespace depthcost::reference
