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
// sequence, 2026): 1.37, 1.43, 1.55, 1.60, 1.64, 1.81, 1.88, 1.89 us, less a floor of 1.27 us.
constexpr Estimate<BytesPerSecond> kRingDraw{{160e9}, {240e9}, {400e9}, Evidence::published};

// All-reduce, add and RMSNorm in one kernel against a plain all-reduce of the same size, both in a
// graph, two H100: 6.07 and 6.98 us (6 x 6144, flagos-ai/FlagGems-vllm PR 773) against 4.7 us.
// With AttnRes inside, 0.8 to 2.6 us more than a plain one (GB200). Where kernels are launched
// ahead it takes 0.70 of that, as their floors do: model/step/engine_kernels.hpp.
constexpr Estimate<Seconds> kFoldedCall{{0.7e-6}, {1.4e-6}, {2.6e-6}, Evidence::published};
constexpr Estimate<Seconds> kFoldedCallAhead{{0.5e-6}, {1.0e-6}, {1.8e-6}, Evidence::assumed};

// Of the same 698 kernels: nine of ten lie inside.
constexpr Estimate<double> kKernelScatter{0.94, 1, 1.08, Evidence::published};

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
      // What mhc_pre does in its first kernel, and a launch for its second.
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
    default:
      return {};
  }
}

FewTokens few_tokens(Count num_multiprocessors, const KernelStyle& style) {
  return {.num_multiprocessors = num_multiprocessors,
          .style = style,
          .loop_draw = kLoopDraw,
          .ring_draw = kRingDraw,
          .coefficient_step = kCoefficientStep,
          .sinkhorn_step = kSinkhornStep,
          .folded_call = style.prefetch == Prefetch::before_start ? kFoldedCallAhead : kFoldedCall,
          .kernel_scatter = kKernelScatter};
}

double ctas_per_token(RowLoads loads) { return loads == RowLoads::loop ? 1 : 2; }

}  // namespace depthcost
