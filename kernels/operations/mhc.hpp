// Manifold-constrained hyper-connections (arXiv:2512.24880v2), and their variant in one scan.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// Which sums an iteration of Sinkhorn makes one first: columns or rows. What comes last is exact.
enum class SinkhornOrder { col_row, row_col };

/// The dynamic coefficients of mHC (arXiv:2512.24880v2 Eq. 7-8):
///   z = phi . vec(X) / sqrt(mean(vec(X)^2) + eps)
///   H_pre = sigmoid(a0 z_pre + b_pre), H_post = 2 sigmoid(a1 z_post + b_post),
///   H_res = Sinkhorn(exp(a2 z_res + b_res))
/// Logits may be any finite numbers: kernels work out the first sums of Sinkhorn on logarithms, so
/// that no exponential overflows and no line of them vanishes. `iterations` >= 1.
template <class P>
struct BasicMhcMapping {
  const P* phi = nullptr;   // (m m + 2 m, m d), rows pre, post, res
  const P* bias = nullptr;  // (m m + 2 m)
  P scales[3] = {0, 0, 0};  // a0, a1, a2
  P eps = kNormEps<P>;
  std::size_t iterations = 20;
  SinkhornOrder order = SinkhornOrder::col_row;
};
using MhcMapping = BasicMhcMapping<float>;

/// Coefficients of the layer, its input x = sum_j H_pre[j] X_j, normalised if there is a gain;
/// H_post and H_res are left for mhc_post.
template <class T>
struct MhcPre {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // m
  const T* streams = nullptr;   // X (T, m, d)
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;            // x (T, d)
  Scalar<T>* post = nullptr;      // H_post (T, m)
  Scalar<T>* residual = nullptr;  // H_res (T, m, m)
};

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f. `next_streams` may be `streams`.
template <class T>
struct MhcPost {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* streams = nullptr;           // X (T, m, d)
  const T* layer_output = nullptr;      // f (T, d)
  const Scalar<T>* post = nullptr;      // H_post (T, m)
  const Scalar<T>* residual = nullptr;  // H_res (T, m, m)
  T* next_streams = nullptr;            // (T, m, d)
};

/// mhc_post, then the next layer's mhc_pre and norm, in one kernel. `next_post` and `next_residual`
/// may be `post` and `residual`.
template <class T>
struct MhcBoundary {
  MhcPost<T> post;
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;                 // x (T, d)
  Scalar<T>* next_post = nullptr;      // (T, m)
  Scalar<T>* next_residual = nullptr;  // (T, m, m)
};

/// The mhc_pre that a boundary ends with, on the streams that its mhc_post has stored.
template <class T>
MhcPre<T> next_pre(const MhcBoundary<T>& op) {
  return {.num_tokens = op.post.num_tokens,
          .hidden_size = op.post.hidden_size,
          .num_streams = op.post.num_streams,
          .streams = op.post.next_streams,
          .mapping = op.mapping,
          .norm = op.norm,
          .output = op.output,
          .post = op.next_post,
          .residual = op.next_residual};
}

/// Single-Pass mHC (arXiv:2609.19969 section 2.4.1), behind layer l:
///   X_{l+1} = B_l X_l + C_l f_l, x_{l+1} = norm(A_l X_{l+1}), (A, B, C)_{l+1} = H(X_{l+1})
/// H is the mapping of mHC, and all that is read comes from the call before, which saw X_l. B_l and
/// C_l are mHC's own; A_l is delayed: mHC mixes x_{l+1} by A_{l+1}, which needs a scan to the end
/// of X_{l+1} first. In front of layer 0, A is one-hot. Outputs may be the inputs of the same
/// shape, which they follow.
template <class T>
struct SinglePassMhc {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;          // m
  const T* streams = nullptr;           // X (T, m, d)
  const T* layer_output = nullptr;      // f (T, d)
  const Scalar<T>* pre = nullptr;       // A (T, m)
  const Scalar<T>* post = nullptr;      // C (T, m)
  const Scalar<T>* residual = nullptr;  // B (T, m, m)
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;       // without a gain: the output is the mix
  T* next_streams = nullptr;           // (T, m, d)
  T* output = nullptr;                 // x (T, d)
  Scalar<T>* next_pre = nullptr;       // (T, m)
  Scalar<T>* next_post = nullptr;      // (T, m)
  Scalar<T>* next_residual = nullptr;  // (T, m, m)
};

/// `count` matrices of m x m, in place: `iterations` times column and row sums are made one.
template <class P>
struct BasicSinkhorn {
  std::size_t count = 0;
  std::size_t num_streams = 0;
  P* matrices = nullptr;  // (count, m, m), positive
  std::size_t iterations = 20;
  SinkhornOrder order = SinkhornOrder::col_row;
};
using Sinkhorn = BasicSinkhorn<float>;

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const MhcPre<T>& op);
template <class T>
void check(const MhcPost<T>& op);
template <class T>
void check(const MhcBoundary<T>& op);
template <class T>
void check(const SinglePassMhc<T>& op);
void check(const Sinkhorn& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_MHC_OPERATIONS(X) \
  X(MhcPre, mhc_pre)                \
  X(MhcPost, mhc_post)              \
  X(MhcBoundary, mhc_boundary)      \
  X(SinglePassMhc, single_pass_mhc)

}  // namespace depthcost
