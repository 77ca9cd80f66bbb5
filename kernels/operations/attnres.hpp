// Attention residuals (arXiv:2603.15031v1): one pass per layer, or the two phases of Algorithm 1.
#pragma once

#include "kernels/operations/operands.hpp"

namespace depthcost {

/// What becomes of b + f once a kernel has formed it.
enum class SumStore {
  partial_sum,  // written back to b: inside a block
  bank_row,     // written to the bank: at the first layer of the next block, which it closes
  nowhere,      // used and forgotten: at the output aggregation
};

/// phi of Eq. 2: exp, divided by the sum over all sources; or as it stands, of each source alone.
enum class DepthWeighting { softmax, sigmoid };

/// What keys are normalised over: the whole row, the channels of each head, or nothing.
enum class KeyNorm { row, head, none };

/// The ablations of arXiv:2603.15031v1 Table 4; the defaults are the paper's own choices. It leaves
/// open what a sigmoid is divided by (here nothing), and what the keys of heads are normalised
/// over. Heads are consecutive parts of the channels, each with scores and weights of its own. A
/// sliding window is bank row 0 and the rows from `first_recent_row` on, and what joins them.
template <class T>
struct AttentionVariant {
  DepthWeighting weighting = DepthWeighting::softmax;
  KeyNorm key_norm = KeyNorm::row;
  std::size_t num_heads = 1;         // divides d
  std::size_t first_recent_row = 1;  // 1 .. max(n, 1)
  const T* token_queries = nullptr;  // w_t (T, d), in place of the query; or null

  /// Whether anything but the window differs from the paper.
  constexpr bool is_plain() const {
    return weighting == DepthWeighting::softmax && key_norm == KeyNorm::row && num_heads == 1 &&
           token_queries == nullptr;
  }
  /// Parts of a row that keys are normalised over.
  constexpr std::size_t num_key_parts() const {
    if (key_norm == KeyNorm::none) return 0;
    return key_norm == KeyNorm::row ? 1 : num_heads;
  }
};

/// h = sum_i softmax_i(w . RMSNorm(v_i)) v_i over the bank rows and the partial sum (Eq. 2-4, 6),
/// then the next norm if there is one.
///   without f      b, if there, is the last source as it stands: the second layer of a block
///                  passes f's own buffer as b
///   with f and b   b + f is the last source, and is stored as `store` says
/// There is at least one source: n >= 1 or b. b may be a row of the bank from row n on.
template <class T>
struct AttnResSinglePass {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_rows = 0;     // allocated, B
  std::size_t num_bank_sources = 0;  // valid rows that are attended to, from row 0; n <= B
  T* bank = nullptr;                 // (B, T, d)
  T* partial_sum = nullptr;          // b (T, d), or null
  const T* layer_output = nullptr;   // f (T, d), or null; needs b
  SumStore store = SumStore::partial_sum;
  std::size_t bank_row = kNoRow;            // written under SumStore::bank_row; n <= bank_row < B
  const Scalar<T>* query = nullptr;         // w (d); of no effect beside token queries
  Scalar<T> key_eps = kNormEps<Scalar<T>>;  // of the RMSNorm inside the softmax
  BasicNextNorm<Scalar<T>> norm;            // without a gain: no norm, the output is h
  T* output = nullptr;                      // (T, d)
  AttentionVariant<T> variant;
};

/// Phase 1 of Algorithm 1: S queries over n sources. Query 1's result is the next layer's input,
/// normalised: x = norm(o / l). Queries 2..S leave unnormalised o = sum_i e^{s_i - m} v_i, m =
/// max_i s_i, l = sum_i e^{s_i - m} for Phase 2. With f and b it closes the previous block first:
/// row `bank_row` = b + f, and attends to it as the last of the n + 1 sources. b and f are both
/// there or neither; there is at least one source. O is T or float.
template <class T, class O>
struct AttnResPhase1 {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_bank_rows = 0;
  std::size_t num_bank_sources = 0;
  std::size_t num_queries = 0;         // S >= 1
  T* bank = nullptr;                   // (B, T, d)
  const T* partial_sum = nullptr;      // b (T, d), or null
  const T* layer_output = nullptr;     // f (T, d), or null
  std::size_t bank_row = kNoRow;       // = n where the previous block is closed
  const Scalar<T>* queries = nullptr;  // (S, d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  BasicNextNorm<Scalar<T>> norm;  // without a gain: the output is o / l
  T* output = nullptr;            // (T, d)
  O* outputs = nullptr;           // o (S - 1, T, d)
  Scalar<T>* maxima = nullptr;    // m (S - 1, T)
  Scalar<T>* sums = nullptr;      // l (S - 1, T)
};

/// Phase 2 of Algorithm 1, lines 10-12: scores of b (after b += f if f is there) and of k further
/// sources, merged with Phase 1's (o, m, l) by online softmax; then the next norm. b and the
/// further sources may be rows of the bank.
template <class T, class O>
struct AttnResPhase2 {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_further_sources = 0;  // k, of Full AttnRes: earlier layers of the same group
  const T* further_sources = nullptr;   // (k, T, d)
  T* partial_sum = nullptr;             // b (T, d), written if f is there
  const T* layer_output = nullptr;      // f (T, d), or null
  const O* phase1_output = nullptr;     // o (T, d)
  const Scalar<T>* maximum = nullptr;   // m (T)
  const Scalar<T>* sum = nullptr;       // l (T)
  const Scalar<T>* query = nullptr;     // w (d)
  Scalar<T> key_eps = kNormEps<Scalar<T>>;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // (T, d)
};

/// Throws std::invalid_argument where arguments break a rule of operations.hpp.
template <class T>
void check(const AttnResSinglePass<T>& op);
template <class T, class O>
void check(const AttnResPhase1<T, O>& op);
template <class T, class O>
void check(const AttnResPhase2<T, O>& op);

/// As DEPTHCOST_RESIDUAL_OPERATIONS of residual.hpp.
#define DEPTHCOST_ATTNRES_OPERATIONS(X) X(AttnResSinglePass, attnres_single_pass)

/// Those that also have a type for what Phase 1 leaves.
#define DEPTHCOST_PHASE_OPERATIONS(X) \
  X(AttnResPhase1, attnres_phase1)    \
  X(AttnResPhase2, attnres_phase2)

}  // namespace depthcost
