// AltUp, but for LAuReL (laurel.cpp): passes over a token's rows, which stay in L1 and L2. Tokens
// share what is read of the router, and its small matrices stay in cache.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/altup.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/stream_map.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_ALTUP
#define DEPTHCOST_KERNELS_CPU_ALTUP
namespace depthcost::cpu {

using AltupRouter = BasicAltupRouter<float>;

/// One target's kernels.
template <class T>
struct AltupKernels {
  void (*predict)(const AltupPredict<T>&, TokenRange) = nullptr;
  void (*middle)(const AltupMiddle<T>&, TokenRange) = nullptr;
  void (*correct)(const AltupCorrect<T>&, TokenRange) = nullptr;
};

/// y = W x, of a matrix that a row of registers would hold.
inline void small_product(const float* W, std::size_t rows, const float* x, std::size_t columns,
                          float* y) {
  for (std::size_t i = 0; i < rows; ++i) {
    y[i] = 0;
    for (std::size_t j = 0; j < columns; ++j) y[i] += W[i * columns + j] * x[j];
  }
}

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Tokens that share the router's rows.
inline constexpr std::size_t kRouterTokens = num_router_sums(kLanes) / 2;

/// Scratch of a thread.
template <class T>
struct AltupWorkspace {
  StreamMapWorkspace<T> map;
  Buffer<float> router;      // M g (A, d), rows in the order of T
  Buffer<float> gain;        // of the norm that follows or of the layer's output, in the order of T
  Buffer<float> rows;        // of a tile's tokens, not stored, in the order of T
  Buffer<float> modalities;  // m (N, A)
  Buffer<float> weights;     // c (A)
};

/// A router as the rows of a range of tokens meet it.
struct WeightedRouter {
  const float* rows = nullptr;  // M g, `stride` apart
  std::size_t stride = 0;
  std::size_t num_copies = 0;
  std::size_t size = 0;
  float eps = 0;
  float* modalities = nullptr;  // scratch
};

/// M g, once for all tokens of a range.
template <class T>
WeightedRouter weighted_router(AltupWorkspace<T>& workspace, const AltupRouter& router,
                               std::size_t num_copies, std::size_t d) {
  const std::size_t stride = padded(d);
  float* rows = workspace.router.at_least(num_copies * stride);
  for (std::size_t k = 0; k < num_copies; ++k)
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      const Pair weight = load_for<T>(router.matrix + k * d + i, where);
      store_raw(rows + k * stride + i, weight * load_for<T>(router.norm.gain + i, where));
    });
  return {rows, stride,          num_copies,
          d,    router.norm.eps, workspace.modalities.at_least(kRouterTokens * num_copies)};
}

/// (M g) x of G rows of the router and N tokens' rows, whose blocks are load_row(n, offset, where).
template <std::size_t N, std::size_t G, class LoadRow>
HWY_INLINE void meet_router(const WeightedRouter& router, std::size_t first,
                            const LoadRow& load_row) {
  Pair dots[N][G];
  HWY_UNROLL(8)
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t g = 0; g < G; ++g) dots[n][g] = zeros();
  const float* rows = router.rows + first * router.stride;
  for_each_block(router.size, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
    Pair weights[G];
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g) weights[g] = load_raw(rows + g * router.stride + i);
    HWY_UNROLL(8)
    for (std::size_t n = 0; n < N; ++n) {
      const Pair x = load_row(n, i, where);
      HWY_UNROLL(8)
      for (std::size_t g = 0; g < G; ++g) dots[n][g] = multiply_add(weights[g], x, dots[n][g]);
    }
  });
  HWY_UNROLL(8)
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t g = 0; g < G; ++g)
      router.modalities[n * router.num_copies + first + g] = sum(dots[n][g]);
}

/// m(x) (N, A) of N tokens' rows x, whose 1 / RMS are given. They share what is read of the router:
/// of 7,168 columns it is larger than what a token's copies are.
template <std::size_t N, class LoadRow>
HWY_INLINE const float* modalities(const WeightedRouter& router, const double* inverse_rms,
                                   const LoadRow& load_row) {
  constexpr std::size_t kRows = std::min<std::size_t>(4, num_router_sums(kLanes) / N);
  for_each_group<kRows>(router.num_copies, [&](std::size_t first, auto size) DEPTHCOST_INLINED {
    meet_router<N, size.value>(router, first, load_row);
  });
  for (std::size_t n = 0; n < N; ++n) {
    const double scale = inverse_rms[n] / static_cast<double>(router.size);
    float* of_token = router.modalities + n * router.num_copies;
    for (std::size_t k = 0; k < router.num_copies; ++k)
      of_token[k] = std::tanh(static_cast<float>(scale * static_cast<double>(of_token[k])));
  }
  return router.modalities;
}

/// 1 / RMS of a row of T; asks for what follows it.
template <class T>
HWY_INLINE double inverse_rms_of(const T* row, std::size_t d, float eps) {
  Pair squares[2] = {zeros(), zeros()};
  std::size_t i = 0;
  for (; i + 2 * kBlock <= d; i += 2 * kBlock) {
    HWY_UNROLL(2)
    for (std::size_t n = 0; n < 2; ++n) {
      fetch_ahead(row + i + n * kBlock);
      const Pair x = load(row + i + n * kBlock, Whole{});
      squares[n] = multiply_add(x, x, squares[n]);
    }
  }
  for_each_block(Columns{i, d}, [&](std::size_t column, auto where) HWY_ATTR {
    fetch_ahead(row + column);
    const Pair x = load(row + column, where);
    squares[0] = multiply_add(x, x, squares[0]);
  });
  return inverse_rms(sum(squares[0] + squares[1]), d, eps);
}

/// The same as a factor of blocks.
HWY_INLINE Pair factor_of(double inverse_rms) {
  const Vec scale = broadcast(static_cast<float>(inverse_rms));
  return {scale, scale};
}

/// A gain as scratch, in the order of T: lanes move once, and not for every token.
template <class T>
const float* gain_in_order(Buffer<float>& buffer, const float* gain, std::size_t d) {
  float* row = buffer.at_least(padded(d));
  for_each_block(d, [&](std::size_t i, auto where)
                        HWY_ATTR { store_raw(row + i, load_for<T>(gain + i, where)); });
  return row;
}

/// m of the first copies of N tokens from `t` on.
template <std::size_t N, class T>
HWY_INLINE const float* predicting_modalities(const AltupPredict<T>& op,
                                              const WeightedRouter& router, std::size_t t) {
  const std::size_t to_next = op.num_copies * op.hidden_size;
  const T* copies = op.copies + t * to_next;
  double inverse_rms[N];
  for (std::size_t n = 0; n < N; ++n)
    inverse_rms[n] = inverse_rms_of(copies + n * to_next, op.hidden_size, router.eps);
  return modalities<N>(router, inverse_rms, [&](std::size_t n, std::size_t i, auto where) HWY_ATTR {
    return load(copies + n * to_next + i, where);
  });
}

/// The map 1 + P of token `t`, whose modalities are `m`.
template <class T>
HWY_INLINE StreamMap<T> prediction(AltupWorkspace<T>& workspace, const AltupPredict<T>& op,
                                   const float* m, std::size_t t) {
  const std::size_t A = op.num_copies;
  const std::size_t d = op.hidden_size;
  float* coefficients = workspace.map.coefficients.at_least(A * A);
  small_product(op.coefficients, A * A, m, A, coefficients);
  const T** inputs = workspace.map.inputs.at_least(A);
  std::size_t* next_rows = workspace.map.next_rows.at_least(A);
  for (std::size_t j = 0; j < A; ++j) {
    coefficients[j * A + j] += 1;
    inputs[j] = op.copies + (t * A + j) * d;
    next_rows[j] = A * d;
  }
  return {.num_outputs = A,
          .num_inputs = A,
          .row_size = d,
          .inputs = inputs,
          .next_rows = next_rows,
          .coefficients = coefficients,
          .blocks = workspace.map.blocks.at_least(A * kBlock)};
}

/// Token `t` with its map, which holds K copies in registers. The gain is in the order of T.
template <std::size_t K, class T>
HWY_NOINLINE void predict_token(const AltupPredict<T>& op, const StreamMap<T>& map,
                                const float* gain, std::size_t t, StorePolicy policy) {
  const std::size_t d = op.hidden_size;
  T* copies = op.copies + t * op.num_copies * d;
  Pair squares = zeros();
  map_held<K>(map, 0, d, ahead_of(map),
              [&](std::size_t i, std::size_t column, Pair exact, auto where) DEPTHCOST_INLINED {
                T* to = copies + i * d + column;
                if (i > 0) return store_rounded(to, exact, where, Cached{});
                const Pair p = rounded_to<T>(exact);
                store(to, p, where, Cached{});
                squares = multiply_add(p, p, squares);
              });
  const Pair scale = factor_of(inverse_rms(sum(squares), d, op.norm.eps));
  T* output = op.output + t * d;
  with_policy(policy, output, [&](auto chosen) HWY_ATTR {
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      const Pair x = load(copies + i, where) * scale * load_raw(gain + i);
      store_rounded(output + i, x, where, chosen);
    });
  });
}

template <class T>
void predict(const AltupPredict<T>& op, TokenRange tokens) {
  thread_local AltupWorkspace<T> workspace;
  const StorePolicy policy = store_policy(op.num_tokens * op.hidden_size * sizeof(T));
  const WeightedRouter router =
      weighted_router(workspace, op.router, op.num_copies, op.hidden_size);
  const float* gain = gain_in_order<T>(workspace.gain, op.norm.gain, op.hidden_size);
  for_each_group<kRouterTokens>(
      tokens.end - tokens.begin, [&](std::size_t first, auto size) HWY_ATTR {
        const std::size_t begin = tokens.begin + first;
        const float* m = predicting_modalities<size.value>(op, router, begin);
        for (std::size_t n = 0; n < size.value; ++n) {
          const StreamMap<T> map = prediction(workspace, op, m + n * op.num_copies, begin + n);
          with_held_inputs(op.num_copies, [&](auto held) HWY_ATTR {
            predict_token<held.value>(op, map, gain, begin + n, policy);
          });
        }
      });
  hwy::FlushStream();
}

template <class T>
void middle(const AltupMiddle<T>& op, TokenRange tokens) {
  thread_local AltupWorkspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t next_copy = op.num_copies * d;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const float* gain = gain_in_order<T>(workspace.gain, op.output_norm.gain, d);
  const Vec half = broadcast(static_cast<float>(std::sqrt(0.5)));
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const T* p = op.copies + t * next_copy;
    const T* f = op.layer_output + t * d;
    T* l = op.laurel + t * d;
    const Pair scale = factor_of(inverse_rms_of(f, d, op.output_norm.eps));
    Pair squares = zeros();
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      fetch_block(p + i + ahead<T>(i, d, next_copy));
      fetch_ahead(l + i);
      const Pair all =
          multiply_add(load(f + i, where) * scale, load_raw(gain + i), load(p + i, where)) +
          load(l + i, where);
      const Pair q = rounded_to<T>(all * Pair{half, half});
      store(l + i, q, where, Cached{});
      squares = multiply_add(q, q, squares);
    });
    norm_row([&](std::size_t i, auto where) HWY_ATTR { return load(l + i, where); },
             inverse_rms(sum(squares), d, op.norm.eps), op.norm.gain, d, op.output + t * d, policy);
  }
  hwy::FlushStream();
}

/// a = q + norm(f) of token `t` in scratch; returns its squares.
template <class T>
HWY_INLINE float activated(const AltupCorrect<T>& op, const float* gain, std::size_t t,
                           float* row) {
  const std::size_t d = op.hidden_size;
  const T* f = op.layer_output + t * d;
  const T* q = op.middle + t * d;
  const Pair scale = factor_of(inverse_rms_of(f, d, op.output_norm.eps));
  Pair squares = zeros();
  for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
    fetch_ahead(q + i);
    const Pair a = multiply_add(load(f + i, where) * scale, load_raw(gain + i), load(q + i, where));
    store_raw(row + i, a);
    squares = multiply_add(a, a, squares);
  });
  return sum(squares);
}

/// h_i = p_i + c_i (a - p_0) of a block of all copies, `copies` being its first one.
template <class T, class Where>
HWY_INLINE void correct_block(const AltupCorrect<T>& op, T* copies, const float* c, Pair a,
                              std::size_t to_next, Where where) {
  const Pair change = multiply_add(broadcast(-1), load(copies, where), a);
  for_each_group<4>(op.num_copies, [&](std::size_t first, auto size) DEPTHCOST_INLINED {
    HWY_UNROLL(4)
    for (std::size_t i = first; i < first + size.value; ++i) {
      T* p = copies + i * op.hidden_size;
      fetch_block(p + to_next);
      store_rounded(p, multiply_add(broadcast(c[i]), change, load(p, where)), where, Cached{});
    }
  });
}

/// c of N tokens' rows a in scratch, `stride` apart, whose squares are given.
template <std::size_t N, class T>
HWY_INLINE const float* correcting_modalities(const AltupCorrect<T>& op,
                                              const WeightedRouter& router, const float* rows,
                                              const float* squares) {
  double inverse[N];
  for (std::size_t n = 0; n < N; ++n)
    inverse[n] = inverse_rms(squares[n], op.hidden_size, router.eps);
  return modalities<N>(router, inverse, [&](std::size_t n, std::size_t i, auto) HWY_ATTR {
    return load_raw(rows + n * router.stride + i);
  });
}

template <class T>
void correct(const AltupCorrect<T>& op, TokenRange tokens) {
  thread_local AltupWorkspace<T> workspace;
  const std::size_t A = op.num_copies;
  const std::size_t d = op.hidden_size;
  const WeightedRouter router = weighted_router(workspace, op.router, A, d);
  const float* gain = gain_in_order<T>(workspace.gain, op.output_norm.gain, d);
  float* rows = workspace.rows.at_least(kRouterTokens * router.stride);
  float* c = workspace.weights.at_least(A);
  for_each_group<kRouterTokens>(
      tokens.end - tokens.begin, [&](std::size_t first, auto size) HWY_ATTR {
        const std::size_t begin = tokens.begin + first;
        float squares[size.value];
        for (std::size_t n = 0; n < size.value; ++n)
          squares[n] = activated(op, gain, begin + n, rows + n * router.stride);
        const float* m = correcting_modalities<size.value>(op, router, rows, squares);
        for (std::size_t n = 0; n < size.value; ++n) {
          small_product(op.coefficients, A, m + n * A, A, c);
          for (std::size_t i = 0; i < A; ++i) c[i] += 1;
          T* copies = op.copies + (begin + n) * A * d;
          const float* a = rows + n * router.stride;
          for_each_block(d, [&](std::size_t i, auto where) DEPTHCOST_INLINED {
            correct_block(op, copies + i, c, load_raw(a + i), ahead<T>(i, d, A * d), where);
          });
        }
      });
}

template <class T>
constexpr AltupKernels<T> kKernels = {predict<T>, middle<T>, correct<T>};

}  // namespace

KernelsByType<AltupKernels> altup_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(altup_kernels);

template <class T>
AltupKernels<T> best_altup_kernels() {
  return HWY_DYNAMIC_DISPATCH(altup_kernels)().of<T>();
}

template <class T>
void run(const AltupPredict<T>& op) {
  check(op);
  const auto predict = best_altup_kernels<T>().predict;
  for_each_range(op.num_tokens, (2 * op.num_copies + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { predict(op, tokens); });
}

template <class T>
void run(const AltupMiddle<T>& op) {
  check(op);
  const auto middle = best_altup_kernels<T>().middle;
  for_each_range(op.num_tokens, 5 * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { middle(op, tokens); });
}

template <class T>
void run(const AltupCorrect<T>& op) {
  check(op);
  const auto correct = best_altup_kernels<T>().correct;
  for_each_range(op.num_tokens, 2 * (op.num_copies + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { correct(op, tokens); });
}

#define DEPTHCOST_INSTANTIATE(Op)      \
  template void run(const Op<float>&); \
  template void run(const Op<Bf16>&);
DEPTHCOST_INSTANTIATE(AltupPredict)
DEPTHCOST_INSTANTIATE(AltupMiddle)
DEPTHCOST_INSTANTIATE(AltupCorrect)
#undef DEPTHCOST_INSTANTIATE

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
