// Single-Pass mHC. A tile of tokens shares each chunk of phi. In a chunk, the streams are updated,
// projected, and mixed into the next layer's inputs, which are kept in floats until their norm.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/mhc_single_pass.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/mhc_coefficients.hpp"
#include "kernels/cpu/primitives/stream_map.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_MHC_SINGLE_PASS
#define DEPTHCOST_KERNELS_CPU_MHC_SINGLE_PASS
namespace depthcost::cpu {

/// One target's kernel.
template <class T>
using SinglePassMhcKernel = void (*)(const SinglePassMhc<T>&, TokenRange);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// The layer inputs of a tile before their norm.
struct TileMixes {
  std::size_t row_size = 0;
  float* rows = nullptr;     // (tokens, row_size)
  float* squares = nullptr;  // (tokens) pairs
};

/// Streams that are updated, stored and mixed when the tile reads them.
template <class T>
struct MixedStreams {
  static constexpr std::size_t kElementBytes = sizeof(T);

  const SinglePassMhc<T>& op;
  const MhcPost<T>& post;
  StreamMapWorkspace<T>& workspace;
  TileMixes mixes;
  std::size_t first_token = 0;  // of the tile

  std::size_t rows(std::size_t t, std::size_t column, const char** rows) const {
    const std::size_t m = op.num_streams;
    const std::size_t d = op.hidden_size;
    for (std::size_t j = 0; j < m; ++j)
      rows[j] = reinterpret_cast<const char*>(op.streams + (t * m + j) * d + column);
    rows[m] = reinterpret_cast<const char*>(op.layer_output + t * d + column);
    return m + 1;
  }

  HWY_INLINE Pair fill(std::size_t t, std::size_t column, std::size_t size, float* chunk) const {
    const std::size_t m = op.num_streams;
    const std::size_t d = op.hidden_size;
    T* next = op.next_streams + t * m * d + column;
    const float* pre = op.pre + t * m;
    float* mixed_row = mixes.rows + (t - first_token) * mixes.row_size + column;
    float* mixed_squares = mixes.squares + (t - first_token) * kBlock;
    Pair squares = zeros();
    Pair squares_of_mix = load_raw(mixed_squares);
    Pair mixed = zeros();
    map_streams(stream_map(workspace, post, t), column, size, fetched,
                [&](std::size_t i, std::size_t offset, Pair exact, auto where) HWY_ATTR {
                  const Pair x = rounded_to<T>(exact);
                  store(next + i * d + offset, x, where, Cached{});
                  store_in_order<T>(chunk + i * kMhcColumns + offset, x);
                  squares = multiply_add(x, x, squares);
                  mixed = multiply_add(broadcast(pre[i]), x, i == 0 ? zeros() : mixed);
                  if (i + 1 < m) return;
                  store_raw(mixed_row + offset, mixed);
                  squares_of_mix = multiply_add(mixed, mixed, squares_of_mix);
                });
    store_raw(mixed_squares, squares_of_mix);
    return squares;
  }
};

template <class T>
struct SinglePassMhcWorkspace {
  MhcWorkspace tile;
  StreamMapWorkspace<T> map;
  Buffer<float> rows;
  Buffer<float> squares;
};

/// x of the tile's token `i`.
template <class T>
HWY_INLINE void store_mixed(const SinglePassMhc<T>& op, const TileMixes& mixes, std::size_t token,
                            std::size_t i, StorePolicy policy) {
  const std::size_t d = op.hidden_size;
  const float* row = mixes.rows + i * mixes.row_size;
  T* x = op.output + token * d;
  const auto load_mix = [&](std::size_t at, auto) HWY_ATTR { return load_raw(row + at); };
  if (op.norm.gain == nullptr)
    return with_policy(policy, x, [&](auto chosen) HWY_ATTR {
      for_each_block(d, [&](std::size_t at, auto where) HWY_ATTR {
        store_rounded(x + at, load_mix(at, where), where, chosen);
      });
    });
  const float squares = sum(load_raw(mixes.squares + i * kBlock));
  norm_row<T>(load_mix, inverse_rms(squares, d, op.norm.eps), op.norm.gain, d, x, policy);
}

template <class T>
void boundary(const SinglePassMhc<T>& op, TokenRange tokens) {
  thread_local SinglePassMhcWorkspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const std::size_t m = op.num_streams;
  const MhcPost<T> post{op.num_tokens,   d,       m,           op.streams,
                        op.layer_output, op.post, op.residual, op.next_streams};
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const std::size_t num_rows = std::min(kMhcTokens, tokens.end - tokens.begin);
  const TileMixes mixes{padded(d), workspace.rows.at_least(num_rows * padded(d)),
                        workspace.squares.at_least(num_rows * kBlock)};
  MhcTile tile =
      mhc_tile(workspace.tile, d, m, op.mapping, {op.next_pre, 0, op.next_post, op.next_residual});
  for_each_tile(tokens, [&](std::size_t first, std::size_t count) HWY_ATTR {
    tile.first_token = tile.outputs.first_pre_token = first;
    tile.num_tokens = count;
    std::fill_n(mixes.squares, count * kBlock, 0.0F);
    project_tile_of_tokens(tile, MixedStreams<T>{op, post, workspace.map, mixes, first});
    store_coefficients(tile);
    for (std::size_t i = 0; i < count; ++i) store_mixed(op, mixes, first + i, i, policy);
  });
  hwy::FlushStream();
}

}  // namespace

KernelsByType<SinglePassMhcKernel> single_pass_mhc_kernels() {
  return {boundary<float>, boundary<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(single_pass_mhc_kernels);

template <class T>
void run(const SinglePassMhc<T>& op) {
  check(op);
  const auto boundary = HWY_DYNAMIC_DISPATCH(single_pass_mhc_kernels)().of<T>();
  for_each_range(op.num_tokens, 2 * (op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { boundary(op, tokens); });
}

template void run(const SinglePassMhc<float>&);
template void run(const SinglePassMhc<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
