// Where AltUp's copies are made of the embedding, and where they end: model/REFERENCES.md, [altup].
// No fast kernel: nearly all of it is products with matrices of d x d.
#pragma once

#include "kernels/reference/mhc.hpp"

namespace depthcost::reference {

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
