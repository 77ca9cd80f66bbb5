// AltUp with LAuReL of Gemma 3n: kernels/operations/altup.hpp, model/REFERENCES.md [altup].
#pragma once

#include "kernels/operations/altup.hpp"
#include "kernels/reference/mhc.hpp"
#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// m(x) = tanh(M RMSNorm(x) / d).
template <class P>
Row modalities(const BasicAltupRouter<P>& router, std::size_t num_copies, const Row& x) {
  const Row normed = scaled(1 / static_cast<double>(x.size()), next_norm(x, router.norm));
  Row m = projected(router.matrix, num_copies, normed);
  for (double& element : m) element = std::tanh(element);
  return m;
}

/// p_i = h_i + sum_j P_ij h_j; x = norm(p_0).
template <class T, class Access = DirectAccess>
void run(const AltupPredict<T>& op, Access&& access = {}) {
  const std::size_t A = op.num_copies;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows h = load_streams(access, op.copies, t, A, op.hidden_size);
    const Row P = projected(op.coefficients, A * A, modalities(op.router, A, h.front()));
    Rows p = h;
    for (std::size_t i = 0; i < A; ++i)
      for (std::size_t j = 0; j < A; ++j) add(p[i], scaled(P[i * A + j], h[j]));
    store_streams(access, op.copies, t, p);
    Row x = next_norm(p.front(), op.norm);
    store_row(access, row_at(op.output, t, op.hidden_size), x);
  }
}

/// l = x + norm(R L x).
template <class T, class Access = DirectAccess>
void run(const AltupLaurel<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row x = load_row(access, row_at(op.input, t, d), d);
    Row l = next_norm(projected(op.up, d, projected(op.down, op.rank, x)), op.norm);
    add(l, x);
    store_row(access, row_at(op.output, t, d), l);
  }
}

/// q = (p_0 + norm(attention) + l) / sqrt 2; x = norm(q).
template <class T, class Access = DirectAccess>
void run(const AltupMiddle<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row q = load_row(access, row_at(op.copies, t, op.num_copies * d), d);
    add(q, next_norm(load_row(access, row_at(op.layer_output, t, d), d), op.output_norm));
    add(q, load_row(access, row_at(op.laurel, t, d), d));
    q = scaled(1 / std::sqrt(2.0), std::move(q));
    store_row(access, row_at(op.laurel, t, d), q);
    Row x = next_norm(q, op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// a = q + norm(MLP), h_i = p_i + c_i (a - p_0).
template <class T, class Access = DirectAccess>
void run(const AltupCorrect<T>& op, Access&& access = {}) {
  const std::size_t A = op.num_copies;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row a = next_norm(load_row(access, row_at(op.layer_output, t, d), d), op.output_norm);
    add(a, load_row(access, row_at(op.middle, t, d), d));
    const Row c = projected(op.coefficients, A, modalities(op.router, A, a));
    Rows p = load_streams(access, op.copies, t, A, d);
    Row change = a;
    add(change, scaled(-1, p.front()));
    for (std::size_t i = 0; i < A; ++i) add(p[i], scaled(c[i] + 1, change));
    store_streams(access, op.copies, t, p);
  }
}

}  // namespace depthcost::reference
