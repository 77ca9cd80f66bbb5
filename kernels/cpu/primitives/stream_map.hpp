// A small dense matrix applied to the streams of one token.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_STREAM_MAP) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_STREAM_MAP
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_STREAM_MAP
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_STREAM_MAP
#endif

#include <algorithm>

#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Output row i = sum_k coefficients[i][k] input row k. Outputs may be inputs: every block is read
/// before it is written.
template <class T>
struct StreamMap {
  std::size_t num_outputs = 0;
  std::size_t num_inputs = 0;
  std::size_t row_size = 0;
  const T* const* inputs = nullptr;
  const std::size_t* next_rows = nullptr;  // from an input row to the next token's, in elements
  const float* coefficients = nullptr;
  float* blocks = nullptr;  // scratch: num_inputs blocks
};

/// Blocks of the inputs, K of them in registers.
template <std::size_t K>
struct HeldBlocks {
  Pair x[K];

  HWY_INLINE explicit HeldBlocks(float*) {}
  HWY_INLINE void hold(std::size_t k, Pair block) { x[k] = block; }
  HWY_INLINE Pair block(std::size_t k) const { return x[k]; }
  HWY_INLINE std::size_t count(std::size_t) const { return K; }
};

/// Inputs beyond what registers hold are kept in L1.
template <>
struct HeldBlocks<0> {
  float* blocks;

  HWY_INLINE explicit HeldBlocks(float* scratch) : blocks(scratch) {}
  HWY_INLINE void hold(std::size_t k, Pair block) { store_raw(blocks + k * kBlock, block); }
  HWY_INLINE Pair block(std::size_t k) const { return load_raw(blocks + k * kBlock); }
  HWY_INLINE std::size_t count(std::size_t num_inputs) const { return num_inputs; }
};

/// fetch(k, column) for inputs that come from memory.
template <class T>
HWY_INLINE auto ahead_of(const StreamMap<T>& map, FetchAhead way = kFetchAhead) {
  return [&map, way](std::size_t k, std::size_t column) DEPTHCOST_INLINED {
    fetch_block(map.inputs[k] + column + ahead<T>(column, map.row_size, map.next_rows[k], way),
                way);
  };
}

/// finish(i, output block) for the columns at `column`, after fetch(k, column) for every input.
template <std::size_t K, class T, class Where, class Fetch, class Finish>
HWY_INLINE void map_block(const StreamMap<T>& map, std::size_t column, Where where,
                          const Fetch& fetch, const Finish& finish) {
  HeldBlocks<K> held(map.blocks);
  const std::size_t num_inputs = held.count(map.num_inputs);
  HWY_UNROLL(8)
  for (std::size_t k = 0; k < num_inputs; ++k) {
    held.hold(k, load(map.inputs[k] + column, where));
    fetch(k, column);
  }
  for (std::size_t i = 0; i < map.num_outputs; ++i) {
    const float* coefficients = map.coefficients + i * num_inputs;
    const Vec first = broadcast(coefficients[0]);
    Pair output = Pair{first, first} * held.block(0);
    HWY_UNROLL(8)
    for (std::size_t k = 1; k < num_inputs; ++k)
      output = multiply_add(broadcast(coefficients[k]), held.block(k), output);
    finish(i, output);
  }
}

/// finish(i, offset, output block, where) for `size` columns from `column` on.
template <std::size_t K, class T, class Fetch, class Finish>
HWY_INLINE void map_held(const StreamMap<T>& map, std::size_t column, std::size_t size,
                         const Fetch& fetch, const Finish& finish) {
  for_each_block(size, [&](std::size_t offset, auto where) DEPTHCOST_INLINED {
    map_block<K>(map, column + offset, where, fetch,
                 [&](std::size_t i, Pair output)
                     DEPTHCOST_INLINED { finish(i, offset, output, where); });
  });
}

/// body(how many of the inputs are held in registers).
template <class Body>
HWY_INLINE void with_held_inputs(std::size_t num_inputs, const Body& body) {
  switch (num_inputs) {
    case 1:
      return body(std::integral_constant<std::size_t, 1>{});
    case 4:
      return body(std::integral_constant<std::size_t, 4>{});
    case 5:
      return body(std::integral_constant<std::size_t, 5>{});
    default:
      return body(std::integral_constant<std::size_t, 0>{});
  }
}

template <class T, class Fetch, class Finish>
HWY_INLINE void map_streams(const StreamMap<T>& map, std::size_t column, std::size_t size,
                            const Fetch& fetch, const Finish& finish) {
  with_held_inputs(map.num_inputs, [&](auto held) DEPTHCOST_INLINED {
    map_held<held.value>(map, column, size, fetch, finish);
  });
}

/// Outputs bypass the caches only if all rows are aligned when the first one is, and if none is in
/// cache because it was read.
template <class T>
StorePolicy streams_policy(std::size_t num_rows, std::size_t size, const T* outputs,
                           const T* inputs) {
  const bool aligned = size * sizeof(T) % (kLanes * sizeof(float)) == 0;
  if (!aligned || outputs == inputs) return StorePolicy::cached;
  return store_policy(num_rows * size * sizeof(T));
}

/// The arrays of a map, used for one token after the other.
template <class T>
struct StreamMapWorkspace {
  Buffer<const T*> inputs;
  Buffer<std::size_t> next_rows;
  Buffer<float> coefficients;
  Buffer<float> blocks;
};

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f of token `t`; without H_post and f, only the sum.
template <class T>
HWY_INLINE StreamMap<T> stream_map(StreamMapWorkspace<T>& workspace, const MhcPost<T>& op,
                                   std::size_t t) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const bool adds = op.layer_output != nullptr;
  const std::size_t num_inputs = adds ? m + 1 : m;
  const T** inputs = workspace.inputs.at_least(num_inputs);
  std::size_t* next_rows = workspace.next_rows.at_least(num_inputs);
  float* coefficients = workspace.coefficients.at_least(m * num_inputs);
  for (std::size_t j = 0; j < m; ++j) {
    inputs[j] = op.streams + (t * m + j) * d;
    next_rows[j] = m * d;
    std::copy_n(op.residual + (t * m + j) * m, m, coefficients + j * num_inputs);
  }
  if (adds) {
    inputs[m] = op.layer_output + t * d;
    next_rows[m] = d;
    for (std::size_t i = 0; i < m; ++i) coefficients[i * num_inputs + m] = op.post[t * m + i];
  }
  return {.num_outputs = m,
          .num_inputs = num_inputs,
          .row_size = d,
          .inputs = inputs,
          .next_rows = next_rows,
          .coefficients = coefficients,
          .blocks = workspace.blocks.at_least(num_inputs * kBlock)};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_STREAM_MAP
