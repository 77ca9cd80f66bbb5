// Mixing over depth with weights that are parameters. The sources of a token are read once; its
// norm runs while the next token is mixed.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dense_mix.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/delayed_norm.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/threads.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_DENSE_MIX
#define DEPTHCOST_KERNELS_CPU_DENSE_MIX
namespace depthcost::cpu {

/// One target's kernel.
template <class T>
using DenseMixKernel = void (*)(const DenseMix<T>&, TokenRange);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct DenseMixWorkspace {
  Buffer<const T*> rows;
  Buffer<float> formed;
};

/// The rows of one token.
template <class T>
struct DenseRows {
  const T* const* bank;  // n
  const T* hidden_state;
  const T* layer_output;
  T* bank_row;
  T* mixed;
};

template <class T>
DenseRows<T> rows_of(const DenseMix<T>& op, std::size_t t, const T** bank) {
  const std::size_t d = op.hidden_size;
  for (std::size_t j = 0; j < op.num_bank_sources; ++j)
    bank[j] = op.bank + (j * op.num_tokens + t) * d;
  const bool is_kept = op.bank_row != kNoRow;
  return {.bank = bank,
          .hidden_state = op.hidden_state == nullptr ? nullptr : op.hidden_state + t * d,
          .layer_output = op.layer_output + t * d,
          .bank_row = is_kept ? op.bank + (op.bank_row * op.num_tokens + t) * d : nullptr,
          .mixed = op.mixed == nullptr ? nullptr : op.mixed + t * d};
}

/// Loads a block that is read once, and prefetches what comes `distance` later.
template <class T, class Where>
HWY_INLINE Pair load_once(const T* row, std::size_t i, std::size_t distance, Where where) {
  fetch_block(row + i + distance);
  return load(row + i, where);
}

template <class T>
void mix(const DenseMix<T>& op, TokenRange tokens) {
  thread_local DenseMixWorkspace<T> workspace;
  const std::size_t n = op.num_bank_sources;
  const std::size_t d = op.hidden_size;
  const float* weights = op.weights;
  const T** bank = workspace.rows.at_least(n);
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  // A line that is written in place is in cache from its read.
  const StorePolicy mixed_policy = op.mixed == op.hidden_state ? StorePolicy::cached : policy;
  const NextInputs<T> inputs{d, op.norm, op.output, policy};
  next_inputs(inputs, tokens, workspace.formed, [&](std::size_t t) HWY_ATTR {
    return [=, rows = rows_of(op, t, bank)](std::size_t i, auto where) HWY_ATTR {
      const std::size_t distance = ahead<T>(i, d, d);
      Pair last = load_once(rows.layer_output, i, distance, where);
      if (rows.hidden_state != nullptr)
        last = load_once(rows.hidden_state, i, distance, where) + last;
      if (rows.bank_row != nullptr) {
        last = rounded_to<T>(last);
        store_by(policy, rows.bank_row + i, last, where);
      }
      const Vec last_weight = broadcast(weights[n]);
      Pair y = Pair{last_weight, last_weight} * last;
      for (std::size_t j = 0; j < n; ++j)
        y = multiply_add(broadcast(weights[j]), load_once(rows.bank[j], i, distance, where), y);
      if (rows.mixed != nullptr) {
        y = rounded_to<T>(y);
        store_by(mixed_policy, rows.mixed + i, y, where);
      }
      return y;
    };
  });
}

}  // namespace

KernelsByType<DenseMixKernel> dense_mix_kernels() { return {mix<float>, mix<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(dense_mix_kernels);

template <class T>
void run(const DenseMix<T>& op) {
  check(op);
  const auto mix = HWY_DYNAMIC_DISPATCH(dense_mix_kernels)().of<T>();
  for_each_range(op.num_tokens, (op.num_bank_sources + 2) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { mix(op, tokens); });
}

template void run(const DenseMix<float>&);
template void run(const DenseMix<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
