// Backward of Phase 1 of AttnRes: all S queries of a block at once. It is bound by arithmetic as
// much as by memory: five products of n sources with S queries for 3 n + S rows moved. Dot products
// come first, gradients second, chunk of columns by chunk, so that what they share is in L1.
#include "kernels/cpu/backward/attnres_gradients.hpp"
#include "kernels/cpu/primitives/slices.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/attnres_phase1.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/backward/norm_backward.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/projection.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_ATTNRES_PHASE1
#define DEPTHCOST_KERNELS_CPU_BACKWARD_ATTNRES_PHASE1
namespace depthcost::cpu {

template <class T>
using Phase1BackwardKernel = void (*)(const AttnResPhase1Backward<T>&, TokenRange, float* sums);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

struct Phase1Workspace {
  Buffer<float> sources;
  Buffer<float> gradients;
  Buffer<float> queries;
  Buffer<float> vectors;
  Buffer<float> dots;
  Buffer<float> factors;
};

/// Dot products of one token's sources v: with the queries w, with the gradients u of the mixes
/// (the first one times its gain), and with each other.
struct Dots {
  float* queries;    // (n, S)
  float* gradients;  // (n, S)
  float* sources;    // (n, n)
  float* mix;        // (n): with the first query's mix h
};

/// What becomes gradients of one token: dv_i = sum_s (of_mix[i][s] dh_s + of_query[i][s] w_s) +
/// of_source[i] v_i, dw_s = sum_i of_query[i][s] v_i. dh of the first query is norm's.
struct Factors {
  float* of_mix;     // (n, S)
  float* of_query;   // (n, S)
  float* of_source;  // (n)
  NormBackward norm;
};

/// Floats from one row of a chunk to the next: rows begin in other sets of L1.
inline constexpr std::size_t kChunkStride = kPhase1BackwardColumns + kLineBytes / sizeof(float);

/// One call's arguments, and scratch for one token. Chunks of columns are in order.
template <class T>
struct Phase1Token {
  const AttnResPhase1Backward<T>& op;
  std::size_t token = 0;
  float* sources = nullptr;    // (n) chunks of v
  float* gradients = nullptr;  // (S) chunks of u, or of dh
  float* queries = nullptr;    // (S) chunks of w
  Dots vectors{};              // the dots as vectors of partial sums
  Dots dots{};
  Factors factors{};

  const T* source(std::size_t i) const {
    return op.bank + (i * op.num_tokens + token) * op.hidden_size;
  }
  T* to(std::size_t i) const {
    return op.bank_gradients + (i * op.num_tokens + token) * op.hidden_size;
  }
  const T* gradient(std::size_t s) const {
    return op.mix_gradients + (s * op.num_tokens + token) * op.hidden_size;
  }
};

struct Columns {
  std::size_t first = 0;
  std::size_t size = 0;
};

template <class Body>
HWY_INLINE void for_each_chunk(std::size_t hidden_size, const Body& body) {
  for (std::size_t first = 0; first < hidden_size; first += kPhase1BackwardColumns)
    body(Columns{first, std::min(kPhase1BackwardColumns, hidden_size - first)});
}

/// Copies columns of the queries, widens those of the sources and of the gradients that arrive.
template <class T>
HWY_INLINE void widen(const Phase1Token<T>& it, Columns columns) {
  const auto widen_row = [&](const T* row, float* chunk) HWY_ATTR {
    for_each_block(columns.size, [&](std::size_t i, auto where) HWY_ATTR {
      prefetch(row + columns.first + kPhase1BackwardColumns + i);
      store_raw(chunk + i, load_in_order(row + columns.first + i, where));
    });
  };
  for (std::size_t i = 0; i < it.op.num_bank_sources; ++i)
    widen_row(it.source(i), it.sources + i * kChunkStride);
  for (std::size_t s = 0; s < it.op.num_queries; ++s) {
    widen_row(it.gradient(s), it.gradients + s * kChunkStride);
    const float* query = it.op.queries + s * it.op.hidden_size + columns.first;
    for_each_block(columns.size, [&](std::size_t i, auto where) HWY_ATTR {
      store_raw(it.queries + s * kChunkStride + i, load(query + i, where));
    });
  }
}

/// Makes u of the first query's dx.
template <class T>
HWY_INLINE void gain_first(const Phase1Token<T>& it, Columns columns) {
  if (it.op.norm.gain == nullptr) return;
  for_each_block(columns.size, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair gain = load(it.op.norm.gain + columns.first + i, where);
    store_raw(it.gradients + i, gain * load_raw(it.gradients + i));
  });
}

/// Adds the sources' products with `count` chunks over some columns to vectors (n, count).
template <class T>
HWY_INLINE void meet(const Phase1Token<T>& it, std::size_t size, const float* chunks,
                     std::size_t count, float* vectors) {
  Fetcher idle;
  project({.rows = it.sources,
           .num_rows = it.op.num_bank_sources,
           .row_stride = kChunkStride,
           .parameters = chunks,
           .num_parameters = count,
           .parameter_stride = kChunkStride,
           .size = size,
           .sums = vectors,
           .fetcher = &idle});
}

template <class T>
HWY_INLINE void take_in(const Phase1Token<T>& it) {
  const std::size_t n = it.op.num_bank_sources;
  const std::size_t S = it.op.num_queries;
  const std::size_t num_dots = n * (2 * S + n);
  std::fill_n(it.vectors.queries, num_dots * kLanes, 0.0F);
  for_each_chunk(it.op.hidden_size, [&](Columns columns) HWY_ATTR {
    widen(it, columns);
    gain_first(it, columns);
    meet(it, columns.size, it.queries, S, it.vectors.queries);
    meet(it, columns.size, it.gradients, S, it.vectors.gradients);
    meet(it, columns.size, it.sources, n, it.vectors.sources);
  });
  add_lanes(it.vectors.queries, num_dots, it.dots.queries);
}

/// The products of the sources with the first query's dh, in place of those with u; returns their
/// mean, dh . h. With h = sum_j p_j v_j, h . v_i = sum_j p_j v_j . v_i.
template <class T>
double undo_first_norm(Phase1Token<T>& it) {
  const std::size_t n = it.op.num_bank_sources;
  const std::size_t S = it.op.num_queries;
  const auto weight = [&](std::size_t i) { return static_cast<double>(it.factors.of_mix[i * S]); };
  const auto product = [&](std::size_t i) -> float& { return it.dots.gradients[i * S]; };
  if (it.op.norm.gain != nullptr) {
    double squares = 0;
    double along = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double with_mix = 0;
      for (std::size_t j = 0; j < n; ++j)
        with_mix += weight(j) * static_cast<double>(it.dots.sources[i * n + j]);
      it.dots.mix[i] = static_cast<float>(with_mix);
      squares += weight(i) * with_mix;
      along += weight(i) * static_cast<double>(product(i));
    }
    it.factors.norm = norm_backward(static_cast<float>(squares), static_cast<float>(along),
                                    it.op.hidden_size, it.op.norm.eps);
    for (std::size_t i = 0; i < n; ++i)
      product(i) =
          it.factors.norm.gain_scale * product(i) + it.factors.norm.row_scale * it.dots.mix[i];
  }
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) mean += weight(i) * static_cast<double>(product(i));
  return mean;
}

/// From dot products to factors.
template <class T>
void weigh(Phase1Token<T>& it) {
  const AttnResPhase1Backward<T>& op = it.op;
  const std::size_t n = op.num_bank_sources;
  const std::size_t S = op.num_queries;
  const auto score = [&](std::size_t i, std::size_t s) {
    return Score{it.dots.queries[i * S + s], it.dots.sources[i * n + i]};
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t s = 0; s < S; ++s)
      it.factors.of_mix[i * S + s] = std::exp(logit(score(i, s), op.hidden_size, op.key_eps) -
                                              op.log_sums[s * op.num_tokens + it.token]);
  const double first_mean = undo_first_norm(it);
  for (std::size_t i = 0; i < n; ++i) {
    float of_source = 0;
    for (std::size_t s = 0; s < S; ++s) {
      const double mean =
          s == 0 ? first_mean
                 : static_cast<double>(op.products[(s - 1) * op.num_tokens + it.token]);
      const SourceGradient of =
          source_gradient(score(i, s), op.hidden_size, op.key_eps, it.factors.of_mix[i * S + s],
                          static_cast<double>(it.dots.gradients[i * S + s]) - mean);
      it.factors.of_query[i * S + s] = of.of_query;
      of_source += of.of_source;
    }
    it.factors.of_source[i] = of_source;
  }
}

/// Makes dh of the first query's u, and adds to the gain's gradient.
template <class T>
HWY_INLINE void make_first_gradient(const Phase1Token<T>& it, Columns columns, float* gain_sums) {
  const AttnResPhase1Backward<T>& op = it.op;
  if (op.norm.gain == nullptr) return;
  const NormBackward norm = it.factors.norm;
  const Pair scale{broadcast(norm.gain_scale), broadcast(norm.gain_scale)};
  for_each_block(columns.size, [&](std::size_t i, auto where) HWY_ATTR {
    Pair h = zeros();
    for (std::size_t r = 0; r < op.num_bank_sources; ++r)
      h = multiply_add(broadcast(it.factors.of_mix[r * op.num_queries]),
                       load_raw(it.sources + r * kChunkStride + i), h);
    const Pair dx = load_raw(it.gradients + i);
    const Pair u = load(op.norm.gain + columns.first + i, where) * dx;
    float* sums = gain_sums + columns.first + i;
    store(sums, multiply_add(scale, dx * h, load(sums, where)), where, Cached{});
    store_raw(it.gradients + i, norm_gradient(norm, u, h));
  });
}

/// Sources, or queries, whose sums are made together.
inline constexpr std::size_t kSumGroup = 4;

/// dv of G sources from `first` on, over some columns.
template <class T, std::size_t G>
HWY_INLINE void leave_sources(const Phase1Token<T>& it, std::size_t first, Columns columns) {
  const AttnResPhase1Backward<T>& op = it.op;
  const std::size_t S = op.num_queries;
  const float* of_mix = it.factors.of_mix + first * S;
  const float* of_query = it.factors.of_query + first * S;
  for_each_block(columns.size, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    Pair sums[G];
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g)
      sums[g] = multiply_add(broadcast(it.factors.of_source[first + g]),
                             load_raw(it.sources + (first + g) * kChunkStride + i),
                             load_in_order(it.to(first + g) + columns.first + i, where));
    for (std::size_t s = 0; s < S; ++s) {
      const Pair dh = load_raw(it.gradients + s * kChunkStride + i);
      const Pair w = load_raw(it.queries + s * kChunkStride + i);
      HWY_UNROLL(4)
      for (std::size_t g = 0; g < G; ++g)
        sums[g] = multiply_add(broadcast(of_query[g * S + s]), w,
                               multiply_add(broadcast(of_mix[g * S + s]), dh, sums[g]));
    }
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g)
      store_rounded(it.to(first + g) + columns.first + i, in_order_of<T>(sums[g]), where, Cached{});
  });
}

/// Adds dw of G queries from `first` on, over some columns.
template <class T, std::size_t G>
HWY_INLINE void leave_queries(const Phase1Token<T>& it, std::size_t first, Columns columns,
                              float* query_sums) {
  const std::size_t S = it.op.num_queries;
  for_each_block(columns.size, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    Pair sums[G];
    float* to = query_sums + first * it.op.hidden_size + columns.first + i;
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g) sums[g] = load(to + g * it.op.hidden_size, where);
    for (std::size_t r = 0; r < it.op.num_bank_sources; ++r) {
      const Pair v = load_raw(it.sources + r * kChunkStride + i);
      HWY_UNROLL(4)
      for (std::size_t g = 0; g < G; ++g)
        sums[g] = multiply_add(broadcast(it.factors.of_query[r * S + first + g]), v, sums[g]);
    }
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g) store(to + g * it.op.hidden_size, sums[g], where, Cached{});
  });
}

template <class T>
HWY_INLINE void leave(const Phase1Token<T>& it, float* sums) {
  const AttnResPhase1Backward<T>& op = it.op;
  for_each_chunk(op.hidden_size, [&](Columns columns) HWY_ATTR {
    widen(it, columns);
    make_first_gradient(it, columns, sums + op.num_queries * op.hidden_size);
    for_each_group<kSumGroup>(op.num_bank_sources, [&](std::size_t first, auto size) HWY_ATTR {
      leave_sources<T, size.value>(it, first, columns);
    });
    for_each_group<kSumGroup>(op.num_queries, [&](std::size_t first, auto size) HWY_ATTR {
      leave_queries<T, size.value>(it, first, columns, sums);
    });
  });
}

template <class T>
void phase1_backward(const AttnResPhase1Backward<T>& op, TokenRange tokens, float* sums) {
  thread_local Phase1Workspace workspace;
  const std::size_t n = op.num_bank_sources;
  const std::size_t S = op.num_queries;
  float* dots = workspace.dots.at_least(n * (2 * S + n + 1));
  float* vectors = workspace.vectors.at_least(n * (2 * S + n) * kLanes);
  float* factors = workspace.factors.at_least(n * (2 * S + 1));
  Phase1Token<T> it{
      .op = op,
      .sources = workspace.sources.at_least(n * kChunkStride),
      .gradients = workspace.gradients.at_least(S * kChunkStride),
      .queries = workspace.queries.at_least(S * kChunkStride),
      .vectors = {vectors, vectors + n * S * kLanes, vectors + 2 * n * S * kLanes, nullptr},
      .dots = {dots, dots + n * S, dots + 2 * n * S, dots + n * (2 * S + n)},
      .factors = {factors, factors + n * S, factors + 2 * n * S, {}}};
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    it.token = t;
    take_in(it);
    weigh(it);
    leave(it, sums);
  }
}

}  // namespace

KernelsByType<Phase1BackwardKernel> phase1_backward_kernels() {
  return {phase1_backward<float>, phase1_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(phase1_backward_kernels);

template <class T>
void run(const AttnResPhase1Backward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(phase1_backward_kernels)().of<T>();
  const std::size_t d = op.hidden_size;
  const std::size_t of_queries = op.num_queries * d;
  const std::size_t num_parameters = depthcost::num_parameters(op);
  for_each_slice(op.slices, op.num_tokens, num_parameters,
                 (3 * op.num_bank_sources + op.num_queries) * d * sizeof(T),
                 [&](TokenRange tokens, float* sums) { kernel(op, tokens, sums); });
  add_slices(op.slices, num_parameters, {op.query_gradients, 0, of_queries});
  if (op.norm.gain != nullptr)
    add_slices(op.slices, num_parameters, {op.gain_gradient, of_queries, d});
}

template void run(const AttnResPhase1Backward<float>&);
template void run(const AttnResPhase1Backward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
