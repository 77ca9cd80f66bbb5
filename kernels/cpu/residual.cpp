// The standard residual: h += f, alone and with the norm that follows it.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/residual.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/delayed_norm.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_RESIDUAL
#define DEPTHCOST_KERNELS_CPU_RESIDUAL
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct ResidualKernels {
  void (*add)(const ResidualAdd<T>&, TokenRange) = nullptr;
  void (*add_rmsnorm)(const ResidualAddRmsNorm<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void add(const ResidualAdd<T>& op, TokenRange tokens) {
  constexpr std::size_t kAhead = near_bytes(sizeof(T)) / sizeof(T);
  T* h = op.hidden_state + tokens.begin * op.hidden_size;
  const T* f = op.layer_output + tokens.begin * op.hidden_size;
  for_each_block((tokens.end - tokens.begin) * op.hidden_size,
                 [&](std::size_t i, auto where) HWY_ATTR {
                   prefetch(h + i + kAhead);
                   prefetch(f + i + kAhead);
                   store_rounded(h + i, load(h + i, where) + load(f + i, where), where, Cached{});
                 });
}

template <class T>
void add_rmsnorm(const ResidualAddRmsNorm<T>& op, TokenRange tokens) {
  const std::size_t d = op.hidden_size;
  const NextInputs<T> inputs{d, op.norm, op.output, store_policy(op.num_tokens * d * sizeof(T))};
  const auto form = [&](std::size_t t) HWY_ATTR {
    T* h = op.hidden_state + t * d;
    const T* f = op.layer_output + t * d;
    return [h, f](std::size_t i, auto where) HWY_ATTR {
      fetch_ahead(h + i);
      fetch_ahead(f + i);
      const Pair stored = rounded_to<T>(load(h + i, where) + load(f + i, where));
      store(h + i, stored, where, Cached{});
      return stored;
    };
  };
  const auto formed = [&](std::size_t t) HWY_ATTR {
    const T* h = op.hidden_state + t * d;
    return [h](std::size_t i, auto where) HWY_ATTR { return load(h + i, where); };
  };
  norm_behind(inputs, tokens, form, formed);
}

template <class T>
constexpr ResidualKernels<T> kKernels = {add<T>, add_rmsnorm<T>};

}  // namespace

KernelsByType<ResidualKernels> residual_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(residual_kernels);

template <class T>
void run(const ResidualAdd<T>& op) {
  check(op);
  const auto add = HWY_DYNAMIC_DISPATCH(residual_kernels)().of<T>().add;
  for_each_range(op.num_tokens, 3 * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { add(op, tokens); });
}

template <class T>
void run(const ResidualAddRmsNorm<T>& op) {
  check(op);
  const auto add_rmsnorm = HWY_DYNAMIC_DISPATCH(residual_kernels)().of<T>().add_rmsnorm;
  for_each_range(op.num_tokens, 4 * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { add_rmsnorm(op, tokens); });
}

template void run(const ResidualAdd<float>&);
template void run(const ResidualAdd<Bf16>&);
template void run(const ResidualAddRmsNorm<float>&);
template void run(const ResidualAddRmsNorm<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
