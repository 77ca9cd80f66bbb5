// The operations that every backend implements, as their arguments: what is computed, shapes,
// aliasing. kernels/reference defines the meaning; cpu and cuda repeat it, fast. The symbols are
// the paper's (arXiv:2603.15031v1): T tokens, d hidden size, n bank sources, S queries of a block,
// m streams.
//
// Everything is row-major and contiguous. Buffers of d-vectors are aligned to 16 bytes. Their rows
// need not be, nor what may be a row of one: b, h, further and stacked sources, o of one query.
// Parameters and statistics are aligned to their elements.
//
// T is the storage type, float or Bf16; arithmetic is in float. The reference computes in double
// whatever T is, and also takes T = double. Each stored output is rounded once, and later steps of
// the same kernel use the rounded value. Gains of the key norm are folded into the query:
// w . (g * k) = (w * g) . k. Unless said otherwise no output overlaps an input.
#pragma once

#include <cstddef>
#include <limits>

namespace depthcost {

/// Type of the parameters (queries, gains, phi) and statistics (m, l, logits, mHC coefficients)
/// beside d-vectors of T: float, and double in the reference's own float64.
template <class T>
struct ScalarOf {
  using type = float;
};
template <>
struct ScalarOf<double> {
  using type = double;
};
template <class T>
using Scalar = typename ScalarOf<T>::type;

/// The eps of every RMSNorm, if nothing else is said.
template <class P>
inline constexpr P kNormEps = static_cast<P>(1e-6);

/// No row of the bank.
inline constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

/// h += f.
template <class T>
struct ResidualAdd {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* hidden_state = nullptr;        // h (T, d), read and written
  const T* layer_output = nullptr;  // f (T, d)
};

/// The RMSNorm in front of the next layer: x / sqrt(mean(x^2) + eps) * gain.
template <class P>
struct BasicNextNorm {
  const P* gain = nullptr;  // (d)
  P eps = kNormEps<P>;
};
using NextNorm = BasicNextNorm<float>;

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

/// Which sums an iteration of Sinkhorn's makes one first. `col_row` ends with exact rows.
enum class SinkhornOrder { col_row, row_col };

/// The dynamic coefficients of mHC (arXiv:2512.24880v2 Eq. 7-8):
///   z = phi . vec(X) / sqrt(mean(vec(X)^2) + eps)
///   H_pre = sigmoid(a0 z_pre + b_pre), H_post = 2 sigmoid(a1 z_post + b_post),
///   H_res = Sinkhorn(exp(a2 z_res + b_res))
/// Sinkhorn's first sums divide out any common factor of theirs, so what they sum can be taken
/// relative to its largest logit: exp never overflows. `iterations` >= 1.
template <class P>
struct BasicMhcMapping {
  const P* phi = nullptr;   // (m m + 2 m, m d), rows pre, post, res
  const P* bias = nullptr;  // (m m + 2 m)
  P scales[3] = {0, 0, 0};  // a0, a1, a2
  P eps = kNormEps<P>;
  std::size_t iterations = 20;
  SinkhornOrder order = SinkhornOrder::col_row;
};
using MhcMapping = BasicMhcMapping<float>;

/// Coefficients of the layer, its input x = sum_j H_pre[j] X_j, normalised if there is a gain;
/// H_post and H_res are left for mhc_post.
template <class T>
struct MhcPre {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;  // m
  const T* streams = nullptr;   // X (T, m, d)
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;            // x (T, d)
  Scalar<T>* post = nullptr;      // H_post (T, m)
  Scalar<T>* residual = nullptr;  // H_res (T, m, m)
};

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f. `next_streams` may be `streams`.
template <class T>
struct MhcPost {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const T* streams = nullptr;           // X (T, m, d)
  const T* layer_output = nullptr;      // f (T, d)
  const Scalar<T>* post = nullptr;      // H_post (T, m)
  const Scalar<T>* residual = nullptr;  // H_res (T, m, m)
  T* next_streams = nullptr;            // (T, m, d)
};

/// mhc_post, then the next layer's mhc_pre and norm, in one kernel. `next_post` and `next_residual`
/// may be `post` and `residual`.
template <class T>
struct MhcBoundary {
  MhcPost<T> post;
  BasicMhcMapping<Scalar<T>> mapping;
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;                 // x (T, d)
  Scalar<T>* next_post = nullptr;      // (T, m)
  Scalar<T>* next_residual = nullptr;  // (T, m, m)
};

/// `count` matrices of m x m, in place: `iterations` times column and row sums are made one.
template <class P>
struct BasicSinkhorn {
  std::size_t count = 0;
  std::size_t num_streams = 0;
  P* matrices = nullptr;  // (count, m, m), positive
  std::size_t iterations = 20;
  SinkhornOrder order = SinkhornOrder::col_row;
};
using Sinkhorn = BasicSinkhorn<float>;

// The pieces that a framework's eager mode launches: schedule `unfused`.

/// x = norm(h).
template <class T>
struct UnfusedRmsNorm {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  const T* input = nullptr;  // (T, d)
  BasicNextNorm<Scalar<T>> norm;
  T* output = nullptr;  // (T, d)
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

}  // namespace depthcost
