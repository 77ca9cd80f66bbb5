// Static hyper-connections: the streams mix and take in the layer's output, and the next layer's
// input is mixed from them while they are made.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/hyper_connections.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/delayed_norm.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/stream_map.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_HYPER_CONNECTIONS
#define DEPTHCOST_KERNELS_CPU_HYPER_CONNECTIONS
namespace depthcost::cpu {

/// One target's kernel.
template <class T>
using HcBoundaryKernel = void (*)(const HcBoundary<T>&, TokenRange);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct HcWorkspace {
  StreamMapWorkspace<T> map;
  Buffer<float> formed;
};

/// The map that all tokens share, without its inputs.
template <class T>
StreamMap<T> static_map(StreamMapWorkspace<T>& workspace, const HcBoundary<T>& op) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  std::size_t* next_rows = workspace.next_rows.at_least(m + 1);
  float* coefficients = workspace.coefficients.at_least(m * (m + 1));
  std::fill_n(next_rows, m, m * d);
  next_rows[m] = d;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) coefficients[i * (m + 1) + j] = op.residual[j * m + i];
    coefficients[i * (m + 1) + m] = op.post[i];
  }
  return {.num_outputs = m,
          .num_inputs = m + 1,
          .row_size = d,
          .inputs = workspace.inputs.at_least(m + 1),
          .next_rows = next_rows,
          .coefficients = coefficients,
          .blocks = workspace.blocks.at_least((m + 1) * kBlock)};
}

/// Holds K inputs of the map in registers.
template <std::size_t K, class T>
HWY_INLINE void boundary_held(const HcBoundary<T>& op, TokenRange tokens) {
  thread_local HcWorkspace<T> workspace;
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const StreamMap<T> map = static_map(workspace.map, op);
  const T** inputs_of_map = workspace.map.inputs.at_least(m + 1);
  const StorePolicy policy = streams_policy(op.num_tokens * m, d, op.next_streams, op.streams);
  const NextInputs<T> inputs{d, op.norm, op.output, store_policy(op.num_tokens * d * sizeof(T))};
  const float* pre = op.pre;
  next_inputs(inputs, tokens, workspace.formed, [&](std::size_t t) HWY_ATTR {
    for (std::size_t j = 0; j < m; ++j) inputs_of_map[j] = op.streams + (t * m + j) * d;
    inputs_of_map[m] = op.layer_output + t * d;
    T* next = op.next_streams + t * m * d;
    return [=, &map](std::size_t column, auto where) HWY_ATTR {
      Pair mixed = zeros();
      map_block<K>(map, column, where, ahead_of(map),
                   [&](std::size_t i, Pair exact) DEPTHCOST_INLINED {
                     const Pair x = rounded_to<T>(exact);
                     store_by(policy, next + i * d + column, x, where);
                     mixed = multiply_add(broadcast(pre[i]), x, mixed);
                   });
      return mixed;
    };
  });
}

template <class T>
void boundary(const HcBoundary<T>& op, TokenRange tokens) {
  with_held_inputs(op.num_streams + 1,
                   [&](auto held) HWY_ATTR { boundary_held<held.value>(op, tokens); });
}

}  // namespace

KernelsByType<HcBoundaryKernel> hc_boundary_kernels() { return {boundary<float>, boundary<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(hc_boundary_kernels);

template <class T>
void run(const HcBoundary<T>& op) {
  check(op);
  const auto boundary = HWY_DYNAMIC_DISPATCH(hc_boundary_kernels)().of<T>();
  for_each_range(op.num_tokens, 2 * (op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { boundary(op, tokens); });
}

template void run(const HcBoundary<float>&);
template void run(const HcBoundary<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
