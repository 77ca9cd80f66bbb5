// Gated Residual in two passes. Its matrices meet the tokens of a tile:
// primitives/gate_columns.hpp. The pieces that a framework launches are in eager_gated.cpp.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gated_residual.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/gate_columns.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/sigmoid.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_GATED_RESIDUAL
#define DEPTHCOST_KERNELS_CPU_GATED_RESIDUAL
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct GatedResidualKernels {
  void (*apply_down)(const GatedApplyDown<T>&, TokenRange) = nullptr;
  void (*up_mix)(const GatedUpMix<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

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

/// Updates one token's streams and puts Xn.
template <class T>
void apply(const GatedApplyDown<T>& op, std::size_t t, const ColumnWriter& column) {
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  for (std::size_t i = 0; i < n; ++i) {
    T* next = op.next_streams + (t * n + i) * d;
    const float squares = update_stream(op.streams + (t * n + i) * d, op.layer_output + t * d,
                                        op.inject[t * n + i], d, next);
    const auto inverse = static_cast<float>(inverse_rms(squares, d, op.eps));
    op.inverse_rms[t * n + i] = inverse;
    for_each_block(d, [&](std::size_t e, auto where) HWY_ATTR {
      column.put(i * d + e, normed(next + e, op.gain + i * d + e, inverse, where), where);
    });
  }
}

/// gate(z) of z = products / n of `count` rows, for each token, to rows `to` that lie `stride`
/// apart.
template <class Gate>
HWY_INLINE void store_gates(const float* products, std::size_t num_tokens, std::size_t count,
                            std::size_t n, float* to, std::size_t stride, const Gate& gate) {
  const Vec share = broadcast(1.0F / static_cast<float>(n));
  for (std::size_t t = 0; t < num_tokens; ++t)
    for (std::size_t i = 0; i < count; i += kLanes) {
      HWY_ALIGN float gates[kLanes];
      hn::Store(gate(hn::Mul(share, load_vec(products + t * kGateDownTile.num_rows + i))), Lanes(),
                gates);
      std::copy_n(gates, std::min(kLanes, count - i), to + t * stride + i);
    }
}

template <class T>
void apply_down(const GatedApplyDown<T>& op, TokenRange tokens) {
  const std::size_t n = op.num_streams;
  const bool units = takes_units<T>(n * op.hidden_size);
  GateColumns columns(kGateDownTile, n * op.hidden_size, units);
  each_tile(kGateDownTile.num_tokens, tokens, [&](std::size_t first, std::size_t count) {
    columns.assign(
        count, [&](std::size_t t, const ColumnWriter& column) { apply(op, first + t, column); });
    for (std::size_t row = 0; row < op.rank; row += kGateDownTile.num_rows) {
      const std::size_t rows = std::min(kGateDownTile.num_rows, op.rank - row);
      store_gates(columns.times(op.down, row, rows), count, rows, n,
                  op.activation + first * op.rank + row, op.rank,
                  [](Vec z) HWY_ATTR { return hn::Mul(z, sigmoid(z)); });
    }
    for (std::size_t row = 0; op.inject_weights != nullptr && row < n;
         row += kGateDownTile.num_rows) {
      const std::size_t rows = std::min(kGateDownTile.num_rows, n - row);
      store_gates(columns.times(op.inject_weights, row, rows), count, rows, n,
                  op.next_inject + first * n + row, n,
                  [](Vec z) HWY_ATTR { return hn::Mul(broadcast(2), sigmoid(z)); });
    }
  });
}

/// sigmoid(logits) o Xn of one stream's columns, added to `mixed`. Asks for the next columns, since
/// a tile comes back to this row when it is done with all others.
template <class T>
HWY_INLINE void add_gated(const float* logits, const T* X, const T* gain, float inverse,
                          std::size_t size, float* mixed) {
  for_each_block(size, [&](std::size_t e, auto where) HWY_ATTR {
    prefetch(X + e + kGateUpTile.num_rows);
    const Pair z = load_raw(logits + e);
    const Pair gate{gate_of<T>(z.first), gate_of<T>(z.second)};
    store_raw(mixed + e,
              multiply_add(gate, normed(X + e, gain + e, inverse, where), load_raw(mixed + e)));
  });
}

/// The columns of x from `column` on, of a tile of tokens that begins with `first`.
template <class T>
void mix_columns(const GatedUpMix<T>& op, const GateColumns& columns, std::size_t first,
                 std::size_t column) {
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  const std::size_t size = std::min(kGateUpTile.num_rows, d - column);
  HWY_ALIGN float mixed[kGateUpTile.num_tokens * kGateUpTile.num_rows];
  std::fill_n(mixed, columns.num_tokens() * kGateUpTile.num_rows, 0.0F);
  for (std::size_t i = 0; i < n; ++i) {
    const float* logits = columns.times(op.up, i * d + column, size);
    for (std::size_t t = 0; t < columns.num_tokens(); ++t) {
      const std::size_t stream = (first + t) * n + i;
      add_gated(logits + t * kGateUpTile.num_rows, op.streams + stream * d + column,
                op.gain + i * d + column, op.inverse_rms[stream], size,
                mixed + t * kGateUpTile.num_rows);
    }
  }
  const Vec share = broadcast(1.0F / static_cast<float>(n));
  for (std::size_t t = 0; t < columns.num_tokens(); ++t)
    for_each_block(size, [&](std::size_t e, auto where) HWY_ATTR {
      const Pair x = in_order_of<T>(load_raw(mixed + t * kGateUpTile.num_rows + e));
      store(op.output + (first + t) * d + column + e, rounded_to<T>(Pair{share, share} * x), where,
            Cached{});
    });
}

template <class T>
void up_mix(const GatedUpMix<T>& op, TokenRange tokens) {
  const bool units = takes_units<T>(op.rank);
  GateColumns columns(kGateUpTile, op.rank, units);
  each_tile(kGateUpTile.num_tokens, tokens, [&](std::size_t first, std::size_t count) {
    columns.assign(count, op.activation + first * op.rank);
    for (std::size_t column = 0; column < op.hidden_size; column += kGateUpTile.num_rows)
      mix_columns(op, columns, first, column);
  });
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
