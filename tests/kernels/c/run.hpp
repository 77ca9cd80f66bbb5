// Runs every operation through the C interface, chosen by the type of its arguments.
#pragma once

#include <type_traits>

#include "kernels/c/depthcost_family.h"
#include "kernels/c/depthcost_unfused.h"
#include "kernels/c/members.hpp"
#include "kernels/operations/backward/operations.hpp"
#include "kernels/operations/bf16.hpp"
#include "kernels/operations/operations.hpp"

namespace depthcost::test {

inline constexpr depthcost_target kCpu{.backend = DEPTHCOST_CPU};

template <class T>
constexpr depthcost_dtype dtype_of() {
  return std::is_same_v<T, float> ? DEPTHCOST_F32 : DEPTHCOST_BF16;
}

/// Addresses are addresses.
template <class T>
const void* const* in_c(const T* const* sources) {
  return reinterpret_cast<const void* const*>(sources);
}

inline depthcost_norm in_c(const NextNorm& norm) { return {norm.gain, norm.eps}; }

inline depthcost_altup_router in_c(const BasicAltupRouter<float>& router) {
  return {router.matrix, in_c(router.norm)};
}

inline depthcost_token_slices in_c(const TokenSlices& slices) {
  return {slices.count, slices.sums};
}

inline depthcost_mhc_mapping_gradients in_c(const MhcMappingGradients<float>& into) {
  return {into.phi, into.bias, into.scales};
}

inline depthcost_gradient_store in_c(GradientStore store) {
  return store == GradientStore::add ? DEPTHCOST_GRADIENT_ADD : DEPTHCOST_GRADIENT_OVERWRITE;
}

inline depthcost_sinkhorn_order in_c(SinkhornOrder order) {
  return order == SinkhornOrder::col_row ? DEPTHCOST_COL_ROW : DEPTHCOST_ROW_COL;
}

inline depthcost_gate_function in_c(GateFunction function) {
  if (function == GateFunction::silu) return DEPTHCOST_GATE_SILU;
  return function == GateFunction::sigmoid ? DEPTHCOST_GATE_SIGMOID : DEPTHCOST_GATE_TWICE_SIGMOID;
}

inline depthcost_sum_store in_c(SumStore store) {
  if (store == SumStore::partial_sum) return DEPTHCOST_STORE_PARTIAL_SUM;
  return store == SumStore::bank_row ? DEPTHCOST_STORE_BANK_ROW : DEPTHCOST_STORE_NOWHERE;
}

inline depthcost_mhc_mapping in_c(const MhcMapping& mapping) {
  return {.phi = mapping.phi,
          .bias = mapping.bias,
          .scales = {mapping.scales[0], mapping.scales[1], mapping.scales[2]},
          .eps = mapping.eps,
          .iterations = mapping.iterations,
          .order = in_c(mapping.order)};
}

template <class T>
depthcost_mhc_post_args in_c(const MhcPost<T>& op);
template <class T>
depthcost_mhc_post_backward_args in_c(const MhcPostBackward<T>& op);

/// The struct whose members hold what those of the operation do.
template <class Args, class Op>
Args members_in_c(const Op& op) {
  Args args{};
#define DEPTHCOST_COPY_MEMBER(member)                             \
  if constexpr (requires { args.member = op.member; })            \
    args.member = op.member;                                      \
  else if constexpr (requires { args.member = in_c(op.member); }) \
    args.member = in_c(op.member);
  DEPTHCOST_MEMBERS(DEPTHCOST_COPY_MEMBER)
#undef DEPTHCOST_COPY_MEMBER
  return args;
}

template <class Args, class Op>
Args in_c_with(depthcost_dtype dtype, const Op& op) {
  auto args = members_in_c<Args>(op);
  if constexpr (requires { args.dtype; }) args.dtype = dtype;
  return args;
}

template <class T>
depthcost_mhc_post_args in_c(const MhcPost<T>& op) {
  return in_c_with<depthcost_mhc_post_args>(dtype_of<T>(), op);
}
template <class T>
depthcost_mhc_post_backward_args in_c(const MhcPostBackward<T>& op) {
  return in_c_with<depthcost_mhc_post_backward_args>(dtype_of<T>(), op);
}

/// An ablation has a function of its own.
template <class T>
depthcost_status run_ablation_in_c(const AttnResSinglePass<T>& op,
                                   const depthcost_attnres_single_pass_args& single_pass) {
  const bool is_softmax = op.variant.weighting == DepthWeighting::softmax;
  const depthcost_attnres_variant_args variant{
      .single_pass = single_pass,
      .weighting = is_softmax ? DEPTHCOST_SOFTMAX : DEPTHCOST_SIGMOID,
      .key_norm = static_cast<depthcost_key_norm>(op.variant.key_norm),
      .num_heads = op.variant.num_heads,
      .first_recent_row = op.variant.first_recent_row,
      .token_queries = op.variant.token_queries};
  return depthcost_attnres_variant(&kCpu, &variant);
}

#define DEPTHCOST_RUN_IN_C(Op, name)                                         \
  template <class T>                                                         \
  depthcost_status run_in_c(const Op<T>& op) {                               \
    const auto args = in_c_with<depthcost_##name##_args>(dtype_of<T>(), op); \
    if constexpr (requires { op.variant; })                                  \
      if (!op.variant.is_plain()) return run_ablation_in_c(op, args);        \
    return depthcost_##name(&kCpu, &args);                                   \
  }
DEPTHCOST_OPERATIONS(DEPTHCOST_RUN_IN_C)
DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_RUN_IN_C)
#undef DEPTHCOST_RUN_IN_C

#define DEPTHCOST_RUN_IN_C(Op, name)                                   \
  template <class T, class O>                                          \
  depthcost_status run_in_c(const Op<T, O>& op) {                      \
    auto args = in_c_with<depthcost_##name##_args>(dtype_of<T>(), op); \
    args.phase1_dtype = dtype_of<O>();                                 \
    return depthcost_##name(&kCpu, &args);                             \
  }
DEPTHCOST_PHASE_OPERATIONS(DEPTHCOST_RUN_IN_C)
#undef DEPTHCOST_RUN_IN_C

inline depthcost_status run_in_c(const Sinkhorn& op) {
  const auto args = members_in_c<depthcost_sinkhorn_args>(op);
  return depthcost_sinkhorn(&kCpu, &args);
}

}  // namespace depthcost::test
