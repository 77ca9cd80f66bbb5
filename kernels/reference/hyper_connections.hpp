// Hyper-connections whose layer input is mixed in the scan that updates the streams: static ones,
// and Single-Pass mHC.
#pragma once

#include "kernels/operations/hyper_connections.hpp"
#include "kernels/operations/mhc.hpp"
#include "kernels/reference/mhc.hpp"

namespace depthcost::reference {

/// H_i = sum_j A_r[j][i] H_j + beta_i f: mhc_post's residual matrix is A_r transposed.
template <class P>
Row transposed(const P* matrix, std::size_t m) {
  Row columns;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) columns.push_back(matrix[j * m + i]);
  return columns;
}

/// x = norm(sum_i A_m[i] H_i), of the streams as they were stored.
template <class T, class Access = DirectAccess>
void run(const HcBoundary<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const Row A_r = transposed(op.residual, m);
  const Row beta = parameters(op.post, m);
  const Row A_m = parameters(op.pre, m);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows H = load_streams(access, op.streams, t, m, d);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    Rows next = mhc_next_streams(H, f, beta, A_r);
    store_streams(access, op.next_streams, t, next);
    Row x = next_norm(weighted_sum(A_m, next), op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// X_{l+1} = B_l X_l + C_l f_l, x = norm(A_l X_{l+1}), (A, B, C)_{l+1} = H(X_{l+1}).
template <class T, class Access = DirectAccess>
void run(const SinglePassMhc<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row A = load_row(access, row_at(op.pre, t, m), m);
    const Row B = load_row(access, row_at(op.residual, t, m * m), m * m);
    const Row C = load_row(access, row_at(op.post, t, m), m);
    const Rows X = load_streams(access, op.streams, t, m, d);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    Rows next = mhc_next_streams(X, f, C, B);
    store_streams(access, op.next_streams, t, next);
    Row x = next_norm(weighted_sum(A, next), op.norm);
    store_row(access, row_at(op.output, t, d), x);
    MhcCoefficients H = mhc_coefficients(op.mapping, next);
    store_row(access, row_at(op.next_pre, t, m), H.pre);
    store_row(access, row_at(op.next_post, t, m), H.post);
    store_row(access, row_at(op.next_residual, t, m * m), H.residual);
  }
}

}  // namespace depthcost::reference
