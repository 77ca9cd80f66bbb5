// Gated Residual in two passes. Matrices of several megabytes meet the tokens of a tile: they are
// read once a tile, block by block, widened into scratch.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_residual.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/sigmoid.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_GATED_RESIDUAL
#define DEPTHCOST_KERNELS_CPU_GATED_RESIDUAL
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct GatedResidualKernels {
  void (*apply_down)(const GatedApplyDown<T>&, TokenRange) = nullptr;
  void (*up_mix)(const GatedUpMix<T>&, TokenRange) = nullptr;
};

inline float silu(float p) { return p / (1 + std::exp(-p)); }

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Scratch of a thread.
struct GateWorkspace {
  Buffer<float> rows;     // (tokens, n d) of Xn, or (tokens, r) of a
  Buffer<float> weights;  // a block of a matrix, widened
  Buffer<float> sums;     // (tokens, rows of the block) vectors
  Buffer<float> logits;   // (columns)
  Buffer<float> mixed;    // (tokens, columns)
};

/// Columns `column` .. + size of rows `first` .. + count, each `stride` elements long, in order and
/// kGateColumns apart. Columns behind `size`, up to whole vectors, become zeros.
template <class T>
HWY_INLINE void widen(const T* matrix, std::size_t stride, std::size_t first, std::size_t count,
                      std::size_t column, std::size_t size, float* to) {
  for (std::size_t row = 0; row < count; ++row) {
    const T* from = matrix + (first + row) * stride + column;
    for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
      store_raw(to + row * kGateColumns + i, load_in_order(from + i, where));
    });
  }
}

/// (rows of tokens, `stride` apart) . (`count` rows of `matrix` from `first` on), as vectors of
/// partial sums in workspace.sums.
template <class T>
HWY_INLINE void product(GateWorkspace& workspace, const float* rows, std::size_t num_tokens,
                        std::size_t stride, const T* matrix, std::size_t size, std::size_t first,
                        std::size_t count) {
  float* weights = workspace.weights.at_least(kGateRows * kGateColumns);
  float* sums = workspace.sums.at_least(kGateTokens * kGateRows * kLanes);
  std::fill_n(sums, num_tokens * count * kLanes, 0.0F);
  Fetcher fetcher;
  for (std::size_t column = 0; column < size; column += kGateColumns) {
    const std::size_t width = std::min(kGateColumns, size - column);
    widen(matrix, size, first, count, column, width, weights);
    project({.rows = rows + column,
             .num_rows = num_tokens,
             .row_stride = stride,
             .parameters = weights,
             .num_parameters = count,
             .parameter_stride = kGateColumns,
             .num_segments = 1,
             .size = width,
             .sums = sums,
             .fetcher = &fetcher});
  }
}

/// X + lambda f of one stream, stored; returns its squares.
template <class T>
HWY_INLINE float update_stream(const T* X, const T* f, float lambda, std::size_t d, T* next) {
  Pair squares = zeros();
  for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair x =
        rounded_to<T>(multiply_add(broadcast(lambda), load(f + i, where), load(X + i, where)));
    store(next + i, x, where, Cached{});
    squares = multiply_add(x, x, squares);
  });
  return sum(squares);
}

/// X / rms o (1 + g), in order.
template <class T>
HWY_INLINE Pair normed(const T* X, const T* gain, float inverse, auto where) {
  const Pair g = load_in_order(gain, where);
  const Pair factor =
      multiply_add(broadcast(inverse), g, Pair{broadcast(inverse), broadcast(inverse)});
  return load_in_order(X, where) * factor;
}

/// Updates one token's streams and leaves Xn in `row`.
template <class T>
HWY_INLINE void apply(const GatedApplyDown<T>& op, std::size_t t, float* row) {
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t i = 0; i < n; ++i) {
    T* next = op.next_streams + (t * n + i) * d;
    const float squares = update_stream(op.streams + (t * n + i) * d, op.layer_output + t * d,
                                        op.inject[t * n + i], d, next);
    const auto inverse = static_cast<float>(inverse_rms(squares, d, op.eps));
    op.inverse_rms[t * n + i] = inverse;
    for_each_block(d, [&](std::size_t e, auto where) HWY_ATTR {
      HWY_ALIGN float block[kBlock];
      store_raw(block, normed(next + e, op.gain + i * d + e, inverse, where));
      std::memcpy(row + i * d + e, block, std::min(kBlock, d - e) * sizeof(float));
    });
  }
}

/// keep(token of the tile, row of the matrix, dot product) of all rows of a matrix.
template <class T, class Keep>
HWY_INLINE void each_dot(GateWorkspace& workspace, const float* rows, std::size_t num_tokens,
                         std::size_t stride, const T* matrix, std::size_t num_rows,
                         std::size_t size, const Keep& keep) {
  for (std::size_t first = 0; first < num_rows; first += kGateRows) {
    const std::size_t count = std::min(kGateRows, num_rows - first);
    product(workspace, rows, num_tokens, stride, matrix, size, first, count);
    const float* sums = workspace.sums.at_least(0);
    for (std::size_t t = 0; t < num_tokens; ++t)
      for (std::size_t i = 0; i < count; ++i)
        keep(t, first + i, sum(load_vec(sums + (t * count + i) * kLanes)));
  }
}

template <class T>
void apply_down(const GatedApplyDown<T>& op, TokenRange tokens) {
  thread_local GateWorkspace workspace;
  const std::size_t n = op.num_streams;
  const std::size_t size = n * op.hidden_size;
  const std::size_t stride = padded(size);
  float* rows = workspace.rows.at_least(kGateTokens * stride);
  const float share = 1.0F / static_cast<float>(n);
  for (std::size_t first = tokens.begin; first < tokens.end; first += kGateTokens) {
    const std::size_t count = std::min(kGateTokens, tokens.end - first);
    for (std::size_t t = 0; t < count; ++t) {
      std::fill(rows + t * stride + size, rows + (t + 1) * stride, 0.0F);
      apply(op, first + t, rows + t * stride);
    }
    each_dot(workspace, rows, count, stride, op.down, op.rank, size,
             [&](std::size_t t, std::size_t i, float dot) {
               op.activation[(first + t) * op.rank + i] = silu(share * dot);
             });
    if (op.inject_weights == nullptr) continue;
    each_dot(workspace, rows, count, stride, op.inject_weights, n, size,
             [&](std::size_t t, std::size_t i, float dot) {
               op.next_inject[(first + t) * n + i] = 2 / (1 + std::exp(-share * dot));
             });
  }
}

/// sigmoid(logits) o Xn of one stream's columns, added to `mixed`.
template <class T>
HWY_INLINE void add_gated(const float* logits, const T* X, const T* gain, float inverse,
                          std::size_t size, float* mixed) {
  for_each_block(size, [&](std::size_t e, auto where) HWY_ATTR {
    const Pair z = load_raw(logits + e);
    const Pair gate{sigmoid(z.first), sigmoid(z.second)};
    store_raw(mixed + e,
              multiply_add(gate, normed(X + e, gain + e, inverse, where), load_raw(mixed + e)));
  });
}

/// The columns of x from `column` on, of a tile of tokens.
template <class T>
HWY_INLINE void mix_columns(GateWorkspace& workspace, const GatedUpMix<T>& op, const float* rows,
                            std::size_t stride, std::size_t first, std::size_t count,
                            std::size_t column) {
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  const std::size_t size = std::min(kGateRows, d - column);
  float* mixed = workspace.mixed.at_least(kGateTokens * padded(kGateRows));
  float* logits = workspace.logits.at_least(padded(kGateRows));
  std::fill_n(mixed, count * padded(kGateRows), 0.0F);
  std::fill_n(logits, padded(kGateRows), 0.0F);
  for (std::size_t i = 0; i < n; ++i) {
    product(workspace, rows, count, stride, op.up, op.rank, i * d + column, size);
    const float* sums = workspace.sums.at_least(0);
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t e = 0; e < size; ++e)
        logits[e] = sum(load_vec(sums + (t * size + e) * kLanes));
      const std::size_t stream = (first + t) * n + i;
      add_gated(logits, op.streams + stream * d + column, op.gain + i * d + column,
                op.inverse_rms[stream], size, mixed + t * padded(kGateRows));
    }
  }
  const Vec share = broadcast(1.0F / static_cast<float>(n));
  for (std::size_t t = 0; t < count; ++t)
    for_each_block(size, [&](std::size_t e, auto where) HWY_ATTR {
      const Pair x = in_order_of<T>(load_raw(mixed + t * padded(kGateRows) + e));
      store(op.output + (first + t) * d + column + e, rounded_to<T>(Pair{share, share} * x), where,
            Cached{});
    });
}

template <class T>
void up_mix(const GatedUpMix<T>& op, TokenRange tokens) {
  thread_local GateWorkspace workspace;
  const std::size_t stride = padded(op.rank);
  float* rows = workspace.rows.at_least(kGateTokens * stride);
  for (std::size_t first = tokens.begin; first < tokens.end; first += kGateTokens) {
    const std::size_t count = std::min(kGateTokens, tokens.end - first);
    std::fill_n(rows, count * stride, 0.0F);
    for (std::size_t t = 0; t < count; ++t)
      std::copy_n(op.activation + (first + t) * op.rank, op.rank, rows + t * stride);
    for (std::size_t column = 0; column < op.hidden_size; column += kGateRows)
      mix_columns(workspace, op, rows, stride, first, count, column);
  }
}

template <class T>
constexpr GatedResidualKernels<T> kKernels = {apply_down<T>, up_mix<T>};

}  // namespace

KernelsByType<GatedResidualKernels> gated_residual_kernels() {
  return {kKernels<float>, kKernels<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(gated_residual_kernels);

template <class T>
void run(const GatedApplyDown<T>& op) {
  check(op);
  const auto apply_down = HWY_DYNAMIC_DISPATCH(gated_residual_kernels)().of<T>().apply_down;
  for_each_range(op.num_tokens, (2 * op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { apply_down(op, tokens); });
}

template <class T>
void run(const GatedUpMix<T>& op) {
  check(op);
  const auto up_mix = HWY_DYNAMIC_DISPATCH(gated_residual_kernels)().of<T>().up_mix;
  for_each_range(op.num_tokens, (op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { up_mix(op, tokens); });
}

template void run(const GatedApplyDown<float>&);
template void run(const GatedApplyDown<Bf16>&);
template void run(const GatedUpMix<float>&);
template void run(const GatedUpMix<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
