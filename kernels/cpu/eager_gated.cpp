// Gated Residual in eager mode, launch by launch, each as fast as it can be on its own: what fusing
// is compared with. lambda f and its addition are those of mHC, in mhc_post.cpp.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/eager_gated.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/gate_columns.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/sigmoid.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_EAGER_GATED
#define DEPTHCOST_KERNELS_CPU_EAGER_GATED
namespace depthcost::cpu {

/// One target's kernels. `norm` takes ranges of the T n rows of all streams.
template <class T>
struct EagerGatedKernels {
  void (*norm)(const UnfusedGatedNorm<T>&, TokenRange) = nullptr;
  void (*down)(const UnfusedGateDown<T>&, TokenRange) = nullptr;
  void (*up)(const UnfusedGateUp<T>&, TokenRange) = nullptr;
  void (*activate)(const UnfusedActivation<T>&, TokenRange) = nullptr;
  void (*gate)(const UnfusedGateProduct<T>&, TokenRange) = nullptr;
  void (*average)(const UnfusedStreamMean<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Elements of all streams of a token.
template <class Op>
std::size_t streams_size(const Op& op) {
  return op.num_streams * op.hidden_size;
}

template <class T>
void norm(const UnfusedGatedNorm<T>& op, TokenRange rows) {
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_tokens * streams_size(op) * sizeof(T));
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const T* X = op.streams + row * d;
    const T* gain = op.gain + row % op.num_streams * d;
    T* Xn = op.output + row * d;
    const Vec scale = broadcast(static_cast<float>(inverse_rms(sum_of_squares(X, d), d, op.eps)));
    with_policy(policy, Xn, [&](auto chosen) HWY_ATTR {
      for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
        fetch_block(X + d + i);
        const Pair factor = multiply_add(scale, load(gain + i, where), Pair{scale, scale});
        store_rounded(Xn + i, load(X + i, where) * factor, where, chosen);
      });
    });
  }
  hwy::FlushStream();
}

/// Products of a tile's tokens with `count` rows from `row` on, divided by n.
template <class T>
HWY_INLINE void store_shares(const UnfusedGateDown<T>& op, const float* products, std::size_t first,
                             std::size_t num_tokens, std::size_t row, std::size_t count) {
  const Vec share = broadcast(1.0F / static_cast<float>(op.num_streams));
  for (std::size_t t = 0; t < num_tokens; ++t) {
    float* y = op.output + (first + t) * op.num_outputs + row;
    for_each_block(count, [&](std::size_t i, auto where) HWY_ATTR {
      store(y + i, Pair{share, share} * load(products + t * kGateDownTile.num_rows + i, where),
            where, Cached{});
    });
  }
}

template <class T>
void down(const UnfusedGateDown<T>& op, TokenRange tokens) {
  const std::size_t size = streams_size(op);
  GateColumns columns(kGateDownTile, size, takes_units<T>(size));
  each_tile(kGateDownTile.num_tokens, tokens, [&](std::size_t first, std::size_t num_tokens) {
    columns.assign(num_tokens, op.input + first * size);
    for (std::size_t row = 0; row < op.num_outputs; row += kGateDownTile.num_rows) {
      const std::size_t count = std::min(kGateDownTile.num_rows, op.num_outputs - row);
      store_shares(op, columns.times(op.weights, row, count), first, num_tokens, row, count);
    }
  });
}

template <class T>
void up(const UnfusedGateUp<T>& op, TokenRange tokens) {
  const std::size_t size = streams_size(op);
  GateColumns columns(kGateUpTile, op.rank, takes_units<T>(op.rank));
  each_tile(kGateUpTile.num_tokens, tokens, [&](std::size_t first, std::size_t num_tokens) {
    columns.assign(num_tokens, op.activation + first * op.rank);
    for (std::size_t row = 0; row < size; row += kGateUpTile.num_rows) {
      const std::size_t count = std::min(kGateUpTile.num_rows, size - row);
      const float* products = columns.times(op.up, row, count);
      for (std::size_t t = 0; t < num_tokens; ++t) {
        T* z = op.output + (first + t) * size + row;
        for_each_block(count, [&](std::size_t i, auto where) HWY_ATTR {
          const Pair exact = load_for<T>(products + t * kGateUpTile.num_rows + i, where);
          store_rounded(z + i, exact, where, Cached{});
        });
      }
    }
  });
}

/// output = function(input), block by block.
template <class T, class Function>
HWY_INLINE void map_elements(const T* input, T* output, std::size_t size, StorePolicy policy,
                             const Function& function) {
  with_policy(policy, output, [&](auto chosen) HWY_ATTR {
    for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
      fetch_ahead(input + i);
      const Pair z = load(input + i, where);
      store_rounded(output + i, Pair{function(z.first), function(z.second)}, where, chosen);
    });
  });
}

template <class T>
void activate(const UnfusedActivation<T>& op, TokenRange tokens) {
  const std::size_t size = streams_size(op);
  const std::size_t count = (tokens.end - tokens.begin) * size;
  const StorePolicy policy = store_policy(op.num_tokens * size * sizeof(T));
  const auto map = [&](const auto& function) HWY_ATTR {
    map_elements(op.input + tokens.begin * size, op.output + tokens.begin * size, count, policy,
                 function);
  };
  switch (op.function) {
    case GateFunction::sigmoid:
      map([](Vec z) HWY_ATTR { return gate_of<T>(z); });
      break;
    case GateFunction::twice_sigmoid:
      map([](Vec z) HWY_ATTR { return hn::Mul(broadcast(2), gate_of<T>(z)); });
      break;
    case GateFunction::silu:
      map([](Vec z) HWY_ATTR { return hn::Mul(z, gate_of<T>(z)); });
      break;
  }
  hwy::FlushStream();
}

template <class T>
void gate(const UnfusedGateProduct<T>& op, TokenRange tokens) {
  const std::size_t size = streams_size(op);
  const std::size_t begin = tokens.begin * size;
  const T* gates = op.gates + begin;
  const T* Xn = op.input + begin;
  T* Y = op.output + begin;
  with_policy(store_policy(op.num_tokens * size * sizeof(T)), Y, [&](auto policy) HWY_ATTR {
    for_each_block(tokens.end * size - begin, [&](std::size_t i, auto where) HWY_ATTR {
      store_rounded(Y + i, load(gates + i, where) * load(Xn + i, where), where, policy);
    });
  });
  hwy::FlushStream();
}

template <class T>
void average(const UnfusedStreamMean<T>& op, TokenRange tokens) {
  thread_local Buffer<const T*> row_buffer;
  const std::size_t n = op.num_streams;
  const std::size_t d = op.hidden_size;
  const Vec share = broadcast(1.0F / static_cast<float>(n));
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const T** rows = row_buffer.at_least(n);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    for (std::size_t i = 0; i < n; ++i) rows[i] = op.streams + (t * n + i) * d;
    const auto mean = [&](const auto& finish) HWY_ATTR {
      for_each_block(d, [&](std::size_t e, auto where) HWY_ATTR {
        const std::size_t distance = ahead<T>(e, d, n * d);
        Pair sum = zeros();
        for (std::size_t i = 0; i < n; ++i) {
          fetch_block(rows[i] + e + distance);
          sum = sum + load(rows[i] + e, where);
        }
        finish(e, Pair{share, share} * sum, where);
      });
    };
    store_mix(mean, op.output + t * d, policy);
  }
  hwy::FlushStream();
}

template <class T>
constexpr EagerGatedKernels<T> kKernels = {norm<T>,     down<T>, up<T>,
                                           activate<T>, gate<T>, average<T>};

}  // namespace

KernelsByType<EagerGatedKernels> eager_gated_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(eager_gated_kernels);

template <class T>
void run(const UnfusedGatedNorm<T>& op) {
  check(op);
  const auto norm = HWY_DYNAMIC_DISPATCH(eager_gated_kernels)().of<T>().norm;
  for_each_range(op.num_tokens * op.num_streams, 2 * op.hidden_size * sizeof(T),
                 [&](TokenRange rows) { norm(op, rows); });
}

template <class T>
void run(const UnfusedGateDown<T>& op) {
  check(op);
  const auto down = HWY_DYNAMIC_DISPATCH(eager_gated_kernels)().of<T>().down;
  for_each_range(op.num_tokens, op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { down(op, tokens); });
}

template <class T>
void run(const UnfusedGateUp<T>& op) {
  check(op);
  const auto up = HWY_DYNAMIC_DISPATCH(eager_gated_kernels)().of<T>().up;
  for_each_range(op.num_tokens, op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { up(op, tokens); });
}

template <class T>
void run(const UnfusedActivation<T>& op) {
  check(op);
  const auto activate = HWY_DYNAMIC_DISPATCH(eager_gated_kernels)().of<T>().activate;
  for_each_range(op.num_tokens, 2 * op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { activate(op, tokens); });
}

template <class T>
void run(const UnfusedGateProduct<T>& op) {
  check(op);
  const auto gate = HWY_DYNAMIC_DISPATCH(eager_gated_kernels)().of<T>().gate;
  for_each_range(op.num_tokens, 3 * op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { gate(op, tokens); });
}

template <class T>
void run(const UnfusedStreamMean<T>& op) {
  check(op);
  const auto average = HWY_DYNAMIC_DISPATCH(eager_gated_kernels)().of<T>().average;
  for_each_range(op.num_tokens, (op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { average(op, tokens); });
}

template void run(const UnfusedGatedNorm<float>&);
template void run(const UnfusedGatedNorm<Bf16>&);
template void run(const UnfusedGateDown<float>&);
template void run(const UnfusedGateDown<Bf16>&);
template void run(const UnfusedGateUp<float>&);
template void run(const UnfusedGateUp<Bf16>&);
template void run(const UnfusedActivation<float>&);
template void run(const UnfusedActivation<Bf16>&);
template void run(const UnfusedGateProduct<float>&);
template void run(const UnfusedGateProduct<Bf16>&);
template void run(const UnfusedStreamMean<float>&);
template void run(const UnfusedStreamMean<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
