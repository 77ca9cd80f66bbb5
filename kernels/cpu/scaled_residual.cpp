// Residuals whose terms are scaled, shifted, or gated, before they are added; with the norm that
// follows.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/scaled_residual.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/delayed_norm.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/sigmoid.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_SCALED_RESIDUAL
#define DEPTHCOST_KERNELS_CPU_SCALED_RESIDUAL
namespace depthcost::cpu {

/// One target's kernels.
template <class T>
struct ScaledResidualKernels {
  void (*scaled)(const ScaledAddRmsNorm<T>&, TokenRange) = nullptr;
  void (*highway)(const HighwayRmsNorm<T>&, TokenRange) = nullptr;
  void (*shifted)(const ResidualScalingRmsNorm<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Loads a block, and prefetches what follows in memory.
template <class T, class Where>
HWY_INLINE Pair load_ahead(const T* p, Where where) {
  fetch_ahead(p);
  return load(p, where);
}

/// Stores h = update(offset, h, f, where), and then the norm of what was stored.
template <class T, class Op, class UpdateOf>
HWY_INLINE void update_rmsnorm(const Op& op, TokenRange tokens, const UpdateOf& update_of) {
  const std::size_t d = op.hidden_size;
  const NextInputs<T> inputs{d, op.norm, op.output, store_policy(op.num_tokens * d * sizeof(T))};
  const auto form = [&](std::size_t t) HWY_ATTR {
    T* h = op.hidden_state + t * d;
    const T* f = op.layer_output + t * d;
    return [h, f, update = update_of(t)](std::size_t i, auto where) HWY_ATTR {
      const Pair updated = update(i, load_ahead(h + i, where), load_ahead(f + i, where), where);
      const Pair rounded = rounded_to<T>(updated);
      store(h + i, rounded, where, Cached{});
      return rounded;
    };
  };
  const auto formed = [&](std::size_t t) HWY_ATTR {
    const T* h = op.hidden_state + t * d;
    return [h](std::size_t i, auto where) HWY_ATTR {
      fetch_from_l2(h + i);
      return load(h + i, where);
    };
  };
  norm_behind(inputs, tokens, form, formed);
}

template <class T>
void scaled(const ScaledAddRmsNorm<T>& op, TokenRange tokens) {
  const Vec beta = broadcast(op.hidden_scale);
  const auto with_scale = [&](const auto& scale_at) HWY_ATTR {
    update_rmsnorm<T>(op, tokens, [&](std::size_t) HWY_ATTR {
      return [&](std::size_t i, Pair h, Pair f, auto where) HWY_ATTR {
        return multiply_add(scale_at(i, where), f, Pair{beta, beta} * h);
      };
    });
  };
  const float* lambda = op.scales;
  const Vec first = broadcast(lambda[0]);
  if (op.num_scales == 1)
    with_scale([&](std::size_t, auto) HWY_ATTR { return Pair{first, first}; });
  else
    with_scale([&](std::size_t i, auto where) HWY_ATTR { return load_for<T>(lambda + i, where); });
}

/// (1 - g) h + g f with g = sigmoid(z): (e^-z h + f) / (1 + e^-z), which keeps both shares' digits.
template <class T>
HWY_INLINE Vec gated(Vec z, Vec h, Vec f) {
  const Vec e = exp_of_minus<T>(z);
  const Vec g = inverse<T>(hn::Add(broadcast(1), e));
  return hn::MulAdd(g, f, hn::Mul(hn::Mul(e, g), h));
}

template <class T>
void highway(const HighwayRmsNorm<T>& op, TokenRange tokens) {
  update_rmsnorm<T>(op, tokens, [&](std::size_t t) HWY_ATTR {
    const T* z = op.gate_logits + t * op.hidden_size;
    return [z](std::size_t i, Pair h, Pair f, auto where) HWY_ATTR {
      const Pair logit = load_ahead(z + i, where);
      return Pair{gated<T>(logit.first, h.first, f.first),
                  gated<T>(logit.second, h.second, f.second)};
    };
  });
}

/// The inverse of load_for: floats of a row beside rows of T.
template <class T>
HWY_INLINE void store_for(float* p, Pair a, Whole) {
  store_in_order<T>(p, a);
}
template <class T>
HWY_INLINE void store_for(float* p, Pair a, Part part) {
  Padded<float> buffer;
  store_in_order<T>(buffer.elements, a);
  std::memcpy(p, buffer.elements, part.count * sizeof(float));
}

/// As update_rmsnorm, of a stream of f32. `update` holds copies and no references: the compiler
/// would read a reference again behind every store, which takes 14 to 18 % more time in f32 on
/// Zen 5. [ours]
template <class T, class Update>
HWY_INLINE void update_f32_rmsnorm(const ResidualScalingRmsNorm<T>& op, TokenRange tokens,
                                   const Update& update) {
  const std::size_t d = op.hidden_size;
  const NextInputs<T> inputs{d, op.norm, op.output, store_policy(op.num_tokens * d * sizeof(T))};
  const auto form = [&](std::size_t t) HWY_ATTR {
    float* r = op.hidden_state + t * d;
    const T* f = op.layer_output + t * d;
    return [update, r, f](std::size_t i, auto where) DEPTHCOST_INLINED {
      fetch_ahead(r + i);
      const Pair stream = load_for<T>(r + i, where);
      const Pair sum = update(i, stream, load_ahead(f + i, where), where);
      store_for<T>(r + i, sum, where);
      return sum;
    };
  };
  const auto formed = [&](std::size_t t) HWY_ATTR {
    const float* r = op.hidden_state + t * d;
    return [r](std::size_t i, auto where) HWY_ATTR { return load_for<T>(r + i, where); };
  };
  norm_behind(inputs, tokens, form, formed);
}

/// r' = s_r o (r + b_r) + s_f o (f + b_f).
template <class T, class ScalesStream>
HWY_INLINE void shifted_few(const ResidualScalingRmsNorm<T>& op, TokenRange tokens) {
  update_f32_rmsnorm(op, tokens, [op](std::size_t i, Pair r, Pair f, auto where) DEPTHCOST_INLINED {
    const auto parameter = [&](const float* p) HWY_ATTR { return load_for<T>(p + i, where); };
    if constexpr (ScalesStream::value)
      r = (r + parameter(op.hidden_shifts)) * parameter(op.hidden_scales);
    return multiply_add(f + parameter(op.shifts), parameter(op.scales), r);
  });
}

/// What both shifts add, in floats in the order of T: s_f o b_f, and s_r o b_r if there is one.
template <class T, class ScalesStream>
HWY_INLINE void add_up_shifts(const ResidualScalingRmsNorm<T>& op, float* shifts) {
  for_each_block(op.hidden_size, [&](std::size_t i, auto where) HWY_ATTR {
    const auto parameter = [&](const float* p) HWY_ATTR { return load_for<T>(p + i, where); };
    Pair shift = parameter(op.scales) * parameter(op.shifts);
    if constexpr (ScalesStream::value)
      shift = multiply_add(parameter(op.hidden_scales), parameter(op.hidden_shifts), shift);
    store_raw(shifts + i, shift);
  });
}

/// The same as s_r o r + s_f o f + (s_r o b_r + s_f o b_f): a token reads three rows of parameters
/// in place of four. In f32 on Zen 5 that saves 8 % of the time; a single token would take 1.5
/// times as long. [ours]
template <class T, class ScalesStream>
HWY_INLINE void shifted_rmsnorm(const ResidualScalingRmsNorm<T>& op, TokenRange tokens,
                                ScalesStream /*is_constant*/) {
  // By the whole batch, so that a number does not depend on how many threads share it.
  if (op.num_tokens < kShiftTokens) return shifted_few<T, ScalesStream>(op, tokens);
  thread_local Buffer<float> buffer;
  float* shifts = buffer.at_least(padded(op.hidden_size));
  add_up_shifts<T, ScalesStream>(op, shifts);
  update_f32_rmsnorm(
      op, tokens, [op, shifts](std::size_t i, Pair r, Pair f, auto where) DEPTHCOST_INLINED {
        const auto parameter = [&](const float* p) HWY_ATTR { return load_for<T>(p + i, where); };
        const Pair shift = load_raw(shifts + i);
        if constexpr (ScalesStream::value)
          r = multiply_add(r, parameter(op.hidden_scales), shift);
        else
          r = r + shift;
        return multiply_add(f, parameter(op.scales), r);
      });
}

template <class T>
void shifted(const ResidualScalingRmsNorm<T>& op, TokenRange tokens) {
  if (op.hidden_scales != nullptr)
    shifted_rmsnorm(op, tokens, std::true_type{});
  else
    shifted_rmsnorm(op, tokens, std::false_type{});
}

template <class T>
constexpr ScaledResidualKernels<T> kKernels = {scaled<T>, highway<T>, shifted<T>};

}  // namespace

KernelsByType<ScaledResidualKernels> scaled_residual_kernels() {
  return {kKernels<float>, kKernels<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(scaled_residual_kernels);

template <class T>
void run(const ScaledAddRmsNorm<T>& op) {
  check(op);
  const auto scaled = HWY_DYNAMIC_DISPATCH(scaled_residual_kernels)().of<T>().scaled;
  for_each_range(op.num_tokens, 4 * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { scaled(op, tokens); });
}

template <class T>
void run(const HighwayRmsNorm<T>& op) {
  check(op);
  const auto highway = HWY_DYNAMIC_DISPATCH(scaled_residual_kernels)().of<T>().highway;
  for_each_range(op.num_tokens, 5 * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { highway(op, tokens); });
}

template <class T>
void run(const ResidualScalingRmsNorm<T>& op) {
  check(op);
  const auto shifted = HWY_DYNAMIC_DISPATCH(scaled_residual_kernels)().of<T>().shifted;
  for_each_range(op.num_tokens, 2 * op.hidden_size * (sizeof(T) + sizeof(float)),
                 [&](TokenRange tokens) { shifted(op, tokens); });
}

template void run(const ScaledAddRmsNorm<float>&);
template void run(const ScaledAddRmsNorm<Bf16>&);
template void run(const HighwayRmsNorm<float>&);
template void run(const HighwayRmsNorm<Bf16>&);
template void run(const ResidualScalingRmsNorm<float>&);
template void run(const ResidualScalingRmsNorm<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
