// attnres_single_pass and attnres_phase2: arguments, and the choice of a variant.
#include "kernels/cuda/attnres/attnres_heads.cuh"
#include "kernels/cuda/attnres/depth_attention.cuh"

namespace depthcost::cuda {
namespace {

template <class T>
T* stored_sum(const AttnResSinglePass<T>& op) {
  if (op.layer_output == nullptr || op.store == SumStore::nowhere) return nullptr;
  if (op.store == SumStore::partial_sum) return op.partial_sum;
  return op.bank + op.bank_row * op.num_tokens * op.hidden_size;
}

template <class T>
DepthAttention<T, T> attention_of(const AttnResSinglePass<T>& op) {
  const std::size_t num_skipped = op.variant.first_recent_row - 1;
  return {.num_tokens = op.num_tokens,
          .hidden_size = op.hidden_size,
          .row_stride = op.num_tokens * op.hidden_size,
          .num_rows = op.num_bank_sources - num_skipped,
          .num_skipped_rows = num_skipped,
          .rows = op.bank,
          .partial_sum = op.partial_sum,
          .layer_output = op.layer_output,
          .stored_sum = stored_sum(op),
          .query = op.query,
          .key_eps = op.key_eps,
          .norm = op.norm,
          .output = op.output};
}

template <class T, class O>
DepthAttention<T, O> attention_of(const AttnResPhase2<T, O>& op) {
  return {.num_tokens = op.num_tokens,
          .hidden_size = op.hidden_size,
          .row_stride = op.num_tokens * op.hidden_size,
          .num_rows = op.num_further_sources,
          .rows = op.further_sources,
          .partial_sum = op.partial_sum,
          .layer_output = op.layer_output,
          .stored_sum = op.layer_output == nullptr ? nullptr : op.partial_sum,
          .query = op.query,
          .key_eps = op.key_eps,
          .phase1_output = op.phase1_output,
          .maximum = op.maximum,
          .sum = op.sum,
          .norm = op.norm,
          .output = op.output};
}

/// Vectors of a row; 0 where 16-byte accesses would not be aligned.
template <class T, class O>
std::size_t usable_vectors(const DepthAttention<T, O>& op) {
  const bool aligned = aligned_to_vectors(op.rows, op.partial_sum, op.layer_output, op.stored_sum,
                                          op.query, op.phase1_output, op.norm.gain, op.output);
  return aligned ? vectors_per_row<T>(op.hidden_size) : 0;
}

/// Runs a variant that differs from the paper in more than its window.
template <class T>
void attend_by_head(const AttnResSinglePass<T>& op, const LaunchOptions& options) {
  const depthcost::AttentionVariant<T>& variant = op.variant;
  const HeadAttention<T> heads{.attention = attention_of(op),
                               .weighting = variant.weighting,
                               .key_norm = variant.key_norm,
                               .num_heads = variant.num_heads,
                               .token_queries = variant.token_queries};
  const bool aligned = aligned_to_vectors(variant.token_queries);
  const HeadsPlan plan = heads_plan(planned_tokens(op.num_tokens, options),
                                    aligned ? usable_vectors(heads.attention) : 0,
                                    variant.num_heads, variant.num_key_parts(), device_limits());
  if (plan.attention.kernel == AttentionKernel::scalar) return launch_heads_scalar(heads, options);
  launch_split_heads(heads, plan, options);
}

}  // namespace

template <class T>
void run(const AttnResSinglePass<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  if (!op.variant.is_plain()) return attend_by_head(op, options);
  const DepthAttention<T, T> attention = attention_of(op);
  const DeviceLimits device = device_limits();
  const AttentionPlan plan =
      single_pass_plan(planned_tokens(op.num_tokens, options), usable_vectors(attention), device);
  switch (plan.kernel) {
    case AttentionKernel::scalar:
      return launch_scalar(attention, options);
    case AttentionKernel::split_row:
    case AttentionKernel::split_heads:
      return launch_split_row(attention, plan, options);
    case AttentionKernel::row_ring:
      return launch_row_ring(attention, plan, device, options);
  }
}

template <class T, class O>
void run(const AttnResPhase2<T, O>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const DepthAttention<T, O> attention = attention_of(op);
  const AttentionPlan plan =
      phase2_plan(planned_tokens(op.num_tokens, options), usable_vectors(attention),
                  op.num_further_sources, device_limits());
  if (plan.kernel == AttentionKernel::scalar) return launch_scalar(attention, options);
  launch_split_row(attention, plan, options);
}

template void run(const AttnResSinglePass<float>&, const LaunchOptions&);
template void run(const AttnResSinglePass<Bf16>&, const LaunchOptions&);
template void run(const AttnResPhase2<float, float>&, const LaunchOptions&);
template void run(const AttnResPhase2<Bf16, Bf16>&, const LaunchOptions&);
template void run(const AttnResPhase2<Bf16, float>&, const LaunchOptions&);

}  // namespace depthcost::cuda
