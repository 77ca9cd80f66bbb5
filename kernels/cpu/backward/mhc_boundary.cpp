// Backward of a boundary of mHC: of the layer behind it, mhc_pre, and of the one in front of it,
// mhc_post, in one scan. dX' of a tile's columns goes from one to the other in scratch.
#include "kernels/cpu/backward/mhc_gradients.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/mhc_boundary.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/backward/mhc_post_gradients.hpp"
#include "kernels/cpu/backward/mhc_pre_gradients.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_MHC_BOUNDARY
#define DEPTHCOST_KERNELS_CPU_BACKWARD_MHC_BOUNDARY
namespace depthcost::cpu {

template <class T>
using MhcBoundaryBackwardKernel = void (*)(const MhcBoundaryBackward<T>&, TokenRange, float* sums);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

struct MhcBoundaryBackwardWorkspace {
  MhcBackwardWorkspace of_pre;
  Buffer<float> blocks;    // dX' of a block
  Buffer<float> products;  // those of store_products (tokens, m (m + 1)), as pairs
};

/// Post of four streams over a chunk: products begin and end in memory.
template <class T>
HWY_INLINE void map_chunk_of_four(const PostToken<T>& token, const ChunkGradients<T>& from,
                                  ColumnChunk columns, float* products) {
  DotsOfFour dots;
  constexpr std::size_t kProducts = kUsualStreams * (kUsualStreams + 1);
  for (std::size_t k = 0; k < kProducts; ++k) dots.sums[k] = load_vec(products + k * kBlock);
  for_each_block(columns.size, [&](std::size_t at, auto where) HWY_ATTR {
    map_block_of_four(token, from, columns.first + at, where, Cached{}, dots);
  });
  for (std::size_t k = 0; k < kProducts; ++k)
    hn::StoreU(dots.sums[k], Lanes(), products + k * kBlock);
}

template <class T>
void boundary_backward(const MhcBoundaryBackward<T>& op, TokenRange tokens, float* row) {
  thread_local MhcBoundaryBackwardWorkspace workspace;
  const MhcPreBackward<T> pre = pre_backward_of(op);
  const std::size_t m = pre.num_streams;
  const std::size_t num_products = m * (m + 1) * kBlock;
  const PreParameterSums<T> sums(pre, row);
  PreScalars scalars(m, pre.mapping);
  PreTile<T> tile = pre_tile(workspace.of_pre, pre);
  float* block = workspace.blocks.at_least(m * kBlock);
  float* products = workspace.products.at_least(kMhcTokens * num_products);
  for_each_tile(tokens, [&](std::size_t first, std::size_t count) HWY_ATTR {
    settle_tile(tile, first, count, scalars, sums);
    clear(products, count * num_products);
    for_each_chunk(pre.hidden_size, [&](ColumnChunk columns) HWY_ATTR {
      // X'_j has been used when dX'_j takes its place.
      leave_chunk(tile, columns, sums,
                  [&](std::size_t i, std::size_t j, std::size_t at, Pair dx, auto)
                      HWY_ATTR { store_raw(tile.streams + (i * m + j) * kMhcColumns + at, dx); });
      for (std::size_t i = 0; i < count; ++i) {
        const PostToken<T> token(op.post, first + i);
        const ChunkGradients<T> from{tile.streams + i * m * kMhcColumns, columns.first};
        float* of_token = products + i * num_products;
        if (m == kUsualStreams)
          map_chunk_of_four(token, from, columns, of_token);
        else
          for_each_block(columns.size, [&](std::size_t at, auto where) HWY_ATTR {
            map_block_of_any(token, from, columns.first + at, where, block, of_token);
          });
      }
    });
    for (std::size_t i = 0; i < count; ++i)
      store_products(PostToken<T>(op.post, first + i), [&](std::size_t k) HWY_ATTR {
        return sum(load_raw(products + i * num_products + k * kBlock));
      });
  });
}

}  // namespace

KernelsByType<MhcBoundaryBackwardKernel> mhc_boundary_backward_kernels() {
  return {boundary_backward<float>, boundary_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(mhc_boundary_backward_kernels);

template <class T>
void run(const MhcBoundaryBackward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(mhc_boundary_backward_kernels)().of<T>();
  const std::size_t rows = 5 * op.post.num_streams + 3;
  for_each_slice(op.slices, op.post.num_tokens, num_parameters(op),
                 rows * op.post.hidden_size * sizeof(T),
                 [&](TokenRange tokens, float* sums) { kernel(op, tokens, sums); });
  add_mapping_slices(pre_backward_of(op));
}

template void run(const MhcBoundaryBackward<float>&);
template void run(const MhcBoundaryBackward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
