// mHC in front of a layer: the dynamic coefficients, then the streams mixed into the layer's input.
// It runs alone, as eager launches, and at a boundary, where the update of the streams comes first.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/mhc_pre.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/mhc_coefficients.hpp"
#include "kernels/cpu/primitives/stored_streams.hpp"
#include "kernels/cpu/primitives/stream_map.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_MHC_PRE
#define DEPTHCOST_KERNELS_CPU_MHC_PRE
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct MhcPreKernels {
  void (*coefficients)(const UnfusedMhcCoefficients<T>&, TokenRange) = nullptr;
  void (*mix)(const UnfusedMhcPre<T>&, TokenRange) = nullptr;
  void (*pre)(const MhcPre<T>&, TokenRange) = nullptr;
  void (*boundary)(const MhcBoundary<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Streams that mhc_post of the previous layer computes here, and stores.
template <class T>
struct UpdatedStreams {
  static constexpr std::size_t kElementBytes = sizeof(T);

  const MhcPost<T>& op;
  StreamMapWorkspace<T>& workspace;

  std::size_t rows(std::size_t t, std::size_t column, const char** rows) const {
    const StoredStreams<T> read{op.num_streams, op.hidden_size, op.streams};
    const std::size_t num_rows = read.rows(t, column, rows);
    rows[num_rows] = reinterpret_cast<const char*>(op.layer_output + t * op.hidden_size + column);
    return num_rows + 1;
  }
  HWY_INLINE Pair fill(std::size_t t, std::size_t column, std::size_t size, float* chunk) const {
    T* next_streams = op.next_streams + (t * op.num_streams) * op.hidden_size + column;
    Pair squares = zeros();
    map_streams(stream_map(workspace, op, t), column, size, fetched,
                [&](std::size_t i, std::size_t offset, Pair exact, auto where) HWY_ATTR {
                  const Pair x = rounded_to<T>(exact);
                  store(next_streams + i * op.hidden_size + offset, x, where, Cached{});
                  store_in_order<T>(chunk + i * kMhcColumns + offset, x);
                  squares = multiply_add(x, x, squares);
                });
    return squares;
  }
};

/// x = sum_j pre[j] X_j of one token, normalised if there is a gain.
template <class T>
HWY_INLINE void mix_streams(const T* streams, std::size_t m, std::size_t d, const float* pre,
                            const NextNorm& norm, const T** rows, float* mixed, T* output,
                            StorePolicy policy) {
  for (std::size_t j = 0; j < m; ++j) rows[j] = streams + j * d;
  const auto mix = [&](const auto& finish) HWY_ATTR {
    const auto fetch = [&](std::size_t i) HWY_ATTR {
      const std::size_t distance = ahead<T>(i, d, m * d);
      for (std::size_t j = 0; j < m; ++j) fetch_block(rows[j] + i + distance);
    };
    mix_rows(
        rows, pre, m, d, fetch, [](std::size_t, auto) HWY_ATTR { return zeros(); }, finish);
  };
  store_next_input(mix, norm, d, mixed, output, policy, [] {});
}

template <class T>
void coefficients(const UnfusedMhcCoefficients<T>& op, TokenRange tokens) {
  thread_local MhcWorkspace workspace;
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  MhcTile tile = mhc_tile(workspace, d, m, op.mapping, {op.pre, 0, op.post, op.residual});
  for_each_tile(tokens, [&](std::size_t first, std::size_t count) HWY_ATTR {
    tile.first_token = tile.outputs.first_pre_token = first;
    tile.num_tokens = count;
    project_tile_of_tokens(tile, StoredStreams<T>{m, d, op.streams});
    store_coefficients(tile);
  });
}

template <class T>
void mix(const UnfusedMhcPre<T>& op, TokenRange tokens) {
  thread_local Buffer<const T*> rows;
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  for (std::size_t t = tokens.begin; t < tokens.end; ++t)
    mix_streams(op.streams + t * m * d, m, d, op.pre + t * m, NextNorm{}, rows.at_least(m), nullptr,
                op.output + t * d, policy);
  hwy::FlushStream();
}

/// Computes the coefficients of the source's streams and their mixes, tile by tile. `op` reads the
/// streams where the source has stored them.
template <class T, class Source>
HWY_INLINE void pre_from(const MhcPre<T>& op, const Source& source, TokenRange tokens) {
  thread_local MhcWorkspace workspace;
  thread_local Buffer<const T*> row_buffer;
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const T** rows = row_buffer.at_least(m);
  float* mixed = workspace.mixed.at_least(padded(d));
  MhcTile tile = mhc_tile(workspace, d, m, op.mapping, {nullptr, 0, op.post, op.residual});
  for_each_tile(tokens, [&](std::size_t first, std::size_t count) HWY_ATTR {
    tile.first_token = first;
    tile.num_tokens = count;
    project_tile_of_tokens(tile, source);
    store_coefficients(tile);
    for (std::size_t i = 0; i < count; ++i)
      mix_streams(op.streams + (first + i) * m * d, m, d, tile.outputs.pre + i * m, op.norm, rows,
                  mixed, op.output + (first + i) * d, policy);
  });
  hwy::FlushStream();
}

template <class T>
void pre(const MhcPre<T>& op, TokenRange tokens) {
  pre_from(op, StoredStreams<T>{op.num_streams, op.hidden_size, op.streams}, tokens);
}

template <class T>
void boundary(const MhcBoundary<T>& op, TokenRange tokens) {
  thread_local StreamMapWorkspace<T> workspace;
  pre_from(next_pre(op), UpdatedStreams<T>{op.post, workspace}, tokens);
}

template <class T>
constexpr MhcPreKernels<T> kKernels = {coefficients<T>, mix<T>, pre<T>, boundary<T>};

}  // namespace

KernelsByType<MhcPreKernels> mhc_pre_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(mhc_pre_kernels);

template <class T>
void run(const UnfusedMhcCoefficients<T>& op) {
  check(op);
  const auto coefficients = HWY_DYNAMIC_DISPATCH(mhc_pre_kernels)().of<T>().coefficients;
  for_each_range(op.num_tokens, op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { coefficients(op, tokens); });
}

template <class T>
void run(const UnfusedMhcPre<T>& op) {
  check(op);
  const auto mix = HWY_DYNAMIC_DISPATCH(mhc_pre_kernels)().of<T>().mix;
  for_each_range(op.num_tokens, (op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { mix(op, tokens); });
}

template <class T>
void run(const MhcPre<T>& op) {
  check(op);
  const auto pre = HWY_DYNAMIC_DISPATCH(mhc_pre_kernels)().of<T>().pre;
  for_each_range(op.num_tokens, (2 * op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { pre(op, tokens); });
}

template <class T>
void run(const MhcBoundary<T>& op) {
  check(op);
  const auto boundary = HWY_DYNAMIC_DISPATCH(mhc_pre_kernels)().of<T>().boundary;
  const MhcPost<T>& post = op.post;
  for_each_range(post.num_tokens, (3 * post.num_streams + 2) * post.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { boundary(op, tokens); });
}

template void run(const UnfusedMhcCoefficients<float>&);
template void run(const UnfusedMhcCoefficients<Bf16>&);
template void run(const UnfusedMhcPre<float>&);
template void run(const UnfusedMhcPre<Bf16>&);
template void run(const MhcPre<float>&);
template void run(const MhcPre<Bf16>&);
template void run(const MhcBoundary<float>&);
template void run(const MhcBoundary<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
