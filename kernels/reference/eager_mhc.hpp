// The five launches of mHC in the paper's Table 1: coefficients, three applications, and the merge.
#pragma once

#include "kernels/operations/eager.hpp"
#include "kernels/reference/mhc.hpp"

namespace depthcost::reference {

template <class T, class Access = DirectAccess>
void run(const UnfusedMhcCoefficients<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows X = load_streams(access, op.streams, t, m, op.hidden_size);
    MhcCoefficients H = mhc_coefficients(op.mapping, X);
    store_row(access, row_at(op.pre, t, m), H.pre);
    store_row(access, row_at(op.post, t, m), H.post);
    store_row(access, row_at(op.residual, t, m * m), H.residual);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedMhcPre<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row pre = load_row(access, row_at(op.pre, t, m), m);
    Row h = weighted_sum(pre, load_streams(access, op.streams, t, m, op.hidden_size));
    store_row(access, row_at(op.output, t, op.hidden_size), h);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedMhcPost<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Row post = load_row(access, row_at(op.post, t, m), m);
    const Row f = load_row(access, row_at(op.layer_output, t, op.hidden_size), op.hidden_size);
    Rows spread;
    for (const double H_i : post) spread.push_back(scaled(H_i, f));
    store_streams(access, op.spread, t, spread);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedMhcResidual<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows X = load_streams(access, op.streams, t, m, op.hidden_size);
    Rows mixed;
    for (std::size_t i = 0; i < m; ++i)
      mixed.push_back(weighted_sum(load_row(access, row_at(op.residual, t * m + i, m), m), X));
    store_streams(access, op.mixed, t, mixed);
  }
}

template <class T, class Access = DirectAccess>
void run(const UnfusedMhcMerge<T>& op, Access&& access = {}) {
  const std::size_t m = op.num_streams;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows X = load_streams(access, op.mixed, t, m, op.hidden_size);
    const Rows spread = load_streams(access, op.spread, t, m, op.hidden_size);
    for (std::size_t i = 0; i < m; ++i) add(X[i], spread[i]);
    store_streams(access, op.next_streams, t, X);
  }
}

}  // namespace depthcost::reference
