// Backward of Phase 2 of AttnRes: of the partial sum, and of the norm behind the mix.
#include "kernels/cpu/backward/attnres_gradients.hpp"
#include "kernels/cpu/primitives/slices.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/backward/attnres_phase2.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/backward/norm_backward.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_BACKWARD_ATTNRES_PHASE2
#define DEPTHCOST_KERNELS_CPU_BACKWARD_ATTNRES_PHASE2
namespace depthcost::cpu {

template <class T>
using Phase2BackwardKernel = void (*)(const AttnResPhase2Backward<T>&, TokenRange, float* sums);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

/// Sums over a token's row, with u = g o dx, or dx without a norm.
struct RowSums {
  Pair w_b;
  Pair b_b;
  Pair h_h;
  Pair u_h;
  Pair u_b;
  Pair h_b;
};

/// What the second pass over a row needs.
struct RowGradient {
  NormBackward norm;
  SourceGradient source;
};

/// u of a block.
template <class T, class Where>
HWY_INLINE Pair gained(const AttnResPhase2Backward<T>& op, std::size_t i, Pair dx, Where where) {
  return op.norm.gain == nullptr ? dx : load_for<T>(op.norm.gain + i, where) * dx;
}

template <class T, class Where>
HWY_INLINE void take_in(const AttnResPhase2Backward<T>& op, std::size_t t, std::size_t i,
                        Where where, RowSums& sums) {
  const std::size_t at = t * op.hidden_size + i;
  fetch_ahead(op.partial_sum + at);
  fetch_ahead(op.mix + at);
  fetch_ahead(op.mix_gradient + at);
  const Pair b = load(op.partial_sum + at, where);
  const Pair h = load(op.mix + at, where);
  const Pair u = gained(op, i, load(op.mix_gradient + at, where), where);
  sums.w_b = multiply_add(load_for<T>(op.query + i, where), b, sums.w_b);
  sums.b_b = multiply_add(b, b, sums.b_b);
  sums.h_h = multiply_add(h, h, sums.h_h);
  sums.u_h = multiply_add(u, h, sums.u_h);
  sums.u_b = multiply_add(u, b, sums.u_b);
  sums.h_b = multiply_add(h, b, sums.h_b);
}

/// dh = gain_scale u + row_scale h makes dh . b and dh . h of the sums.
template <class T>
HWY_INLINE RowGradient gradient_of(const AttnResPhase2Backward<T>& op, std::size_t t,
                                   const RowSums& sums) {
  const std::size_t d = op.hidden_size;
  const Score score{sum(sums.w_b), sum(sums.b_b)};
  const double h_h = static_cast<double>(sum(sums.h_h));
  const double u_h = static_cast<double>(sum(sums.u_h));
  RowGradient row;
  if (op.norm.gain != nullptr)
    row.norm = norm_backward(static_cast<float>(h_h), static_cast<float>(u_h), d, op.norm.eps);
  const double of_u = static_cast<double>(row.norm.gain_scale);
  const double of_h = static_cast<double>(row.norm.row_scale);
  const double dh_h = of_u * u_h + of_h * h_h;
  const double dh_b =
      of_u * static_cast<double>(sum(sums.u_b)) + of_h * static_cast<double>(sum(sums.h_b));
  const float weight = std::exp(logit(score, d, op.key_eps) - op.log_sum[t]);
  op.product[t] = static_cast<float>(dh_h);
  row.source = source_gradient(score, d, op.key_eps, weight, dh_b - dh_h);
  return row;
}

template <class T, class Where>
HWY_INLINE void leave(const AttnResPhase2Backward<T>& op, std::size_t t, std::size_t i, Where where,
                      StorePolicy policy, const RowGradient& row, float* query_gradient,
                      float* gain_gradient) {
  const std::size_t at = t * op.hidden_size + i;
  fetch_ahead(op.partial_gradient + at);
  const Pair b = load(op.partial_sum + at, where);
  Pair dh = load(op.mix_gradient + at, where);
  if (op.norm.gain != nullptr) {
    const Pair h = load(op.mix + at, where);
    add_raw(gain_gradient + i,
            Pair{broadcast(row.norm.gain_scale), broadcast(row.norm.gain_scale)} * dh * h);
    dh = norm_gradient(row.norm, gained(op, i, dh, where), h);
    store_update(policy, op.mix_gradient + at, dh, where);
  }
  const SourceGradient& of = row.source;
  Pair db = multiply_add(broadcast(of.of_mix), dh, load(op.partial_gradient + at, where));
  db = multiply_add(broadcast(of.of_query), load_for<T>(op.query + i, where), db);
  db = multiply_add(broadcast(of.of_source), b, db);
  store_update(policy, op.partial_gradient + at, db, where);
  store_raw(query_gradient + i,
            multiply_add(broadcast(of.of_query), b, load_raw(query_gradient + i)));
}

struct Phase2Workspace {
  Buffer<float> query_gradient;
  Buffer<float> gain_gradient;
};

/// Row t is taken in while row t - 1 is left, so that memory is read and written all the time.
template <class T>
void phase2_backward(const AttnResPhase2Backward<T>& op, TokenRange tokens, float* sums) {
  thread_local Phase2Workspace workspace;
  const std::size_t d = op.hidden_size;
  float* query_gradient = workspace.query_gradient.at_least(padded(d));
  float* gain_gradient = workspace.gain_gradient.at_least(padded(d));
  clear(query_gradient, d);
  clear(gain_gradient, d);
  const StorePolicy policy = update_policy<T>(op.num_tokens * d * sizeof(T));
  RowGradient row;  // of row t - 1
  for (std::size_t t = tokens.begin; t <= tokens.end; ++t) {
    RowSums next{zeros(), zeros(), zeros(), zeros(), zeros(), zeros()};
    for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
      if (t > tokens.begin) leave(op, t - 1, i, where, policy, row, query_gradient, gain_gradient);
      if (t < tokens.end) take_in(op, t, i, where, next);
    });
    if (t < tokens.end) row = gradient_of(op, t, next);
  }
  copy_in_order<T>(query_gradient, d, sums);
  if (op.norm.gain != nullptr) copy_in_order<T>(gain_gradient, d, sums + d);
  hwy::FlushStream();
}

}  // namespace

KernelsByType<Phase2BackwardKernel> phase2_backward_kernels() {
  return {phase2_backward<float>, phase2_backward<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(phase2_backward_kernels);

template <class T>
void run(const AttnResPhase2Backward<T>& op) {
  check(op);
  const auto kernel = HWY_DYNAMIC_DISPATCH(phase2_backward_kernels)().of<T>();
  const std::size_t d = op.hidden_size;
  const std::size_t num_parameters = depthcost::num_parameters(op);
  for_each_slice(op.slices, op.num_tokens, num_parameters, 6 * d * sizeof(T),
                 [&](TokenRange tokens, float* sums) { kernel(op, tokens, sums); });
  add_slices(op.slices, num_parameters, {op.query_gradient, 0, d});
  if (op.norm.gain != nullptr) add_slices(op.slices, num_parameters, {op.gain_gradient, d, d});
}

template void run(const AttnResPhase2Backward<float>&);
template void run(const AttnResPhase2Backward<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
