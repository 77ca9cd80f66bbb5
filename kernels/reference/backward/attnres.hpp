// Backward passes of attention residuals: of a mix in one scan, and of a block in two phases. The
// equations stand in kernels/operations/backward/attnres.hpp.
#pragma once

#include "kernels/operations/backward/attnres.hpp"
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

template <class T, class Access = DirectAccess>
void run(const AttnResSinglePassBackward<T>& op, Access&& access = {}) {
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
      store_gradient(access, row, source_gradient(w, v[i], p[i], ds, dh, op.key_eps, dw), op.store);
    }
    add_parameters(op.query_gradient, dw);
  }
}

template <class T, class Access = DirectAccess>
void run(const AttnResPhase2Backward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const Row w = parameters(op.query, d);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row v = load_row(access, row_at(op.partial_sum, t, d), d);
    const Row h = load_row(access, row_at(op.mix, t, d), d);
    Row dh = next_norm_backward(h, load_row(access, row_at(op.mix_gradient, t, d), d), op.norm,
                                op.gain_gradient);
    if (op.norm.gain != nullptr) store_row(access, row_at(op.mix_gradient, t, d), dh);
    const double dh_h = dot(dh, h);
    const double p = std::exp(score(w, v, op.key_eps) - access.load(op.log_sum + t));
    const double ds = p * (dot(dh, v) - dh_h);
    Row dw(d, 0.0);
    store_gradient(access, row_at(op.partial_gradient, t, d),
                   source_gradient(w, v, p, ds, dh, op.key_eps, dw), GradientStore::add);
    access.store(op.product + t, dh_h);
    add_parameters(op.query_gradient, dw);
  }
}

/// The weights of query `s` over `v`, of a softmax that may have had one more source.
template <class T, class Access>
Row bank_weights(const AttnResPhase1Backward<T>& op, std::size_t s, std::size_t t, const Rows& v,
                 Access& access) {
  const double log_sum = access.load(op.log_sums + s * op.num_tokens + t);
  Row p = scores(parameters(row_at(op.queries, s, op.hidden_size), op.hidden_size), v, op.key_eps);
  for (double& weight : p) weight = std::exp(weight - log_sum);
  return p;
}

/// Makes dh of dx, the gradient behind the first query's norm, and returns dh . h.
template <class T>
double first_query_gradient(const AttnResPhase1Backward<T>& op, const Row& h, Row& dx) {
  dx = next_norm_backward(h, dx, op.norm, op.gain_gradient);
  return dot(dx, h);
}

template <class T, class Access = DirectAccess>
void run(const AttnResPhase1Backward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t n = op.num_bank_sources;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows v = load_rows(access, row_at(op.bank, t, d), n, op.num_tokens * d, d);
    Rows dv(n, Row(d, 0.0));
    for (std::size_t s = 0; s < op.num_queries; ++s) {
      const Row w = parameters(row_at(op.queries, s, d), d);
      Row dh = load_row(access, row_at(op.mix_gradients, s * op.num_tokens + t, d), d);
      const Row p = bank_weights(op, s, t, v, access);
      const double dh_h = s == 0 ? first_query_gradient(op, weighted_sum(p, v), dh)
                                 : access.load(op.products + (s - 1) * op.num_tokens + t);
      Row dw(d, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        const double ds = p[i] * (dot(dh, v[i]) - dh_h);
        add(dv[i], source_gradient(w, v[i], p[i], ds, dh, op.key_eps, dw));
      }
      add_parameters(row_at(op.query_gradients, s, d), dw);
    }
    for (std::size_t i = 0; i < n; ++i)
      store_gradient(access, row_at(op.bank_gradients, i * op.num_tokens + t, d), dv[i],
                     GradientStore::add);
  }
}

}  // namespace depthcost::reference
