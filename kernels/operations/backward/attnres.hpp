// Backward passes of attention residuals. With s_i = w . v_i / r_i, r_i = sqrt(mean(v_i^2) + eps),
// p = softmax(s), h = sum_i p_i v_i (arXiv:2603.15031v1 Eq. 2-4) and the gradient dh of the mix:
//   ds_i = p_i (dh . v_i - dh . h)
//   dv_i = p_i dh + ds_i (w - s_i v_i / (d r_i)) / r_i,  dw += sum_t sum_i ds_i v_i / r_i
// Scores are made again; nothing but rows is kept from the forward pass in one scan.
#pragma once

#include "kernels/operations/backward/slices.hpp"
#include "kernels/operations/row_operation.hpp"

namespace depthcost {

/// Backward of AttnResSinglePass (the paper's choices) over n rows of a bank and, where there is
/// one, the partial sum as it was stored. The gradient of b + f is that of b and of f. One read of
/// each source: (2n + 1) d, or (3n + 1) d where gradients are added to those of later layers. There
/// is at least one source.
template <class T>
struct AttnResSinglePassBackward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_sources = 0;         // n
  const T* bank = nullptr;                  // (n, T, d)
  const T* partial_sum = nullptr;           // b + f (T, d), or null
  const T* output_gradient = nullptr;       // dx (T, d)
  const Scalar<T>* query = nullptr;         // w (d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;  // of the RMSNorm inside the softmax
  BasicNextNorm<Scalar<T>> norm;            // without a gain: dx is dh
  GradientStore store = GradientStore::add;
  T* bank_gradients = nullptr;          // dv (n, T, d)
  T* partial_gradient = nullptr;        // (T, d); null without a partial sum
  Scalar<T>* query_gradient = nullptr;  // dw (d), added to
  Scalar<T>* gain_gradient = nullptr;   // (d), added to; null without a gain
  BasicTokenSlices<Scalar<T>> slices;   // of d parameters, and of the gain's d
};

/// Backward of AttnResPhase2 without further sources, from the second layer of a block on: of the
/// partial sum, whose gradient needs no row of the bank, and of the norm. `log_sum` is log sum_i
/// e^{s_i} over all sources. dh . h is left for Phase 1, which runs last. 5 d, and 6 d with a norm,
/// whose dh is written for Phase 1, too.
template <class T>
struct AttnResPhase2Backward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* partial_sum = nullptr;      // b + f (T, d)
  const T* mix = nullptr;              // h (T, d)
  const Scalar<T>* log_sum = nullptr;  // (T)
  const Scalar<T>* query = nullptr;    // w (d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  BasicNextNorm<Scalar<T>> norm;        // without a gain: mix_gradient is dh already
  T* mix_gradient = nullptr;            // dx, then dh (T, d)
  T* partial_gradient = nullptr;        // (T, d), added to
  Scalar<T>* product = nullptr;         // dh . h (T)
  Scalar<T>* query_gradient = nullptr;  // (d), added to
  Scalar<T>* gain_gradient = nullptr;   // (d), added to; null without a gain
  BasicTokenSlices<Scalar<T>> slices;   // of d parameters, and of the gain's d
};

/// Backward of AttnResPhase1: the bank's rows for all S queries of a block at once, (3n + S) d. The
/// first query's mix is made again from the bank, which is all that it attends to, and its norm is
/// undone here.
template <class T>
struct AttnResPhase1Backward {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_sources = 0;     // n >= 1
  std::size_t num_queries = 0;          // S >= 1
  const T* bank = nullptr;              // (n, T, d)
  const T* mix_gradients = nullptr;     // dx of the first query, dh of the others (S, T, d)
  const Scalar<T>* log_sums = nullptr;  // (S, T)
  const Scalar<T>* products = nullptr;  // dh . h (S - 1, T) of all queries but the first
  const Scalar<T>* queries = nullptr;   // (S, d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  BasicNextNorm<Scalar<T>> norm;         // of the first query; without a gain: dx is dh
  T* bank_gradients = nullptr;           // (n, T, d), added to
  Scalar<T>* query_gradients = nullptr;  // (S, d), added to
  Scalar<T>* gain_gradient = nullptr;    // (d), added to; null without a gain
  BasicTokenSlices<Scalar<T>> slices;    // of S d parameters, and of the gain's d
};

/// Parameters of an operation above whose gradients are sums over tokens.
template <class T>
constexpr std::size_t num_parameters(const AttnResSinglePassBackward<T>& op) {
  return op.hidden_size * (op.norm.gain == nullptr ? 1 : 2);
}
template <class T>
constexpr std::size_t num_parameters(const AttnResPhase2Backward<T>& op) {
  return op.hidden_size * (op.norm.gain == nullptr ? 1 : 2);
}
template <class T>
constexpr std::size_t num_parameters(const AttnResPhase1Backward<T>& op) {
  return op.hidden_size * (op.num_queries + (op.norm.gain == nullptr ? 0 : 1));
}

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const AttnResSinglePassBackward<T>& op);
template <class T>
void check(const AttnResPhase2Backward<T>& op);
template <class T>
void check(const AttnResPhase1Backward<T>& op);

#define DEPTHCOST_ATTNRES_BACKWARD_OPERATIONS(X)             \
  X(AttnResSinglePassBackward, attnres_single_pass_backward) \
  X(AttnResPhase1Backward, attnres_phase1_backward)          \
  X(AttnResPhase2Backward, attnres_phase2_backward)

}  // namespace depthcost
