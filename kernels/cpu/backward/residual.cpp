// The standard residual's backward pass: of the norm, and of the sum in front of it.
#include "kernels/cpu/primitives/slices.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/residual.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/backward/norm_backward.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_RESIDUAL
#define DEPTHCOST_KERNELS_CPU_BACKWARD_RESIDUAL
namespace depthcost::cpu {

template <class T>
using AddNormBackwardKernel = void (*)(const ResidualAddRmsNormBackward<T>&, TokenRange,
                                       float* sums);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// h . h and (g o dx) . h of a row.
struct NormSums {
  Pair squares;
  Pair along;
};

/// Takes in a block of token `t`, and asks for what follows in memory.
template <class T, class Where>
HWY_INLINE void take_in(const ResidualAddRmsNormBackward<T>& op, std::size_t t, std::size_t i,
                        Where where, StorePolicy policy, NormSums& sums) {
  const T* h = op.hidden_state + t * op.hidden_size + i;
  const T* dx = op.output_gradient + t * op.hidden_size + i;
  fetch_ahead(h, policy);
  fetch_ahead(dx, policy);
  const Pair state = load(h, where);
  const Pair gained = load(dx, where) * load_for<T>(op.norm.gain + i, where);
  sums.squares = multiply_add(state, state, sums.squares);
  sums.along = multiply_add(gained, state, sums.along);
}

/// Makes dh of a block of token `t`, and its part of the gain's gradient.
template <class T, class Where>
HWY_INLINE void leave(const ResidualAddRmsNormBackward<T>& op, std::size_t t, std::size_t i,
                      Where where, StorePolicy policy, NormBackward norm, float* gain_gradient) {
  const std::size_t at = t * op.hidden_size + i;
  fetch_from_l2(op.hidden_state + at);
  fetch_from_l2(op.output_gradient + at);
  const Pair h = load(op.hidden_state + at, where);
  const Pair dx = load(op.output_gradient + at, where);
  const Pair scaled = Pair{broadcast(norm.gain_scale), broadcast(norm.gain_scale)} * dx;
  fetch_ahead(op.gradient + at, policy);
  const Pair behind = load(op.gradient + at, where);
  const Pair of_norm = multiply_add(scaled, load_for<T>(op.norm.gain + i, where),
                                    multiply_add(broadcast(norm.row_scale), h, behind));
  store_update(policy, op.gradient + at, of_norm, where);
  store_raw(gain_gradient + i, multiply_add(scaled, h, load_raw(gain_gradient + i)));
}

/// Row t is taken in while row t - 1 is left, so that memory is read and written all the time.
template <class T>
void add_norm_backward(const ResidualAddRmsNormBackward<T>& op, TokenRange tokens, float* sums) {
  thread_local Buffer<float> buffer;
  const std::size_t d = op.hidden_size;
  float* gain_gradient = buffer.at_least(padded(d));
  clear(gain_gradient, d);
  const StorePolicy policy = update_policy<T>(op.num_tokens * d * sizeof(T));
  NormBackward norm;  // of row t - 1
  for (std::size_t t = tokens.begin; t <= tokens.end; ++t) {
    NormSums row{zeros(), zeros()};
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      if (t > tokens.begin) leave(op, t - 1, i, where, policy, norm, gain_gradient);
      if (t < tokens.end) take_in(op, t, i, where, policy, row);
    });
    norm = norm_backward(sum(row.squares), sum(row.along), d, op.norm.eps);
  }
  copy_in_order<T>(gain_gradient, d, sums);
  hwy::FlushStream();
}

}  // namespace

KernelsByType<AddNormBackwardKernel> add_norm_backward_kernels() {
  return {add_norm_backward<float>, add_norm_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(add_norm_backward_kernels);

template <class T>
void run(const ResidualAddRmsNormBackward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(add_norm_backward_kernels)().of<T>();
  const std::size_t d = op.hidden_size;
  for_each_slice(op.slices, op.num_tokens, d, 4 * d * sizeof(T),
                 [&](TokenRange tokens, float* sums) { kernel(op, tokens, sums); });
  add_slices(op.slices, d, {op.gain_gradient, 0, d});
}

template void run(const ResidualAddRmsNormBackward<float>&);
template void run(const ResidualAddRmsNormBackward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
