// KromHC (arXiv:2601.21579): hyper-connections whose residual matrix is a Kronecker product of
// small doubly stochastic ones, and so is one itself. No fast kernel.
#pragma once

#include "kernels/reference/stream_mappings.hpp"

namespace depthcost::reference {

/// mHC's phi and gates with a pair of logits for each of the log2 m factors,
///   H_res = U_1 (x) U_2 (x) .., U_k = p_k I + (1 - p_k) swap, p_k = softmax(a2 z_k + b_k)[0]
/// m is a power of two; the first factor tells the halves of the streams apart.
template <class P>
struct KromHcMapping {
  const P* phi = nullptr;   // (2 m + 2 log2 m, m d), rows pre, post, pairs
  const P* bias = nullptr;  // (2 m + 2 log2 m)
  P scales[3] = {0, 0, 0};  // a0, a1, a2
  P eps = kNormEps<P>;
};

/// A (x) B: A[i][j] B[k][l] at row i n + k and column j n + l, A m x m and B n x n.
inline Row kronecker(const Row& A, std::size_t m, const Row& B, std::size_t n) {
  Row product;
  for (std::size_t row = 0; row < m * n; ++row)
    for (std::size_t column = 0; column < m * n; ++column)
      product.push_back(A[row / n * m + column / n] * B[row % n * n + column % n]);
  return product;
}

template <class P>
MhcCoefficients mhc_coefficients(const KromHcMapping<P>& mapping, const Rows& streams) {
  std::size_t num_factors = 0;
  while (std::size_t{1} << num_factors < streams.size()) ++num_factors;
  MhcCoefficients H = mhc_gates(mapping, streams, 2 * num_factors);
  Row product{1};
  for (std::size_t k = 0; k < num_factors; ++k) {
    const Row p = softmax({H.residual[2 * k], H.residual[2 * k + 1]});
    product = kronecker(product, std::size_t{1} << k, {p[0], p[1], p[1], p[0]}, 2);
  }
  H.residual = product;
  return H;
}

}  // namespace depthcost::reference
