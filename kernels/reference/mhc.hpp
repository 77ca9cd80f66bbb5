// Dynamic mHC: m residual streams that each layer reads from, writes to and mixes.
// arXiv:2512.24880v2.
#pragma once

#include "kernels/reference/mhc_mapping.hpp"

namespace depthcost::reference {

/// How often a kernel fetches the streams that it computes coefficients from. The results agree.
enum class StreamPasses {
  two,  // once for phi and once for the mix
  one,  // they stay on chip in between
};

/// The m streams of token `t`, of (T, m, d).
template <class T, class Access>
Rows load_streams(Access& access, const T* streams, std::size_t t, std::size_t m, std::size_t d) {
  return load_rows(access, row_at(streams, t, m * d), m, d, d);
}

template <class T, class Access>
void store_streams(Access& access, T* streams, std::size_t t, Rows& rows) {
  const std::size_t d = rows.front().size();
  for (std::size_t i = 0; i < rows.size(); ++i)
    store_row(access, row_at(streams, t * rows.size() + i, d), rows[i]);
}

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f.
inline Rows mhc_next_streams(const Rows& X, const Row& f, const Row& post, const Row& residual) {
  const std::size_t m = X.size();
  Rows next;
  for (std::size_t i = 0; i < m; ++i) {
    const Row H_i(residual.begin() + static_cast<std::ptrdiff_t>(i * m),
                  residual.begin() + static_cast<std::ptrdiff_t>((i + 1) * m));
    next.push_back(weighted_sum(H_i, X));
    add(next.back(), scaled(post[i], f));
  }
  return next;
}

/// Runs mhc_post for token `t` and returns the next streams as they were stored.
template <class T, class Access>
Rows mhc_post_token(const MhcPost<T>& op, std::size_t t, Access& access) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const Rows X = load_streams(access, op.streams, t, m, d);
  const Row f = load_row(access, row_at(op.layer_output, t, d), d);
  const Row post = load_row(access, row_at(op.post, t, m), m);
  const Row residual = load_row(access, row_at(op.residual, t, m * m), m * m);
  Rows next = mhc_next_streams(X, f, post, residual);
  store_streams(access, op.next_streams, t, next);
  return next;
}

template <class T, class Access = DirectAccess>
void run(const MhcPost<T>& op, Access&& access = {}) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) mhc_post_token(op, t, access);
}

/// Stores H_post, H_res and x of streams X, which are on chip. Under StreamPasses::two X is fetched
/// again from `streams` for the mix. `Op` is MhcPre, or has another mapping.
template <class Op, class Access>
void mhc_pre_token(const Op& op, std::size_t t, Rows X, StreamPasses passes, Access& access) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  MhcCoefficients H = mhc_coefficients(op.mapping, X);
  store_row(access, row_at(op.post, t, m), H.post);
  store_row(access, row_at(op.residual, t, m * m), H.residual);
  if (passes == StreamPasses::two) X = load_streams(access, op.streams, t, m, d);
  Row x = next_norm(weighted_sum(H.pre, X), op.norm);
  store_row(access, row_at(op.output, t, d), x);
}

/// `Op` is MhcPre, or has another mapping and is otherwise the same.
template <class Op, class Access = DirectAccess>
void mhc_pre(const Op& op, Access&& access = {}, StreamPasses passes = StreamPasses::two) {
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows X = load_streams(access, op.streams, t, op.num_streams, op.hidden_size);
    mhc_pre_token(op, t, std::move(X), passes, access);
  }
}

template <class T, class Access = DirectAccess>
void run(const MhcPre<T>& op, Access&& access = {}) {
  mhc_pre(op, access);
}

template <class T, class Access = DirectAccess>
void run(const MhcBoundary<T>& op, Access&& access = {}, StreamPasses passes = StreamPasses::two) {
  const MhcPre<T> next = next_pre(op);
  for (std::size_t t = 0; t < op.post.num_tokens; ++t)
    mhc_pre_token(next, t, mhc_post_token(op.post, t, access), passes, access);
}

}  // namespace depthcost::reference
