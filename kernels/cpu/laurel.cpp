// LAuReL of AltUp. Few tokens meet the rows of its matrices as these are in memory. Many tokens
// meet them packed: bf16 by tiles (primitives/laurel_tiles.hpp) where a core has them and d is a
// multiple of 32, all else by vectors (primitives/laurel_lanes.hpp).
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/laurel.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/laurel_lanes.hpp"
#include "kernels/cpu/primitives/laurel_tiles.hpp"
#include "kernels/cpu/primitives/laurel_tokens.hpp"
#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_LAUREL
#define DEPTHCOST_KERNELS_CPU_LAUREL
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct LaurelKernels {
  void (*by_rows)(const AltupLaurel<T>&, TokenRange) = nullptr;
  /// Of many tokens of such a width.
  LaurelForm<T> (*form)(std::size_t hidden_size) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// to (tokens, to_stride) = (rows of tokens) W^T, of a matrix W (num_rows, size).
HWY_INLINE void project_few(Buffer<float>& buffer, const float* rows, std::size_t num_tokens,
                            const float* matrix, std::size_t num_rows, std::size_t size, float* to,
                            std::size_t to_stride) {
  float* sums = buffer.at_least(num_tokens * kLaurelRows * kLanes);
  Fetcher fetcher;
  for (std::size_t first = 0; first < num_rows; first += kLaurelRows) {
    const std::size_t count = std::min(kLaurelRows, num_rows - first);
    std::fill_n(sums, num_tokens * count * kLanes, 0.0F);
    project({.rows = rows,
             .num_rows = num_tokens,
             .row_stride = padded(size),
             .parameters = matrix + first * size,
             .num_parameters = count,
             .parameter_stride = size,
             .num_segments = 1,
             .size = size,
             .sums = sums,
             .fetcher = &fetcher});
    for (std::size_t t = 0; t < num_tokens; ++t)
      add_lanes(sums + t * count * kLanes, count, to + t * to_stride + first);
  }
}

/// Scratch of a thread, in order: x, L x and R L x, and vectors of sums.
struct LaurelRowsWorkspace {
  Buffer<float> inputs, inner, branch, sums;
};

/// Keeps the rows of all its tokens.
template <class T>
void by_rows(const AltupLaurel<T>& op, TokenRange tokens) {
  thread_local LaurelRowsWorkspace workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t num_tokens = tokens.end - tokens.begin;
  const std::size_t stride = padded(d);
  const std::size_t inner_stride = padded(op.rank);
  float* inputs = workspace.inputs.at_least(num_tokens * stride);
  float* branch = workspace.branch.at_least(num_tokens * stride);
  float* inner = workspace.inner.at_least(num_tokens * inner_stride);
  // What lies behind a row stays zero: nothing writes it.
  std::fill_n(branch, num_tokens * stride, 0.0F);
  std::fill_n(inner, num_tokens * inner_stride, 0.0F);
  for (std::size_t t = 0; t < num_tokens; ++t)
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      const T* x = op.input + (tokens.begin + t) * d;
      store_raw(inputs + t * stride + i, load_in_order(x + i, where));
    });
  project_few(workspace.sums, inputs, num_tokens, op.down, op.rank, d, inner, inner_stride);
  project_few(workspace.sums, inner, num_tokens, op.up, d, op.rank, branch, stride);
  for (std::size_t t = 0; t < num_tokens; ++t)
    store_branch(op, tokens.begin + t, branch + t * stride);
}

template <class T>
LaurelForm<T> form([[maybe_unused]] std::size_t hidden_size) {
  if constexpr (std::is_same_v<T, Bf16>)
    if (takes_tiles(hidden_size)) return tiles_form();
  return lanes_form<T>();
}

template <class T>
constexpr LaurelKernels<T> kKernels = {by_rows<T>, form<T>};

}  // namespace

KernelsByType<LaurelKernels> laurel_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(laurel_kernels);

template <class T>
void run(const AltupLaurel<T>& op) {
  check(op);
  const LaurelKernels<T> kernels = HWY_DYNAMIC_DISPATCH(laurel_kernels)().of<T>();
  const std::size_t bytes = 2 * op.hidden_size * sizeof(T);
  if (op.num_tokens < kLaurelManyTokens)
    return for_each_range(op.num_tokens, bytes,
                          [&](TokenRange tokens) { kernels.by_rows(op, tokens); });
  thread_local Buffer<std::byte> buffer;
  const LaurelForm<T> form = kernels.form(op.hidden_size);
  const std::size_t num_blocks = form.num_blocks(op);
  const std::size_t packed_bytes = form.packed_bytes(op);
  std::byte* packed = buffer.at_least(packed_bytes);
  for_each_range(num_blocks, packed_bytes / num_blocks,
                 [&](TokenRange blocks) { form.pack(op, packed, blocks); });
  for_each_range(op.num_tokens, bytes, [&](TokenRange tokens) { form.run(op, packed, tokens); });
}

template void run(const AltupLaurel<float>&);
template void run(const AltupLaurel<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
