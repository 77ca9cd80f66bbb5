// Gated Residual in two passes: model/REFERENCES.md, [gated_residual].
//   Xn_i = X_i / sqrt(mean(X_i^2) + eps) o (1 + g_i)     a = SiLU(D vec(Xn) / n)
//   x = (1/n) sum_i sigmoid(U a)_i o Xn_i                lambda = 2 sigmoid(B vec(Xn) / n)
// Weights have the type of the rows. Xn and a are not rounded, but for matrix units, which take
// both as bf16: as engines do, which store them so.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// The first pass: X_i += lambda_i f of the layer before, then a and the next lambda.
/// `next_streams` may be `streams`, and `next_inject` may be `inject`.
template <class T>
struct GatedApplyDown {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;        // n
  std::size_t rank = 0;               // r
  const T* streams = nullptr;         // X (T, n, d)
  const T* layer_output = nullptr;    // f (T, d)
  const Scalar<T>* inject = nullptr;  // lambda (T, n)
  const T* gain = nullptr;            // g (n, d)
  const T* down = nullptr;            // D (r, n, d)
  const T* inject_weights = nullptr;  // B (n, n, d); null at the exit, with next_inject
  Scalar<T> eps = kNormEps<Scalar<T>>;
  T* next_streams = nullptr;         // (T, n, d)
  Scalar<T>* inverse_rms = nullptr;  // (T, n)
  Scalar<T>* activation = nullptr;   // a (T, r)
  Scalar<T>* next_inject = nullptr;  // (T, n)
};

/// The second pass: the gates and the layer's input.
template <class T>
struct GatedUpMix {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;             // n
  std::size_t rank = 0;                    // r
  const T* streams = nullptr;              // X (T, n, d)
  const Scalar<T>* inverse_rms = nullptr;  // (T, n)
  const T* gain = nullptr;                 // g (n, d)
  const T* up = nullptr;                   // U (n, d, r)
  const Scalar<T>* activation = nullptr;   // a (T, r)
  T* output = nullptr;                     // x (T, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const GatedApplyDown<T>& op);
template <class T>
void check(const GatedUpMix<T>& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_GATED_RESIDUAL_OPERATIONS(X) \
  X(GatedApplyDown, gated_residual_apply_down) \
  X(GatedUpMix, gated_residual_up_mix)

}  // namespace depthcost
