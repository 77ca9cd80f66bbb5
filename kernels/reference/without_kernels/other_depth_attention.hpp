// Two mechanisms that third parties call attention residuals, but that arXiv:2603.15031v1 does not
// contain. They have no fast kernel.
#pragma once

#include <cmath>

#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// Attention at block boundaries only, of normalised values, with logits over sqrt(d):
///   v_i = RMSNorm(h_i) o g, h = sum_i softmax_i(w . v_i / sqrt(d)) v_i
/// over n checkpoints and h + f. The new h is the next checkpoint as well, in one buffer; in
/// between, layers add as usual.
template <class T>
struct BoundaryDepthAttention {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_checkpoints = 0;   // n >= 1
  T* checkpoints = nullptr;          // (n + 1, T, d); row n is written, the new h
  const T* hidden_state = nullptr;   // h (T, d); null where it is row n - 1: no layer in between
  const T* layer_output = nullptr;   // f (T, d)
  const Scalar<T>* query = nullptr;  // w (d)
  BasicNextNorm<Scalar<T>> values;   // g and its eps
  BasicNextNorm<Scalar<T>> norm;     // without a gain: the output is h
  T* output = nullptr;               // x (T, d)
};

template <class T, class Access = DirectAccess>
void boundary_depth_attention(const BoundaryDepthAttention<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t n = op.num_checkpoints;
  const Row w = parameters(op.query, d);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows v = load_rows(access, row_at(op.checkpoints, t, d), n, op.num_tokens * d, d);
    v.push_back(op.hidden_state == nullptr ? v.back()
                                           : load_row(access, row_at(op.hidden_state, t, d), d));
    add(v.back(), load_row(access, row_at(op.layer_output, t, d), d));
    Row logits;
    for (Row& value : v) {
      value = next_norm(value, op.values);
      logits.push_back(dot(w, value) / std::sqrt(static_cast<double>(d)));
    }
    Row h = weighted_sum(softmax(std::move(logits)), v);
    store_row(access, row_at(op.checkpoints, n * op.num_tokens + t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// Attention over all earlier states with projected queries, keys and values, added to the
/// residual:
///   h = x + sum_i softmax_i(W_q x . W_k h_i / sqrt(d_k)) W_v h_i
/// x is the output of the layer on the newest state, h the next state.
template <class T>
struct HistoryAttention {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t key_size = 0;            // d_k
  std::size_t num_states = 0;          // n >= 1
  T* states = nullptr;                 // h_i (n + 1, T, d); row n is written
  const T* layer_output = nullptr;     // x (T, d)
  const Scalar<T>* queries = nullptr;  // W_q (d_k, d)
  const Scalar<T>* keys = nullptr;     // W_k (d_k, d)
  const Scalar<T>* values = nullptr;   // W_v (d, d)
};

template <class T, class Access = DirectAccess>
void history_attention(const HistoryAttention<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t n = op.num_states;
  const double scale = std::sqrt(static_cast<double>(op.key_size));
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows states = load_rows(access, row_at(op.states, t, d), n, op.num_tokens * d, d);
    Row h = load_row(access, row_at(op.layer_output, t, d), d);
    const Row q = projected(op.queries, op.key_size, h);
    Row logits;
    Rows values;
    for (const Row& state : states) {
      logits.push_back(dot(q, projected(op.keys, op.key_size, state)) / scale);
      values.push_back(projected(op.values, d, state));
    }
    add(h, weighted_sum(softmax(std::move(logits)), values));
    store_row(access, row_at(op.states, n * op.num_tokens + t, d), h);
  }
}

/// The same attention with keys and values that are kept from layer to layer, since all layers
/// share the projections:
///   h = x + sum_i softmax_i(q . k_i / sqrt(d_k)) v_i
/// with q = W_q x, k_i = W_k h_i and v_i = W_v h_i; each state is projected once, behind its layer.
template <class T>
struct HistoryScan {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t key_size = 0;         // d_k
  std::size_t num_states = 0;       // n >= 1
  const T* query = nullptr;         // q (T, d_k)
  const T* keys = nullptr;          // k_i (n, T, d_k)
  const T* values = nullptr;        // v_i (n, T, d)
  const T* layer_output = nullptr;  // x (T, d)
  BasicNextNorm<Scalar<T>> norm;    // without a gain: the output is h
  T* next_state = nullptr;          // h (T, d)
  T* output = nullptr;              // (T, d)
};

template <class T, class Access = DirectAccess>
void history_scan(const HistoryScan<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t d_k = op.key_size;
  const std::size_t n = op.num_states;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row q = load_row(access, row_at(op.query, t, d_k), d_k);
    Row logits;
    for (const Row& k : load_rows(access, row_at(op.keys, t, d_k), n, op.num_tokens * d_k, d_k))
      logits.push_back(dot(q, k) / std::sqrt(static_cast<double>(d_k)));
    const Rows v = load_rows(access, row_at(op.values, t, d), n, op.num_tokens * d, d);
    Row h = load_row(access, row_at(op.layer_output, t, d), d);
    add(h, weighted_sum(softmax(std::move(logits)), v));
    store_row(access, row_at(op.next_state, t, d), h);
    Row x = next_norm(h, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
