// AltUp with LAuReL of Gemma 3n: model/REFERENCES.md, [altup]. No fast kernel.
#pragma once

#include "kernels/reference/mhc.hpp"
#include "kernels/reference/projection.hpp"

namespace depthcost::reference {

/// m(x) = tanh(M RMSNorm(x) / d), of A elements.
template <class T>
struct AltupRouter {
  const Scalar<T>* matrix = nullptr;  // M (A, d)
  BasicNextNorm<Scalar<T>> norm;
};

template <class T>
Row modalities(const AltupRouter<T>& router, std::size_t num_copies, const Row& x) {
  const Row normed = scaled(1 / static_cast<double>(x.size()), next_norm(x, router.norm));
  Row m = projected(router.matrix, num_copies, normed);
  for (double& element : m) element = std::tanh(element);
  return m;
}

/// p_i = h_i + sum_j P_ij h_j, P = P_c m(h_0) row by row; x = norm(p_0).
template <class T>
struct AltupPredict {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;  // A
  T* copies = nullptr;         // h, then p (T, A, d)
  AltupRouter<T> router;
  const Scalar<T>* coefficients = nullptr;  // P_c (A A, A)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

template <class T, class Access = DirectAccess>
void altup_predict(const AltupPredict<T>& op, Access&& access = {}) {
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
template <class T>
struct AltupLaurel {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t rank = 0;             // r
  const T* input = nullptr;         // x (T, d)
  const Scalar<T>* down = nullptr;  // L (r, d)
  const Scalar<T>* up = nullptr;    // R (d, r)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // l (T, d)
};

template <class T, class Access = DirectAccess>
void altup_laurel(const AltupLaurel<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row x = load_row(access, row_at(op.input, t, d), d);
    Row l = next_norm(projected(op.up, d, projected(op.down, op.rank, x)), op.norm);
    add(l, x);
    store_row(access, row_at(op.output, t, d), l);
  }
}

/// q = (p_0 + norm(attention) + l) / sqrt 2; x = norm(q). q takes the place of l.
template <class T>
struct AltupMiddle {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;
  const T* copies = nullptr;        // p (T, A, d), of which p_0 is read
  const T* layer_output = nullptr;  // of attention (T, d)
  T* laurel = nullptr;              // l, then q (T, d)
  BasicNextNorm<Scalar<T>> output_norm;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

template <class T, class Access = DirectAccess>
void altup_middle(const AltupMiddle<T>& op, Access&& access = {}) {
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

/// a = q + norm(MLP), c = C m(a) + 1, h_i = p_i + c_i (a - p_0).
template <class T>
struct AltupCorrect {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;
  T* copies = nullptr;              // p, then h (T, A, d)
  const T* layer_output = nullptr;  // of the MLP (T, d)
  const T* middle = nullptr;        // q (T, d)
  BasicNextNorm<Scalar<T>> output_norm;
  AltupRouter<T> router;
  const Scalar<T>* coefficients = nullptr;  // C (A, A)
};

template <class T, class Access = DirectAccess>
void altup_correct(const AltupCorrect<T>& op, Access&& access = {}) {
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

/// h_i of the embedding through E_i, with the size of h_0 = the embedding. The products lie in
/// `products`.
template <class T>
struct AltupEntry {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;
  const T* embedding = nullptr;  // (T, d)
  const T* products = nullptr;   // (T, A - 1, d)
  double eps = 1e-6;
  T* copies = nullptr;  // (T, A, d)
};

/// `row` with the size of `like`.
inline Row sized_as(Row row, const Row& like, double eps) {
  const double factor = root_mean_square(like, 0) / root_mean_square(row, eps);
  return scaled(factor, std::move(row));
}

template <class T, class Access = DirectAccess>
void altup_entry(const AltupEntry<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t A = op.num_copies;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row h = load_row(access, row_at(op.embedding, t, d), d);
    Rows copies{h};
    for (const Row& product : load_streams(access, op.products, t, A - 1, d))
      copies.push_back(sized_as(product, h, op.eps));
    store_streams(access, op.copies, t, copies);
  }
}

/// x = norm of the mean of h_0 and the products U_i h_i with the size of h_0.
template <class T>
struct AltupExit {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;
  const T* copies = nullptr;    // h (T, A, d), of which h_0 is read
  const T* products = nullptr;  // (T, A - 1, d)
  double eps = 1e-6;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

template <class T, class Access = DirectAccess>
void altup_exit(const AltupExit<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t A = op.num_copies;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row h = load_row(access, row_at(op.copies, t, A * d), d);
    Row sum = h;
    for (const Row& product : load_streams(access, op.products, t, A - 1, d))
      add(sum, sized_as(product, h, op.eps));
    Row x = next_norm(scaled(1 / static_cast<double>(A), std::move(sum)), op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
