// Backward passes of mHC (arXiv:2512.24880v2 Eq. 3, 7-8).
#pragma once

#include "kernels/operations/backward/slices.hpp"
#include "kernels/operations/mhc.hpp"

namespace depthcost {

/// Backward of MhcPost, X'_i = sum_j H_res[i][j] X_j + H_post[i] f:
///   dX = H_res^T dX', df = sum_i H_post[i] dX'_i, dH_post[i] = dX'_i . f, dH_res[i][j] =
///   dX'_i . X_j
/// (3m + 2) d.
template <class T>
struct MhcPostBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;              // m
  const T* streams = nullptr;               // X (T, m, d)
  const T* layer_output = nullptr;          // f (T, d)
  const Scalar<T>* post = nullptr;          // H_post (T, m)
  const Scalar<T>* residual = nullptr;      // H_res (T, m, m)
  T* gradients = nullptr;                   // dX', then dX (T, m, d)
  T* layer_gradient = nullptr;              // df (T, d)
  Scalar<T>* post_gradients = nullptr;      // (T, m)
  Scalar<T>* residual_gradients = nullptr;  // (T, m, m)
};

/// Gradients of the mapping's parameters, added to.
template <class P>
struct MhcMappingGradients {
  P* phi = nullptr;     // (m m + 2 m, m d)
  P* bias = nullptr;    // (m m + 2 m)
  P* scales = nullptr;  // (3)
};

/// Backward of MhcPre, x = norm(u), u = sum_j H_pre[j] X_j, H of X by the mapping, which is made
/// again. With du, the norm's gradient, and dH_pre[j] = du . X_j; dz those of z = phi . n:
///   dX_j += H_pre[j] du + (phi^T dz - n ((phi^T dz) . n) / (m d))_j / R,  dphi += sum_t dz n^T,
///   n = vec(X) / R, R = sqrt(mean(vec(X)^2) + eps)
/// dz / R of every token is left, from which a product with X makes dphi: (3m + 1) d and, for the
/// product, m d.
template <class T>
struct MhcPreBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;                    // m
  const T* streams = nullptr;                     // X (T, m, d)
  const T* output_gradient = nullptr;             // dx (T, d)
  const Scalar<T>* post_gradients = nullptr;      // (T, m)
  const Scalar<T>* residual_gradients = nullptr;  // (T, m, m)
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;              // without a gain: dx is du
  T* gradients = nullptr;                     // dX (T, m, d), added to
  Scalar<T>* projection_gradients = nullptr;  // dz / R (T, m m + 2 m)
  MhcMappingGradients<Scalar<T>> into;
  Scalar<T>* gain_gradient = nullptr;  // (d), added to; null without a gain
  BasicTokenSlices<Scalar<T>> slices;  // of all parameters: num_parameters()
};

/// Backward of MhcBoundary in one scan: of the MhcPre that it ends with, then of its MhcPost, whose
/// dX' stays on chip between the two. `post.gradients` are dX' as the next boundary has left them,
/// then dX: (4m + 3) d and, for the product that makes dphi, m d.
template <class T>
struct MhcBoundaryBackward {
  MhcPostBackward<T> post;
  const T* next_streams = nullptr;                     // X' (T, m, d)
  const T* output_gradient = nullptr;                  // dx (T, d)
  const Scalar<T>* next_post_gradients = nullptr;      // of H_post of X' (T, m)
  const Scalar<T>* next_residual_gradients = nullptr;  // of H_res of X' (T, m, m)
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;              // without a gain: dx is du
  Scalar<T>* projection_gradients = nullptr;  // dz / R (T, m m + 2 m)
  MhcMappingGradients<Scalar<T>> into;
  Scalar<T>* gain_gradient = nullptr;  // (d), added to; null without a gain
  BasicTokenSlices<Scalar<T>> slices;  // of all parameters: num_parameters()
};

/// The mhc_pre_backward that it begins with.
template <class T>
constexpr MhcPreBackward<T> pre_backward_of(const MhcBoundaryBackward<T>& op) {
  return {.num_tokens = op.post.num_tokens,
          .hidden_size = op.post.hidden_size,
          .num_streams = op.post.num_streams,
          .streams = op.next_streams,
          .output_gradient = op.output_gradient,
          .post_gradients = op.next_post_gradients,
          .residual_gradients = op.next_residual_gradients,
          .mapping = op.mapping,
          .norm = op.norm,
          .gradients = op.post.gradients,
          .projection_gradients = op.projection_gradients,
          .into = op.into,
          .gain_gradient = op.gain_gradient,
          .slices = op.slices};
}

/// Rows of phi: m of H_pre, m of H_post, m m of H_res.
constexpr std::size_t num_mapping_rows(std::size_t num_streams) {
  return num_streams * (num_streams + 2);
}

/// phi, bias, the three scales and the gain, one behind the other.
template <class T>
constexpr std::size_t num_parameters(const MhcPreBackward<T>& op) {
  return num_mapping_rows(op.num_streams) * (op.num_streams * op.hidden_size + 1) + 3 +
         (op.norm.gain == nullptr ? 0 : op.hidden_size);
}

template <class T>
constexpr std::size_t num_parameters(const MhcBoundaryBackward<T>& op) {
  return num_parameters(pre_backward_of(op));
}

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const MhcPostBackward<T>& op);
template <class T>
void check(const MhcPreBackward<T>& op);
template <class T>
void check(const MhcBoundaryBackward<T>& op);

#define DEPTHCOST_MHC_BACKWARD_OPERATIONS(X) \
  X(MhcPostBackward, mhc_post_backward)      \
  X(MhcPreBackward, mhc_pre_backward)        \
  X(MhcBoundaryBackward, mhc_boundary_backward)

}  // namespace depthcost
