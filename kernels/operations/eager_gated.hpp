// The launches of Gated Residual in eager mode, one by one: model/REFERENCES.md, [gated_residual].
// lambda f and its addition to the streams are UnfusedMhcPost and UnfusedMhcMerge. Results of
// matrices that are no d-vectors are scalars of f32, as the fused passes have them.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// Xn_i = X_i / sqrt(mean(X_i^2) + eps) o (1 + g_i).
template <class T>
struct UnfusedGatedNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // n
  const T* streams = nullptr;   // X (T, n, d)
  const T* gain = nullptr;      // g (n, d)
  Scalar<T> eps = kNormEps<Scalar<T>>;
  T* output = nullptr;  // Xn (T, n, d)
};

/// y = W vec(Xn) / n: W is D with r rows, or B with n.
template <class T>
struct UnfusedGateDown {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // n
  std::size_t num_outputs = 0;  // o
  const T* input = nullptr;     // Xn (T, n, d)
  const T* weights = nullptr;   // W (o, n, d)
  Scalar<T>* output = nullptr;  // y (T, o)
};

/// z = U a. Units for matrices of bf16 take a as bf16.
template <class T>
struct UnfusedGateUp {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;            // n
  std::size_t rank = 0;                   // r
  const Scalar<T>* activation = nullptr;  // a (T, r)
  const T* up = nullptr;                  // U (n, d, r)
  T* output = nullptr;                    // z (T, n, d)
};

/// The functions between the products.
enum class GateFunction {
  sigmoid,        // of the logits
  twice_sigmoid,  // of B's results: lambda
  silu,           // of D's results: a
};

/// y = function(z), element by element. Scalars are rows of float: r of one stream, or n.
template <class T>
struct UnfusedActivation {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // n
  GateFunction function = GateFunction::sigmoid;
  const T* input = nullptr;  // z (T, n, d)
  T* output = nullptr;       // y (T, n, d)
};

/// Y = G o Xn.
template <class T>
struct UnfusedGateProduct {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // n
  const T* gates = nullptr;     // G (T, n, d)
  const T* input = nullptr;     // Xn (T, n, d)
  T* output = nullptr;          // Y (T, n, d)
};

/// x = (1/n) sum_i Y_i.
template <class T>
struct UnfusedStreamMean {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // n
  const T* streams = nullptr;   // Y (T, n, d)
  T* output = nullptr;          // x (T, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const UnfusedGatedNorm<T>& op);
template <class T>
void check(const UnfusedGateDown<T>& op);
template <class T>
void check(const UnfusedGateUp<T>& op);
template <class T>
void check(const UnfusedActivation<T>& op);
template <class T>
void check(const UnfusedGateProduct<T>& op);
template <class T>
void check(const UnfusedStreamMean<T>& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_EAGER_GATED_OPERATIONS(X)   \
  X(UnfusedGatedNorm, unfused_gated_norm)     \
  X(UnfusedGateDown, unfused_gate_down)       \
  X(UnfusedGateUp, unfused_gate_up)           \
  X(UnfusedActivation, unfused_activation)    \
  X(UnfusedGateProduct, unfused_gate_product) \
  X(UnfusedStreamMean, unfused_stream_mean)

}  // namespace depthcost
