// mHC after a layer: the streams mix and take in the layer's output. Also as eager launches.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/mhc_post.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/stream_map.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_MHC_POST
#define DEPTHCOST_KERNELS_CPU_MHC_POST
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct MhcPostKernels {
  void (*post)(const MhcPost<T>&, TokenRange) = nullptr;
  void (*spread)(const UnfusedMhcPost<T>&, TokenRange) = nullptr;
  void (*merge)(const UnfusedMhcMerge<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Writes all outputs of the map to consecutive rows.
template <class T>
void store_streams(const StreamMap<T>& map, std::size_t size, T* outputs, StorePolicy policy) {
  with_policy(policy, outputs, [&](auto chosen) HWY_ATTR {
    with_fetch_ahead([&](FetchAhead way) DEPTHCOST_INLINED {
      map_streams(map, 0, size, ahead_of(map, way),
                  [&](std::size_t i, std::size_t at, Pair x, auto where) DEPTHCOST_INLINED {
                    store_rounded(outputs + i * size + at, x, where, chosen);
                  });
    });
  });
}

template <class T>
void post(const MhcPost<T>& op, TokenRange tokens) {
  thread_local StreamMapWorkspace<T> workspace;
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = streams_policy(op.num_tokens * m, d, op.next_streams, op.streams);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t)
    store_streams(stream_map(workspace, op, t), d, op.next_streams + t * m * d, policy);
  hwy::FlushStream();
}

template <class T>
void spread(const UnfusedMhcPost<T>& op, TokenRange tokens) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  const T* none = nullptr;
  const StorePolicy policy = streams_policy(op.num_tokens * m, d, op.spread, none);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const T* f = op.layer_output + t * d;
    const StreamMap<T> map{.num_outputs = m,
                           .num_inputs = 1,
                           .row_size = d,
                           .inputs = &f,
                           .next_rows = &d,
                           .coefficients = op.post + t * m};
    store_streams(map, d, op.spread + t * m * d, policy);
  }
  hwy::FlushStream();
}

template <class T>
void merge(const UnfusedMhcMerge<T>& op, TokenRange tokens) {
  const std::size_t row_size = op.num_streams * op.hidden_size;
  const std::size_t begin = tokens.begin * row_size;
  const T* mixed = op.mixed + begin;
  const T* added = op.spread + begin;
  T* next = op.next_streams + begin;
  with_policy(store_policy(op.num_tokens * row_size * sizeof(T)), next, [&](auto policy) HWY_ATTR {
    for_each_block(tokens.end * row_size - begin, [&](std::size_t i, auto where) HWY_ATTR {
      const Pair x = load(mixed + i, where) + load(added + i, where);
      store_rounded(next + i, x, where, policy);
    });
  });
  hwy::FlushStream();
}

template <class T>
constexpr MhcPostKernels<T> kKernels = {post<T>, spread<T>, merge<T>};

}  // namespace

KernelsByType<MhcPostKernels> mhc_post_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(mhc_post_kernels);

template <class T>
void run(const MhcPost<T>& op) {
  check(op);
  const auto post = HWY_DYNAMIC_DISPATCH(mhc_post_kernels)().of<T>().post;
  for_each_range(op.num_tokens, (2 * op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { post(op, tokens); });
}

template <class T>
void run(const UnfusedMhcPost<T>& op) {
  check(op);
  const auto spread = HWY_DYNAMIC_DISPATCH(mhc_post_kernels)().of<T>().spread;
  for_each_range(op.num_tokens, (op.num_streams + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { spread(op, tokens); });
}

template <class T>
void run(const UnfusedMhcResidual<T>& op) {
  check(op);
  const auto post = HWY_DYNAMIC_DISPATCH(mhc_post_kernels)().of<T>().post;
  const MhcPost<T> without_output{.num_tokens = op.num_tokens,
                                  .hidden_size = op.hidden_size,
                                  .num_streams = op.num_streams,
                                  .streams = op.streams,
                                  .residual = op.residual,
                                  .next_streams = op.mixed};
  for_each_range(op.num_tokens, 2 * op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { post(without_output, tokens); });
}

template <class T>
void run(const UnfusedMhcMerge<T>& op) {
  check(op);
  const auto merge = HWY_DYNAMIC_DISPATCH(mhc_post_kernels)().of<T>().merge;
  for_each_range(op.num_tokens, 3 * op.num_streams * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { merge(op, tokens); });
}

template void run(const MhcPost<float>&);
template void run(const MhcPost<Bf16>&);
template void run(const UnfusedMhcPost<float>&);
template void run(const UnfusedMhcPost<Bf16>&);
template void run(const UnfusedMhcResidual<float>&);
template void run(const UnfusedMhcResidual<Bf16>&);
template void run(const UnfusedMhcMerge<float>&);
template void run(const UnfusedMhcMerge<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
