// Backward pass of a mix over depth whose weights are parameters.
#pragma once

#include "kernels/reference/backward/norm.hpp"

namespace depthcost::reference {

/// The backward pass of y = sum_j alpha_j v_j; x = norm(y), y made again. With g the gradient of y:
///   dv_j = alpha_j g, dalpha_j = v_j . g
/// The last source, h + f, is a row of the bank; its gradient is that of h and of f.
template <class T>
struct DenseMixBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_sources = 0;         // s
  const T* sources = nullptr;          // (s, T, d)
  const T* output_gradient = nullptr;  // dx (T, d)
  const T* next_gradient = nullptr;    // dy (T, d), or null: nothing else reads y
  const Scalar<T>* weights = nullptr;  // alpha (s)
  BasicNextNorm<Scalar<T>> norm;
  GradientStore store = GradientStore::overwrite;
  T* gradients = nullptr;  // (s, T, d)
  Scalar<T>* weight_gradients = nullptr;
  Scalar<T>* gain_gradient = nullptr;
};

template <class T, class Access = DirectAccess>
void run(const DenseMixBackward<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const std::size_t s = op.num_sources;
  const Row alpha = parameters(op.weights, s);
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    const Rows v = load_rows(access, row_at(op.sources, t, d), s, op.num_tokens * d, d);
    Row g = next_norm_backward(weighted_sum(alpha, v),
                               load_row(access, row_at(op.output_gradient, t, d), d), op.norm,
                               op.gain_gradient);
    if (op.next_gradient != nullptr) add(g, load_row(access, row_at(op.next_gradient, t, d), d));
    Row dalpha;
    for (std::size_t j = 0; j < s; ++j) {
      dalpha.push_back(dot(v[j], g));
      store_gradient(access, row_at(op.gradients, j * op.num_tokens + t, d), scaled(alpha[j], g),
                     op.store);
    }
    add_parameters(op.weight_gradients, dalpha);
  }
}

}  // namespace depthcost::reference
