// The launches of a framework in eager mode, one by one: schedule `unfused`. Those of Gated
// Residual stand in eager_gated.hpp.
#pragma once

#include "kernels/operations/mhc.hpp"
#include "kernels/operations/row_operation.hpp"

namespace depthcost {

/// x = norm(h).
template <class T>
struct UnfusedRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* input = nullptr;  // (T, d)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // (T, d)

  static constexpr void operands(auto& op, auto& visit) {
    visit.at_least_one("hidden_size", op.hidden_size);
    visit.reads_inner("input", op.input, {op.num_tokens, op.hidden_size});
    visit.reads_inner("gain", op.norm.gain, {op.hidden_size});
    visit.writes("output", op.output, {op.num_tokens, op.hidden_size});
  }
};

/// V = stack of s sources, each (T, d), given as pointers.
template <class T>
struct UnfusedStack {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_sources = 0;        // s
  const T* const* sources = nullptr;  // s pointers
  T* stack = nullptr;                 // (s, T, d)
};

/// K = RMSNorm(V), without a gain.
template <class T>
struct UnfusedKeyNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_sources = 0;
  const T* stack = nullptr;  // (s, T, d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  T* keys = nullptr;  // (s, T, d)
};

/// logits[s][t] = w . K[s][t].
template <class T>
struct UnfusedScores {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_sources = 0;
  const T* keys = nullptr;           // (s, T, d)
  const Scalar<T>* query = nullptr;  // (d)
  Scalar<T>* logits = nullptr;       // (s, T)
};

/// h = softmax(logits) . V.
template <class T>
struct UnfusedMix {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_sources = 0;
  const T* stack = nullptr;           // (s, T, d)
  const Scalar<T>* logits = nullptr;  // (s, T)
  T* output = nullptr;                // (T, d)
};

// The five rows of the paper's Table 1, "mHC", as launches of their own. The coefficients wait in
// memory between them.

/// The coefficients of MhcMapping.
template <class T>
struct UnfusedMhcCoefficients {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // m
  const T* streams = nullptr;   // X (T, m, d)
  BasicMhcMapping<Scalar<T>> mapping;
  Scalar<T>* pre = nullptr;       // H_pre (T, m)
  Scalar<T>* post = nullptr;      // H_post (T, m)
  Scalar<T>* residual = nullptr;  // H_res (T, m, m)
};

/// h = sum_j H_pre[j] X_j.
template <class T>
struct UnfusedMhcPre {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* streams = nullptr;      // X (T, m, d)
  const Scalar<T>* pre = nullptr;  // H_pre (T, m)
  T* output = nullptr;             // h (T, d)
};

/// F_i = H_post[i] f.
template <class T>
struct UnfusedMhcPost {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* layer_output = nullptr;  // f (T, d)
  const Scalar<T>* post = nullptr;  // H_post (T, m)
  T* spread = nullptr;              // F (T, m, d)
};

/// R_i = sum_j H_res[i][j] X_j.
template <class T>
struct UnfusedMhcResidual {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* streams = nullptr;           // X (T, m, d)
  const Scalar<T>* residual = nullptr;  // H_res (T, m, m)
  T* mixed = nullptr;                   // R (T, m, d)
};

/// X = R + F.
template <class T>
struct UnfusedMhcMerge {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* mixed = nullptr;   // R (T, m, d)
  const T* spread = nullptr;  // F (T, m, d)
  T* next_streams = nullptr;  // X (T, m, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const UnfusedStack<T>& op);
template <class T>
void check(const UnfusedKeyNorm<T>& op);
template <class T>
void check(const UnfusedScores<T>& op);
template <class T>
void check(const UnfusedMix<T>& op);
template <class T>
void check(const UnfusedMhcCoefficients<T>& op);
template <class T>
void check(const UnfusedMhcPre<T>& op);
template <class T>
void check(const UnfusedMhcPost<T>& op);
template <class T>
void check(const UnfusedMhcResidual<T>& op);
template <class T>
void check(const UnfusedMhcMerge<T>& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_EAGER_OPERATIONS(X)                 \
  X(UnfusedRmsNorm, unfused_rmsnorm)                  \
  X(UnfusedStack, unfused_stack)                      \
  X(UnfusedKeyNorm, unfused_key_norm)                 \
  X(UnfusedScores, unfused_scores)                    \
  X(UnfusedMix, unfused_mix)                          \
  X(UnfusedMhcCoefficients, unfused_mhc_coefficients) \
  X(UnfusedMhcPre, unfused_mhc_pre)                   \
  X(UnfusedMhcPost, unfused_mhc_post)                 \
  X(UnfusedMhcResidual, unfused_mhc_residual)         \
  X(UnfusedMhcMerge, unfused_mhc_merge)

DEPTHCOST_EAGER_OPERATIONS(DEPTHCOST_NAME_OPERATION)

}  // namespace depthcost
