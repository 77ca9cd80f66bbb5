// Phase 1 of Algorithm 1: all S queries of a block against the bank. It is bound by arithmetic as
// much as by memory: 4 n S operations per element for n + S elements moved. Scores and mixes are
// computed chunk of columns by chunk, so that what all queries or all sources share is in L1.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attnres_phase1.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_ATTNRES_PHASE1
#define DEPTHCOST_KERNELS_CPU_ATTNRES_PHASE1
namespace depthcost::cpu {

/// One target's kernel.
template <class T, class O>
using Phase1Kernel = void (*)(const AttnResPhase1<T, O>&, TokenRange);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct Phase1Workspace {
  Buffer<const T*> sources;
  Buffer<T> closed;
  Buffer<float> chunk;
  Buffer<float> squares;
  Buffer<float> dots;
  Buffer<float> weights;
  Buffer<float> mixed;
  Buffer<const char*> next_rows;
};

/// One call's arguments, and scratch for the kPhase1Tokens tokens that are computed at a time.
template <class T, class O>
struct Phase1Tile {
  const AttnResPhase1<T, O>& op;
  std::size_t first_token = 0;
  std::size_t num_tokens = 0;
  std::size_t num_sources = 0;  // of a token
  const T** sources = nullptr;  // (tokens, n)
  T* closed = nullptr;          // (tokens, d): b + f
  float* chunk = nullptr;       // (tokens, n, kPhase1Columns)
  float* squares = nullptr;     // (tokens, n) pairs
  float* dots = nullptr;        // (tokens, n, S) vectors
  float* weights = nullptr;     // (S, n) of one token
  float* mixed = nullptr;       // h of one token
};

/// Writes b + f to row `bank_row`, and to a copy that stays in cache.
template <class T, class O>
void close_block(const AttnResPhase1<T, O>& op, std::size_t t, T* closed) {
  const std::size_t d = op.hidden_size;
  const T* b = op.partial_sum + t * d;
  const T* f = op.layer_output + t * d;
  T* row = op.bank + (op.bank_row * op.num_tokens + t) * d;
  with_policy(store_policy(op.num_tokens * d * sizeof(T)), row, [&](auto policy) HWY_ATTR {
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      const Pair rounded = rounded_to<T>(load(b + i, where) + load(f + i, where));
      store(row + i, rounded, where, policy);
      store(closed + i, rounded, where, Cached{});
      prefetch(b + d + i);
      prefetch(f + d + i);
    });
  });
}

/// Finds the tile's sources, and closes the block if that is to be done.
template <class T, class O>
void find_sources(const Phase1Tile<T, O>& it) {
  const std::size_t d = it.op.hidden_size;
  for (std::size_t i = 0; i < it.num_tokens; ++i) {
    const std::size_t t = it.first_token + i;
    const T** sources = it.sources + i * it.num_sources;
    for (std::size_t s = 0; s < it.op.num_bank_sources; ++s)
      sources[s] = it.op.bank + (s * it.op.num_tokens + t) * d;
    if (it.op.layer_output == nullptr) continue;
    T* closed = it.closed + i * padded(d);
    close_block(it.op, t, closed);
    sources[it.op.num_bank_sources] = closed;
  }
}

/// Dot products of all sources with all queries, and sums of squares, as vectors of partial sums.
template <class T, class O>
void score_sources(const Phase1Tile<T, O>& it, Fetcher& fetcher) {
  const std::size_t d = it.op.hidden_size;
  const std::size_t num_rows = it.num_tokens * it.num_sources;
  std::fill_n(it.squares, num_rows * kBlock, 0.0F);
  std::fill_n(it.dots, num_rows * it.op.num_queries * kLanes, 0.0F);
  for (std::size_t column = 0; column < d; column += kPhase1Columns) {
    const std::size_t size = std::min(kPhase1Columns, d - column);
    for (std::size_t row = 0; row < num_rows; ++row) {
      Pair squares = zeros();
      for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
        const Pair v = load_in_order(it.sources[row] + column + i, where);
        store_raw(it.chunk + row * kPhase1Columns + i, v);
        squares = multiply_add(v, v, squares);
      });
      store_raw(it.squares + row * kBlock, squares + load_raw(it.squares + row * kBlock));
    }
    project({.rows = it.chunk,
             .num_rows = num_rows,
             .row_stride = kPhase1Columns,
             .parameters = it.op.queries + column,
             .num_parameters = it.op.num_queries,
             .parameter_stride = d,
             .size = size,
             .sums = it.dots,
             .fetcher = &fetcher});
  }
}

/// Weights of every query of the tile's token `i`; m and l of queries 2..S. Query 1's are divided
/// by l.
template <class T, class O>
void weigh_sources(const Phase1Tile<T, O>& it, std::size_t i) {
  const std::size_t n = it.num_sources;
  const std::size_t num_queries = it.op.num_queries;
  for (std::size_t s = 0; s < n; ++s) {
    const std::size_t row = i * n + s;
    const float squares = sum(load_raw(it.squares + row * kBlock));
    for (std::size_t q = 0; q < num_queries; ++q) {
      const float dot = sum(load_vec(it.dots + (row * num_queries + q) * kLanes));
      it.weights[q * n + s] = logit({dot, squares}, it.op.hidden_size, it.op.key_eps);
    }
  }
  softmax(it.weights, n);
  for (std::size_t q = 1; q < num_queries; ++q) {
    const SoftmaxState state = exponentials(it.weights + q * n, n);
    const std::size_t at = (q - 1) * it.op.num_tokens + it.first_token + i;
    it.op.maxima[at] = state.maximum;
    it.op.sums[at] = static_cast<float>(state.sum);
  }
}

/// Loads a pair in the order in which O is stored.
template <class T, class O, class Where>
HWY_INLINE Pair load_for_output(const T* p, Where where) {
  if constexpr (std::is_same_v<T, O>)
    return load(p, where);
  else
    return load_in_order(p, where);
}

/// Mixes of Q queries from `query` on, for B blocks of the chunk.
template <std::size_t Q, std::size_t B, class T, class O>
HWY_INLINE void mix_tile(const Phase1Tile<T, O>& it, std::size_t query, std::size_t offset,
                         Pair (&tile)[Q][B]) {
  const std::size_t num_sources = it.num_sources;
  const float* weights = it.weights + query * num_sources;
  const float* chunk = it.chunk + offset;
  HWY_UNROLL(8)
  for (std::size_t q = 0; q < Q; ++q) HWY_UNROLL(8)
  for (std::size_t b = 0; b < B; ++b) tile[q][b] = zeros();
  for (std::size_t s = 0; s < num_sources; ++s) {
    Pair v[B];
    HWY_UNROLL(8)
    for (std::size_t b = 0; b < B; ++b) v[b] = load_raw(chunk + s * kPhase1Columns + b * kBlock);
    HWY_UNROLL(8)
    for (std::size_t q = 0; q < Q; ++q) {
      const Vec weight = broadcast(weights[q * num_sources + s]);
      HWY_UNROLL(8)
      for (std::size_t b = 0; b < B; ++b) tile[q][b] = multiply_add(weight, v[b], tile[q][b]);
    }
  }
}

/// A column of a token's output.
struct OutputColumn {
  std::size_t token = 0;
  std::size_t column = 0;
};

/// Stores B blocks of the results of Q queries, `offset` columns behind `at`.
template <std::size_t Q, std::size_t B, class T, class O, class Where, class Policy>
HWY_INLINE void mix_queries(const Phase1Tile<T, O>& it, std::size_t query, OutputColumn at,
                            std::size_t offset, Where where, Policy policy) {
  // Copies, because a vector that is stored could alias what `it` refers to.
  const std::size_t row_stride = it.op.num_tokens * it.op.hidden_size;
  float* mixed = it.mixed + at.column + offset;
  const std::size_t place = at.token * it.op.hidden_size + at.column + offset;
  Pair tile[Q][B];
  mix_tile<Q, B>(it, query, offset, tile);
  HWY_UNROLL(8)
  for (std::size_t q = 0; q < Q; ++q) {
    HWY_UNROLL(8)
    for (std::size_t b = 0; b < B; ++b)
      if (query + q == 0)
        store_raw(mixed + b * kBlock, tile[q][b]);
      else
        // One query alone has no outputs: their pointer may be null.
        store_rounded(it.op.outputs + place + (query + q - 1) * row_stride + b * kBlock, tile[q][b],
                      where, policy);
  }
}

template <std::size_t Q, class T, class O, class Policy>
void mix_chunk(const Phase1Tile<T, O>& it, std::size_t query, OutputColumn at, std::size_t size,
               Policy policy) {
  std::size_t i = 0;
  for (; i + 2 * kBlock <= size; i += 2 * kBlock)
    mix_queries<Q, 2>(it, query, at, i, Whole{}, policy);
  for (; i + kBlock <= size; i += kBlock) mix_queries<Q, 1>(it, query, at, i, Whole{}, policy);
  if (i < size) mix_queries<Q, 1>(it, query, at, i, Part{size - i}, policy);
}

/// For the tile's token `i`, writes h of query 1 to `mixed` and stores o of queries 2..S.
template <class T, class O, class Policy>
void mix_sources(const Phase1Tile<T, O>& it, std::size_t i, Policy policy) {
  const std::size_t d = it.op.hidden_size;
  const T* const* sources = it.sources + i * it.num_sources;
  for (std::size_t column = 0; column < d; column += kPhase1Columns) {
    const std::size_t size = std::min(kPhase1Columns, d - column);
    for (std::size_t s = 0; s < it.num_sources; ++s)
      for_each_block(size, [&](std::size_t offset, auto where) HWY_ATTR {
        const Pair v = load_for_output<T, O>(sources[s] + column + offset, where);
        store_raw(it.chunk + s * kPhase1Columns + offset, v);
      });
    constexpr std::size_t kTileQueries = num_mixed_queries(kLanes);
    const OutputColumn at{it.first_token + i, column};
    std::size_t q = 0;
    for (; q + kTileQueries <= it.op.num_queries; q += kTileQueries)
      mix_chunk<kTileQueries>(it, q, at, size, policy);
    for (; q < it.op.num_queries; ++q) mix_chunk<1>(it, q, at, size, policy);
  }
}

template <class T, class O>
void store_first_input(const Phase1Tile<T, O>& it, std::size_t token, StorePolicy policy) {
  const std::size_t d = it.op.hidden_size;
  const auto mix = [&](const auto& finish) HWY_ATTR {
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      const Pair h = load_raw(it.mixed + i);
      finish(i, std::is_same_v<T, O> ? h : in_order_of<T>(h), where);
    });
  };
  store_next_input_of_few(mix, it.op.norm, d, it.op.output + token * d, policy);
}

/// Aims the fetcher at the next tile's rows of the bank. It makes a step for every register tile of
/// the scores, and none during the mixes, which keep memory busy with their stores.
template <class T, class O>
void aim_at_next(const Phase1Tile<T, O>& it, const char** rows, Fetcher& fetcher) {
  const std::size_t d = it.op.hidden_size;
  std::size_t num_rows = 0;
  const std::size_t next = it.first_token + it.num_tokens;
  const std::size_t num_tokens = std::min(kPhase1Tokens, it.op.num_tokens - next);
  for (std::size_t s = 0; s < it.op.num_bank_sources; ++s)
    for (std::size_t i = 0; i < num_tokens; ++i)
      rows[num_rows++] =
          reinterpret_cast<const char*>(it.op.bank + (s * it.op.num_tokens + next + i) * d);
  const std::size_t num_chunks = (d + kPhase1Columns - 1) / kPhase1Columns;
  const std::size_t num_steps =
      num_chunks * num_tiles(it.num_tokens * it.num_sources, it.op.num_queries);
  fetcher.aim(rows, num_rows, d * sizeof(T), num_steps);
}

template <class T, class O>
void phase1(const AttnResPhase1<T, O>& op, TokenRange tokens) {
  thread_local Phase1Workspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t num_sources = op.num_bank_sources + (op.layer_output == nullptr ? 0 : 1);
  const std::size_t num_rows = kPhase1Tokens * num_sources;
  // All rows of o are written in turn, so one policy must suit them all.
  const bool rows_aligned = d * sizeof(O) % (kLanes * sizeof(float)) == 0;
  const StorePolicy policy = rows_aligned
                                 ? store_policy(op.num_queries * op.num_tokens * d * sizeof(O))
                                 : StorePolicy::cached;
  Phase1Tile<T, O> it{.op = op,
                      .num_sources = num_sources,
                      .sources = workspace.sources.at_least(num_rows),
                      .closed = workspace.closed.at_least(kPhase1Tokens * padded(d)),
                      .chunk = workspace.chunk.at_least(num_rows * kPhase1Columns),
                      .squares = workspace.squares.at_least(num_rows * kBlock),
                      .dots = workspace.dots.at_least(num_rows * op.num_queries * kLanes),
                      .weights = workspace.weights.at_least(num_sources * op.num_queries),
                      .mixed = workspace.mixed.at_least(padded(d))};
  const char** next_rows = workspace.next_rows.at_least(num_rows);
  Fetcher fetcher;
  for (std::size_t first = tokens.begin; first < tokens.end; first += kPhase1Tokens) {
    it.first_token = first;
    it.num_tokens = std::min(kPhase1Tokens, tokens.end - first);
    find_sources(it);
    aim_at_next(it, next_rows, fetcher);
    score_sources(it, fetcher);
    for (std::size_t i = 0; i < it.num_tokens; ++i) {
      weigh_sources(it, i);
      with_policy(policy, op.outputs, [&](auto chosen) HWY_ATTR { mix_sources(it, i, chosen); });
      store_first_input(it, first + i, store_policy(op.num_tokens * d * sizeof(T)));
    }
  }
  hwy::FlushStream();
}

}  // namespace

KernelsByTypes<Phase1Kernel> phase1_kernels() {
  return {phase1<float, float>, phase1<Bf16, Bf16>, phase1<Bf16, float>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(phase1_kernels);

template <class T, class O>
void run(const AttnResPhase1<T, O>& op) {
  check(op);
  const auto phase1 = HWY_DYNAMIC_DISPATCH(phase1_kernels)().of<T, O>();
  const std::size_t num_rows = op.num_bank_sources + op.num_queries + 3;
  for_each_range(op.num_tokens, num_rows * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { phase1(op, tokens); });
}

template void run(const AttnResPhase1<float, float>&);
template void run(const AttnResPhase1<Bf16, Bf16>&);
template void run(const AttnResPhase1<Bf16, float>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
