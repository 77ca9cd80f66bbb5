// Hyper-connections whose coefficients are parameters.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// Static hyper-connections (arXiv:2409.19606), whose coefficients are parameters:
///   H_i = sum_j A_r[j][i] H_j + beta_i f, x = norm(sum_i A_m[i] H_i)
/// `next_streams` may be `streams`.
template <class T>
struct HcBoundary {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;          // m
  const T* streams = nullptr;           // H (T, m, d)
  const T* layer_output = nullptr;      // f (T, d)
  const Scalar<T>* residual = nullptr;  // A_r (m, m), from row to column
  const Scalar<T>* post = nullptr;      // beta (m)
  const Scalar<T>* pre = nullptr;       // A_m (m)
  BasicNextNorm<Scalar<T>> norm;        // without a gain: the output is the mix
  T* next_streams = nullptr;            // (T, m, d)
  T* output = nullptr;                  // x (T, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const HcBoundary<T>& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_HYPER_CONNECTION_OPERATIONS(X) X(HcBoundary, hc_boundary)

}  // namespace depthcost
