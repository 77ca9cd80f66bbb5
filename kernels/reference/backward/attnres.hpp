// Backward passes of attention residuals: of a mix in one scan, and of a block in two phases. With
// p = softmax(s), h = sum_i p_i v_i and s_i = w . v_i / r_i, r_i = sqrt(mean(v_i^2) + eps):
//   ds_i = p_i (dh . v_i - dh . h)
//   dv_i = p_i dh + ds_i (w - s_i v_i / (d r_i)) / r_i,  dw = sum_i ds_i v_i / r_i
#pragma once

#include "kernels/reference/attention.hpp"
#include "kernels/reference/backward/norm.hpp"

namespace depthcost::reference {

/// dv_i from weight p_i and ds_i; adds ds_i v_i / r_i to `dw`.
inline Row source_gradient(const Row& w, const Row& v, double p, double ds, const Row& dh,
                           double eps, Row& dw) {
  Row dv = scaled(p, dh);
  add(dv, rms_norm_backward(v, scaled(ds, w), eps));
  add(dw, scaled(ds, rms_norm(v, eps)));
  return dv;
}

/// Of AttnResSinglePass over n rows of a bank and, where there is one, the partial sum as it was
/// stored; scores and h are made again. The gradient of b + f is that of b and of f.
template <class T>
struct AttnResSinglePassBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_sources = 0;    // n
  const T* bank = nullptr;             // (n, T, d)
  const T* partial_sum = nullptr;      // b + f (T, d), or null
  const T* output_gradient = nullptr;  // dx (T, d)
  const Scalar<T>* query = nullptr;    // w (d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  BasicNextNorm<Scalar<T>> norm;
  bool adds = false;              // to gradients that later layers have left
  T* bank_gradients = nullptr;    // (n, T, d)
  T* partial_gradient = nullptr;  // (T, d)
  Scalar<T>* query_gradient = nullptr;
  Scalar<T>* gain_gradient = nullptr;
};

template <class T, class Access = DirectAccess>
void run_backward(const AttnResSinglePassBackward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t n = op.num_bank_sources;
  const Row w = parameters(op.query, d);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows v = load_rows(access, row_at(op.bank, t, d), n, op.num_tokens * d, d);
    if (op.partial_sum != nullptr) v.push_back(load_row(access, row_at(op.partial_sum, t, d), d));
    const Row p = depth_weights(w, v, op.key_eps);
    const Row h = weighted_sum(p, v);
    const Row dh = next_norm_backward(h, load_row(access, row_at(op.output_gradient, t, d), d),
                                      op.norm, op.gain_gradient);
    const double dh_h = dot(dh, h);
    Row dw(d, 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double ds = p[i] * (dot(dh, v[i]) - dh_h);
      T* row = i < n ? row_at(op.bank_gradients, i * op.num_tokens + t, d)
                     : row_at(op.partial_gradient, t, d);
      store_gradient(access, row, source_gradient(w, v[i], p[i], ds, dh, op.key_eps, dw), op.adds);
    }
    add_parameters(op.query_gradient, dw);
  }
}

/// Of AttnResPhase2 without further sources, from the second layer of a block on: of the partial
/// sum alone, whose gradient needs no row of the bank. h is the mix, dh its gradient, and `log_sum`
/// the logarithm of sum_i e^{s_i} over all sources. dh . h is left for Phase 1, which runs last.
template <class T>
struct AttnResPhase2Backward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* partial_sum = nullptr;      // b + f (T, d)
  const T* mix = nullptr;              // h (T, d)
  const T* mix_gradient = nullptr;     // dh (T, d)
  const Scalar<T>* log_sum = nullptr;  // (T)
  const Scalar<T>* query = nullptr;    // w (d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  T* partial_gradient = nullptr;        // (T, d), added to
  Scalar<T>* product = nullptr;         // dh . h (T)
  Scalar<T>* query_gradient = nullptr;  // (d)
};

template <class T, class Access = DirectAccess>
void run_backward(const AttnResPhase2Backward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const Row w = parameters(op.query, d);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row v = load_row(access, row_at(op.partial_sum, t, d), d);
    const Row dh = load_row(access, row_at(op.mix_gradient, t, d), d);
    const double dh_h = dot(dh, load_row(access, row_at(op.mix, t, d), d));
    const double p = std::exp(score(w, v, op.key_eps) - access.load(op.log_sum + t));
    const double ds = p * (dot(dh, v) - dh_h);
    Row dw(d, 0.0);
    store_gradient(access, row_at(op.partial_gradient, t, d),
                   source_gradient(w, v, p, ds, dh, op.key_eps, dw), true);
    access.store(op.product + t, dh_h);
    add_parameters(op.query_gradient, dw);
  }
}

/// Of AttnResPhase1: the bank's rows for all S queries of a block at once. The first query's dh . h
/// is made again from the bank, which is all that it attends to.
template <class T>
struct AttnResPhase1Backward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_sources = 0;     // n
  std::size_t num_queries = 0;          // S
  const T* bank = nullptr;              // (n, T, d)
  const T* mix_gradients = nullptr;     // dh (S, T, d)
  const Scalar<T>* log_sums = nullptr;  // (S, T)
  const Scalar<T>* products = nullptr;  // dh . h (S, T), of which the first is not read
  const Scalar<T>* queries = nullptr;   // (S, d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  T* bank_gradients = nullptr;           // (n, T, d), added to
  Scalar<T>* query_gradients = nullptr;  // (S, d)
};

/// The weights of query `s` over `v`, of a softmax that may have had one more source.
template <class T, class Access>
Row bank_weights(const AttnResPhase1Backward<T>& op, std::size_t s, std::size_t t, const Rows& v,
                 Access& access) {
  const double log_sum = access.load(op.log_sums + s * op.num_tokens + t);
  Row p = scores(parameters(row_at(op.queries, s, op.hidden_size), op.hidden_size), v, op.key_eps);
  for (double& weight : p) weight = std::exp(weight - log_sum);
  return p;
}

template <class T, class Access = DirectAccess>
void run_backward(const AttnResPhase1Backward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t n = op.num_bank_sources;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows v = load_rows(access, row_at(op.bank, t, d), n, op.num_tokens * d, d);
    Rows dv(n, Row(d, 0.0));
    for (std::size_t s = 0; s < op.num_queries; ++s) {
      const Row w = parameters(row_at(op.queries, s, d), d);
      const Row dh = load_row(access, row_at(op.mix_gradients, s * op.num_tokens + t, d), d);
      const Row p = bank_weights(op, s, t, v, access);
      const double dh_h =
          s == 0 ? dot(dh, weighted_sum(p, v)) : access.load(op.products + s * op.num_tokens + t);
      Row dw(d, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        const double ds = p[i] * (dot(dh, v[i]) - dh_h);
        add(dv[i], source_gradient(w, v[i], p[i], ds, dh, op.key_eps, dw));
      }
      add_parameters(row_at(op.query_gradients, s, d), dw);
    }
    for (std::size_t i = 0; i < n; ++i)
      store_gradient(access, row_at(op.bank_gradients, i * op.num_tokens + t, d), dv[i], true);
  }
}

}  // namespace depthcost::reference
