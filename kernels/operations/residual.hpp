// The standard residual, and residuals whose terms are scaled or gated.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// h += f.
template <class T>
struct ResidualAdd {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
};

/// h += f; x = norm(h).
template <class T>
struct ResidualAddRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
  BasicNextNorm<Scalar<T>> norm;    // gain is required
  T* output = nullptr;              // x (T, d)
};

/// h = beta h + lambda o f; x = norm(h). One lambda for all elements: ReZero (arXiv:2003.04887),
/// LAuReL-RW (arXiv:2411.07501); one for each: LayerScale (arXiv:2103.17239).
template <class T>
struct ScaledAddRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;          // h (T, d), read and written
  const T* layer_output = nullptr;    // f (T, d)
  std::size_t num_scales = 1;         // 1 or d
  const Scalar<T>* scales = nullptr;  // lambda (1) or (d)
  Scalar<T> hidden_scale = 1;         // beta
  BasicNextNorm<Scalar<T>> norm;      // gain is required
  T* output = nullptr;                // x (T, d)
};

/// g = sigmoid(z); h = (1 - g) o h + g o f; x = norm(h). Highway networks,
/// arXiv:1505.00387.
template <class T>
struct HighwayRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
  const T* gate_logits = nullptr;   // z (T, d)
  BasicNextNorm<Scalar<T>> norm;    // gain is required
  T* output = nullptr;              // x (T, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const ResidualAdd<T>& op);
template <class T>
void check(const ResidualAddRmsNorm<T>& op);
template <class T>
void check(const ScaledAddRmsNorm<T>& op);
template <class T>
void check(const HighwayRmsNorm<T>& op);

}  // namespace depthcost
