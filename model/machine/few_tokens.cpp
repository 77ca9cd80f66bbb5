// Constants, with where they come from, and each operation's counts.
#include "model/machine/few_tokens.hpp"

namespace depthcost {
namespace {

// Fitted on 698 mHC kernels (m = 4, 20 Sinkhorn iterations) of H100, H200, B200, B300 and GB300,
// the fastest of vLLM 0.24.0, SGLang 0.5.14 and TensorRT-LLM 1.3.0rc20 in each case
// (ai-dynamo/aiconfigurator 0.12.0), by least |log error|. Twenty iterations are in every row, so
// that one constant holds them and the reductions. The draw also predicts AttnRes on an H100
// (flagos-ai/FlagGems-vllm PR 737) within 15 %.
constexpr Estimate<BytesPerSecond> kLoopDraw{{30e9}, {37e9}, {46e9}, Evidence::published};
constexpr Estimate<Seconds> kCoefficientStep{{0.6e-6}, {1.0e-6}, {1.5e-6}, Evidence::published};
constexpr Estimate<Seconds> kSinkhornStep{{3.4e-6}, {4.4e-6}, {6.0e-6}, Evidence::published};

// Least squares over calls with 2 to 9 sources in a trace of Kimi K3 on 8 x B300 (decode of one
// sequence, 2026): 1.37, 1.43, 1.55, 1.60, 1.64, 1.81, 1.88, 1.89 us, less a floor of 1.27 us,
// which is what a B300 gets here (an H200's, scenarios/hardware/h200_sxm.yaml). Each call alone
// would give 186 to 287 GB/s. A floor fitted with the draw would be 1.13 us, and the draw 179 GB/s.
constexpr Estimate<BytesPerSecond> kRingDraw{{160e9}, {240e9}, {400e9}, Evidence::published};

// All-reduce, add and RMSNorm in one kernel against a plain all-reduce of the same size, both in a
// graph, two H100: 6.07 and 6.98 us (6 x 6144, flagos-ai/FlagGems-vllm PR 773) against 4.7 us, an
// all-reduce of that size in scenarios/hardware/h100_sxm.yaml, which is another harness. The value
// is the smaller difference, the high end also holds the larger one. On a GB200 the all-reduce with
// AttnRes inside takes 0.8 to 2.6 us on top of the hop, its row reads included. Where kernels are
// launched ahead it takes 0.70 of that, as their floors do: model/step/engine_kernels.hpp.
constexpr Estimate<Seconds> kFoldedCall{{0.7e-6}, {1.4e-6}, {2.6e-6}, Evidence::published};
constexpr Estimate<Seconds> kFoldedCallAhead{{0.5e-6}, {1.0e-6}, {1.8e-6}, Evidence::assumed};

// Nine of ten of the same 698 kernels lie inside the interval that this completes.
constexpr Estimate<double> kKernelScatter{0.94, 1, 1.08, Evidence::published};

// [ours] On other architectures: the kernels may load as the best do, and 116 of the 132 mHC
// kernels measured on an L40S lie inside.
constexpr Estimate<BytesPerSecond> kBorrowedDraw{{8e9}, {37e9}, {400e9}, Evidence::assumed};
constexpr Estimate<Seconds> kBorrowedSinkhorn{{3.4e-6}, {4.4e-6}, {25e-6}, Evidence::assumed};
constexpr Estimate<double> kBorrowedScatter{0.6, 1, 4, Evidence::assumed};

void borrow(FewTokens& constants) {
  constants.loop_draw = kBorrowedDraw;
  constants.sinkhorn_step = kBorrowedSinkhorn;
  constants.ring_draw.low = kBorrowedDraw.low;
  constants.kernel_scatter = kBorrowedScatter;
  constants.ring_draw.evidence = constants.coefficient_step.evidence =
      constants.folded_call.evidence = Evidence::assumed;
}

/// hc_dynamic, mhc_lite, kromhc: they project the streams as mhc_pre does and use the coefficients
/// in a second kernel. They have no Sinkhorn iterations.
bool projects_streams(const Operation& operation) {
  return operation.unit == ExecutionUnit::tensor_cores &&
         (operation.id == OperationId::row_update || operation.streams > 1);
}

}  // namespace

TokenWork token_work(const Operation& operation, const KernelStyle& style) {
  switch (operation.id) {
    case OperationId::attnres_single_pass:
    case OperationId::attnres_phase1:
    case OperationId::attnres_phase2:
    case OperationId::dense_mix:
      return {.loads = style.attnres_loads};
    case OperationId::mhc_pre:
      return {.launches = 2, .loads = RowLoads::loop, .sinkhorn_steps = 1};
    case OperationId::unfused_mhc_coefficients:
      // The product is one kernel, the Sinkhorn iterations are a second one.
      return {.launches = 2, .loads = RowLoads::loop, .sinkhorn_steps = 1};
    case OperationId::unfused_mhc_pre:
    case OperationId::unfused_mhc_post:
    case OperationId::unfused_mhc_residual:
      return {.loads = RowLoads::loop, .coefficient_steps = 1};
    case OperationId::mhc_post:
    case OperationId::hc_boundary:
      return {.loads = RowLoads::loop, .coefficient_steps = 1};
    case OperationId::mhc_boundary:
    case OperationId::single_pass_mhc:
      return {.loads = RowLoads::loop, .coefficient_steps = 1, .sinkhorn_steps = 1};
    case OperationId::row_update:
    case OperationId::unfused_projection:
      if (projects_streams(operation))
        return {.launches = 2, .loads = RowLoads::loop, .coefficient_steps = 1};
      return {};
    case OperationId::residual_add:
    case OperationId::residual_add_rmsnorm:
    case OperationId::unfused_rmsnorm:
    case OperationId::unfused_stack:
    case OperationId::unfused_key_norm:
    case OperationId::unfused_scores:
    case OperationId::unfused_mix:
    case OperationId::unfused_mhc_merge:
    case OperationId::scaled_add_rmsnorm:
    case OperationId::highway_rmsnorm:
    case OperationId::unfused_elementwise:
      return {};
  }
  return {};
}

FewTokens few_tokens(Count num_multiprocessors, const KernelStyle& style) {
  FewTokens constants{
      .num_multiprocessors = num_multiprocessors,
      .style = style,
      .loop_draw = kLoopDraw,
      .ring_draw = kRingDraw,
      .coefficient_step = kCoefficientStep,
      .sinkhorn_step = kSinkhornStep,
      .folded_call = style.prefetch == Prefetch::before_start ? kFoldedCallAhead : kFoldedCall,
      .kernel_scatter = kKernelScatter};
  if (style.constants == Evidence::assumed) borrow(constants);
  return constants;
}

double ctas_per_token(RowLoads loads) { return loads == RowLoads::loop ? 1 : 2; }

}  // namespace depthcost
