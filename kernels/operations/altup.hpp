// AltUp with LAuReL of Gemma 3n: model/REFERENCES.md, [altup]. A copies of the stream, of which a
// decoder layer runs one. Gains of all norms are required. l and q are rounded where they are
// stored; m, P, c and a are not.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// m(x) = tanh(M RMSNorm(x) / d), of A elements.
template <class P>
struct BasicAltupRouter {
  const P* matrix = nullptr;  // M (A, d)
  BasicNextNorm<P> norm;
};

/// p_i = h_i + sum_j P_ij h_j, P = P_c m(h_0) row by row; x = norm(p_0).
template <class T>
struct AltupPredict {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;  // A
  T* copies = nullptr;         // h, then p (T, A, d)
  BasicAltupRouter<Scalar<T>> router;
  const Scalar<T>* coefficients = nullptr;  // P_c (A A, A)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

/// l = x + norm(R L x).
template <class T>
struct AltupLaurel {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t rank = 0;             // r
  const T* input = nullptr;         // x (T, d)
  const Scalar<T>* down = nullptr;  // L (r, d)
  const Scalar<T>* up = nullptr;    // R (d, r)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // l (T, d)
};

/// q = (p_0 + norm(attention) + l) / sqrt 2; x = norm(q). q takes the place of l.
template <class T>
struct AltupMiddle {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;       // A
  const T* copies = nullptr;        // p (T, A, d), of which p_0 is read
  const T* layer_output = nullptr;  // of attention (T, d)
  T* laurel = nullptr;              // l, then q (T, d)
  BasicNextNorm<Scalar<T>> output_norm;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // x (T, d)
};

/// a = q + norm(MLP), c = C m(a) + 1, h_i = p_i + c_i (a - p_0).
template <class T>
struct AltupCorrect {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_copies = 0;       // A
  T* copies = nullptr;              // p, then h (T, A, d)
  const T* layer_output = nullptr;  // of the MLP (T, d)
  const T* middle = nullptr;        // q (T, d)
  BasicNextNorm<Scalar<T>> output_norm;
  BasicAltupRouter<Scalar<T>> router;
  const Scalar<T>* coefficients = nullptr;  // C (A, A)
};

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_ALTUP_OPERATIONS(X) \
  X(AltupPredict, altup_predict)      \
  X(AltupLaurel, altup_laurel)        \
  X(AltupMiddle, altup_middle)        \
  X(AltupCorrect, altup_correct)

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const AltupPredict<T>& op);
template <class T>
void check(const AltupLaurel<T>& op);
template <class T>
void check(const AltupMiddle<T>& op);
template <class T>
void check(const AltupCorrect<T>& op);

}  // namespace depthcost
