// Streamwise wide residual of Megatron-LM: model/REFERENCES.md, [wide_residual]. No fast kernel.
#pragma once

#include "kernels/reference/mhc.hpp"

namespace depthcost::reference {

/// X_k += 2 sigmoid(beta_k) f; x = norm(sum_k sigmoid(alpha_k) X_k).
template <class T>
struct WideResidual {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;       // K
  T* streams = nullptr;              // X (T, K, d), read and written
  const T* layer_output = nullptr;   // f (T, d)
  const Scalar<T>* write = nullptr;  // beta (K)
  const Scalar<T>* read = nullptr;   // alpha (K)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

template <class T, class Access = DirectAccess>
void wide_residual(const WideResidual<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  Row read;
  for (std::size_t k = 0; k < op.num_streams; ++k) read.push_back(sigmoid(op.read[k]));
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Rows X = load_streams(access, op.streams, t, op.num_streams, d);
    const Row f = load_row(access, row_at(op.layer_output, t, d), d);
    for (std::size_t k = 0; k < op.num_streams; ++k) add(X[k], scaled(2 * sigmoid(op.write[k]), f));
    store_streams(access, op.streams, t, X);
    Row x = next_norm(weighted_sum(read, X), op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

}  // namespace depthcost::reference
