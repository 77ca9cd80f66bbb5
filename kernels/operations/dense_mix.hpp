// Mixing over depth with weights that do not depend on the input.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// y = sum_j alpha_j v_j over n rows of the bank and, as the last source, f or h + f; x = norm(y).
///   AttnRes with input-independent mixing   f alone, nothing stored but x
///   DenseFormer (arXiv:2402.02622), behind a Transformer block
///                                           h + f becomes row `bank_row`, y the next hidden state
/// Without h and without a row to go to, the last source is f as it stands. `mixed` may be the
/// hidden state.
template <class T>
struct DenseMix {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_rows = 0;       // allocated, B
  std::size_t num_bank_sources = 0;    // n <= B, from row 0
  T* bank = nullptr;                   // (B, T, d)
  const T* hidden_state = nullptr;     // h (T, d), or null
  const T* layer_output = nullptr;     // f (T, d)
  std::size_t bank_row = kNoRow;       // where the last source is stored; n <= bank_row < B
  const Scalar<T>* weights = nullptr;  // alpha (n + 1)
  BasicNextNorm<Scalar<T>> norm;       // without a gain: the output is y
  T* mixed = nullptr;                  // y (T, d), or null: not stored
  T* output = nullptr;                 // x (T, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const DenseMix<T>& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_DENSE_MIX_OPERATIONS(X) X(DenseMix, dense_mix)

}  // namespace depthcost
