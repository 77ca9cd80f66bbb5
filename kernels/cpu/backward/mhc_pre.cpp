// Backward of mHC in front of a layer.
#include "kernels/cpu/backward/mhc_gradients.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/mhc_pre.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/backward/mhc_pre_gradients.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_MHC_PRE
#define DEPTHCOST_KERNELS_CPU_BACKWARD_MHC_PRE
namespace depthcost::cpu {

template <class T>
using MhcPreBackwardKernel = void (*)(const MhcPreBackward<T>&, TokenRange, float* sums);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void pre_backward(const MhcPreBackward<T>& op, TokenRange tokens, float* row) {
  thread_local MhcBackwardWorkspace workspace;
  const PreParameterSums<T> sums(op, row);
  PreScalars scalars(op.num_streams, op.mapping);
  PreTile<T> tile = pre_tile(workspace, op);
  for_each_tile(tokens, [&](std::size_t first, std::size_t count) HWY_ATTR {
    settle_tile(tile, first, count, scalars, sums);
    for_each_chunk(op.hidden_size, [&](ColumnChunk columns) HWY_ATTR {
      leave_chunk(tile, columns, sums,
                  [&](std::size_t i, std::size_t j, std::size_t at, Pair dx, auto where) HWY_ATTR {
                    store_rounded(tile.gradient(i, j) + columns.first + at, in_order_of<T>(dx),
                                  where, Cached{});
                  });
    });
  });
}

}  // namespace

KernelsByType<MhcPreBackwardKernel> mhc_pre_backward_kernels() {
  return {pre_backward<float>, pre_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(mhc_pre_backward_kernels);

template <class T>
void run(const MhcPreBackward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(mhc_pre_backward_kernels)().of<T>();
  const std::size_t rows = 4 * op.num_streams + 1;
  for_each_slice(op.slices, op.num_tokens, num_parameters(op), rows * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens, float* sums) { kernel(op, tokens, sums); });
  add_mapping_slices(op);
}

template void run(const MhcPreBackward<float>&);
template void run(const MhcPreBackward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
