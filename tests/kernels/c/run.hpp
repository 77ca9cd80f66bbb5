// Runs every operation through the C interface, chosen by the type of its arguments.
#pragma once

#include <type_traits>
#include <vector>

#include "kernels/c/depthcost_family.h"
#include "kernels/c/depthcost_unfused.h"
#include "kernels/operations/bf16.hpp"
#include "kernels/operations/operations.hpp"

namespace depthcost::test {

inline constexpr depthcost_target kCpu{.backend = DEPTHCOST_CPU};

template <class T>
constexpr depthcost_dtype dtype_of() {
  return std::is_same_v<T, float> ? DEPTHCOST_F32 : DEPTHCOST_BF16;
}

inline depthcost_norm in_c(const NextNorm& norm) { return {norm.gain, norm.eps}; }

inline depthcost_sinkhorn_order in_c(SinkhornOrder order) {
  return order == SinkhornOrder::col_row ? DEPTHCOST_COL_ROW : DEPTHCOST_ROW_COL;
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
depthcost_mhc_post_args in_c(const MhcPost<T>& op) {
  return {.dtype = dtype_of<T>(),
          .num_tokens = op.num_tokens,
          .hidden_size = op.hidden_size,
          .num_streams = op.num_streams,
          .streams = op.streams,
          .layer_output = op.layer_output,
          .post = op.post,
          .residual = op.residual,
          .next_streams = op.next_streams};
}

template <class T>
depthcost_status run_in_c(const ResidualAdd<T>& op) {
  const depthcost_residual_add_args args{.dtype = dtype_of<T>(),
                                         .num_tokens = op.num_tokens,
                                         .hidden_size = op.hidden_size,
                                         .hidden_state = op.hidden_state,
                                         .layer_output = op.layer_output};
  return depthcost_residual_add(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const ResidualAddRmsNorm<T>& op) {
  const depthcost_residual_add_rmsnorm_args args{.dtype = dtype_of<T>(),
                                                 .num_tokens = op.num_tokens,
                                                 .hidden_size = op.hidden_size,
                                                 .hidden_state = op.hidden_state,
                                                 .layer_output = op.layer_output,
                                                 .norm = in_c(op.norm),
                                                 .output = op.output};
  return depthcost_residual_add_rmsnorm(&kCpu, &args);
}
template <class T>
depthcost_attnres_single_pass_args in_c(const AttnResSinglePass<T>& op) {
  return {.dtype = dtype_of<T>(),
          .store = in_c(op.store),
          .num_tokens = op.num_tokens,
          .hidden_size = op.hidden_size,
          .num_bank_rows = op.num_bank_rows,
          .num_bank_sources = op.num_bank_sources,
          .bank_row = op.bank_row,
          .bank = op.bank,
          .partial_sum = op.partial_sum,
          .layer_output = op.layer_output,
          .query = op.query,
          .key_eps = op.key_eps,
          .norm = in_c(op.norm),
          .output = op.output};
}
/// An ablation has a function of its own.
template <class T>
depthcost_status run_in_c(const AttnResSinglePass<T>& op) {
  const depthcost_attnres_single_pass_args args = in_c(op);
  if (op.variant.is_plain()) return depthcost_attnres_single_pass(&kCpu, &args);
  const bool is_softmax = op.variant.weighting == DepthWeighting::softmax;
  const depthcost_attnres_variant_args variant{
      .single_pass = args,
      .weighting = is_softmax ? DEPTHCOST_SOFTMAX : DEPTHCOST_SIGMOID,
      .key_norm = static_cast<depthcost_key_norm>(op.variant.key_norm),
      .num_heads = op.variant.num_heads,
      .first_recent_row = op.variant.first_recent_row,
      .token_queries = op.variant.token_queries};
  return depthcost_attnres_variant(&kCpu, &variant);
}
template <class T, class O>
depthcost_status run_in_c(const AttnResPhase1<T, O>& op) {
  const depthcost_attnres_phase1_args args{.dtype = dtype_of<T>(),
                                           .phase1_dtype = dtype_of<O>(),
                                           .num_tokens = op.num_tokens,
                                           .hidden_size = op.hidden_size,
                                           .num_bank_rows = op.num_bank_rows,
                                           .num_bank_sources = op.num_bank_sources,
                                           .num_queries = op.num_queries,
                                           .bank_row = op.bank_row,
                                           .bank = op.bank,
                                           .partial_sum = op.partial_sum,
                                           .layer_output = op.layer_output,
                                           .queries = op.queries,
                                           .key_eps = op.key_eps,
                                           .norm = in_c(op.norm),
                                           .output = op.output,
                                           .outputs = op.outputs,
                                           .maxima = op.maxima,
                                           .sums = op.sums};
  return depthcost_attnres_phase1(&kCpu, &args);
}
template <class T, class O>
depthcost_status run_in_c(const AttnResPhase2<T, O>& op) {
  const depthcost_attnres_phase2_args args{.dtype = dtype_of<T>(),
                                           .phase1_dtype = dtype_of<O>(),
                                           .num_tokens = op.num_tokens,
                                           .hidden_size = op.hidden_size,
                                           .num_further_sources = op.num_further_sources,
                                           .further_sources = op.further_sources,
                                           .partial_sum = op.partial_sum,
                                           .layer_output = op.layer_output,
                                           .phase1_output = op.phase1_output,
                                           .maximum = op.maximum,
                                           .sum = op.sum,
                                           .query = op.query,
                                           .key_eps = op.key_eps,
                                           .norm = in_c(op.norm),
                                           .output = op.output};
  return depthcost_attnres_phase2(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const MhcPre<T>& op) {
  const depthcost_mhc_pre_args args{.dtype = dtype_of<T>(),
                                    .num_tokens = op.num_tokens,
                                    .hidden_size = op.hidden_size,
                                    .num_streams = op.num_streams,
                                    .streams = op.streams,
                                    .mapping = in_c(op.mapping),
                                    .norm = in_c(op.norm),
                                    .output = op.output,
                                    .post = op.post,
                                    .residual = op.residual};
  return depthcost_mhc_pre(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const MhcPost<T>& op) {
  const depthcost_mhc_post_args args = in_c(op);
  return depthcost_mhc_post(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const MhcBoundary<T>& op) {
  const depthcost_mhc_boundary_args args{.post = in_c(op.post),
                                         .mapping = in_c(op.mapping),
                                         .norm = in_c(op.norm),
                                         .output = op.output,
                                         .next_post = op.next_post,
                                         .next_residual = op.next_residual};
  return depthcost_mhc_boundary(&kCpu, &args);
}
template <class P>
depthcost_status run_in_c(const BasicSinkhorn<P>& op) {
  const depthcost_sinkhorn_args args{.count = op.count,
                                     .num_streams = op.num_streams,
                                     .matrices = op.matrices,
                                     .iterations = op.iterations,
                                     .order = in_c(op.order)};
  return depthcost_sinkhorn(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedRmsNorm<T>& op) {
  const depthcost_unfused_rmsnorm_args args{.dtype = dtype_of<T>(),
                                            .num_tokens = op.num_tokens,
                                            .hidden_size = op.hidden_size,
                                            .input = op.input,
                                            .norm = in_c(op.norm),
                                            .output = op.output};
  return depthcost_unfused_rmsnorm(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedStack<T>& op) {
  const std::vector<const void*> sources(op.sources, op.sources + op.num_sources);
  const depthcost_unfused_stack_args args{.dtype = dtype_of<T>(),
                                          .num_tokens = op.num_tokens,
                                          .hidden_size = op.hidden_size,
                                          .num_sources = op.num_sources,
                                          .sources = sources.data(),
                                          .stack = op.stack};
  return depthcost_unfused_stack(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedKeyNorm<T>& op) {
  const depthcost_unfused_key_norm_args args{.dtype = dtype_of<T>(),
                                             .num_tokens = op.num_tokens,
                                             .hidden_size = op.hidden_size,
                                             .num_sources = op.num_sources,
                                             .stack = op.stack,
                                             .key_eps = op.key_eps,
                                             .keys = op.keys};
  return depthcost_unfused_key_norm(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedScores<T>& op) {
  const depthcost_unfused_scores_args args{.dtype = dtype_of<T>(),
                                           .num_tokens = op.num_tokens,
                                           .hidden_size = op.hidden_size,
                                           .num_sources = op.num_sources,
                                           .keys = op.keys,
                                           .query = op.query,
                                           .logits = op.logits};
  return depthcost_unfused_scores(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedMix<T>& op) {
  const depthcost_unfused_mix_args args{.dtype = dtype_of<T>(),
                                        .num_tokens = op.num_tokens,
                                        .hidden_size = op.hidden_size,
                                        .num_sources = op.num_sources,
                                        .stack = op.stack,
                                        .logits = op.logits,
                                        .output = op.output};
  return depthcost_unfused_mix(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedMhcCoefficients<T>& op) {
  const depthcost_unfused_mhc_coefficients_args args{.dtype = dtype_of<T>(),
                                                     .num_tokens = op.num_tokens,
                                                     .hidden_size = op.hidden_size,
                                                     .num_streams = op.num_streams,
                                                     .streams = op.streams,
                                                     .mapping = in_c(op.mapping),
                                                     .pre = op.pre,
                                                     .post = op.post,
                                                     .residual = op.residual};
  return depthcost_unfused_mhc_coefficients(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedMhcPre<T>& op) {
  const depthcost_unfused_mhc_pre_args args{.dtype = dtype_of<T>(),
                                            .num_tokens = op.num_tokens,
                                            .hidden_size = op.hidden_size,
                                            .num_streams = op.num_streams,
                                            .streams = op.streams,
                                            .pre = op.pre,
                                            .output = op.output};
  return depthcost_unfused_mhc_pre(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedMhcPost<T>& op) {
  const depthcost_unfused_mhc_post_args args{.dtype = dtype_of<T>(),
                                             .num_tokens = op.num_tokens,
                                             .hidden_size = op.hidden_size,
                                             .num_streams = op.num_streams,
                                             .layer_output = op.layer_output,
                                             .post = op.post,
                                             .spread = op.spread};
  return depthcost_unfused_mhc_post(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedMhcResidual<T>& op) {
  const depthcost_unfused_mhc_residual_args args{.dtype = dtype_of<T>(),
                                                 .num_tokens = op.num_tokens,
                                                 .hidden_size = op.hidden_size,
                                                 .num_streams = op.num_streams,
                                                 .streams = op.streams,
                                                 .residual = op.residual,
                                                 .mixed = op.mixed};
  return depthcost_unfused_mhc_residual(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const UnfusedMhcMerge<T>& op) {
  const depthcost_unfused_mhc_merge_args args{.dtype = dtype_of<T>(),
                                              .num_tokens = op.num_tokens,
                                              .hidden_size = op.hidden_size,
                                              .num_streams = op.num_streams,
                                              .mixed = op.mixed,
                                              .spread = op.spread,
                                              .next_streams = op.next_streams};
  return depthcost_unfused_mhc_merge(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const ScaledAddRmsNorm<T>& op) {
  const depthcost_scaled_add_rmsnorm_args args{.dtype = dtype_of<T>(),
                                               .num_tokens = op.num_tokens,
                                               .hidden_size = op.hidden_size,
                                               .hidden_state = op.hidden_state,
                                               .layer_output = op.layer_output,
                                               .num_scales = op.num_scales,
                                               .scales = op.scales,
                                               .hidden_scale = op.hidden_scale,
                                               .norm = in_c(op.norm),
                                               .output = op.output};
  return depthcost_scaled_add_rmsnorm(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const HighwayRmsNorm<T>& op) {
  const depthcost_highway_rmsnorm_args args{.dtype = dtype_of<T>(),
                                            .num_tokens = op.num_tokens,
                                            .hidden_size = op.hidden_size,
                                            .hidden_state = op.hidden_state,
                                            .layer_output = op.layer_output,
                                            .gate_logits = op.gate_logits,
                                            .norm = in_c(op.norm),
                                            .output = op.output};
  return depthcost_highway_rmsnorm(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const HcBoundary<T>& op) {
  const depthcost_hc_boundary_args args{.dtype = dtype_of<T>(),
                                        .num_tokens = op.num_tokens,
                                        .hidden_size = op.hidden_size,
                                        .num_streams = op.num_streams,
                                        .streams = op.streams,
                                        .layer_output = op.layer_output,
                                        .residual = op.residual,
                                        .post = op.post,
                                        .pre = op.pre,
                                        .norm = in_c(op.norm),
                                        .next_streams = op.next_streams,
                                        .output = op.output};
  return depthcost_hc_boundary(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const SinglePassMhc<T>& op) {
  const depthcost_single_pass_mhc_args args{.dtype = dtype_of<T>(),
                                            .num_tokens = op.num_tokens,
                                            .hidden_size = op.hidden_size,
                                            .num_streams = op.num_streams,
                                            .streams = op.streams,
                                            .layer_output = op.layer_output,
                                            .pre = op.pre,
                                            .post = op.post,
                                            .residual = op.residual,
                                            .mapping = in_c(op.mapping),
                                            .norm = in_c(op.norm),
                                            .next_streams = op.next_streams,
                                            .output = op.output,
                                            .next_pre = op.next_pre,
                                            .next_post = op.next_post,
                                            .next_residual = op.next_residual};
  return depthcost_single_pass_mhc(&kCpu, &args);
}
template <class T>
depthcost_status run_in_c(const DenseMix<T>& op) {
  const depthcost_dense_mix_args args{.dtype = dtype_of<T>(),
                                      .num_tokens = op.num_tokens,
                                      .hidden_size = op.hidden_size,
                                      .num_bank_rows = op.num_bank_rows,
                                      .num_bank_sources = op.num_bank_sources,
                                      .bank_row = op.bank_row,
                                      .bank = op.bank,
                                      .hidden_state = op.hidden_state,
                                      .layer_output = op.layer_output,
                                      .weights = op.weights,
                                      .norm = in_c(op.norm),
                                      .mixed = op.mixed,
                                      .output = op.output};
  return depthcost_dense_mix(&kCpu, &args);
}

}  // namespace depthcost::test
