// Constants of one part, and each operation's counts.
#include "model/machine/few_tokens.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "model/machine/scan.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"

namespace depthcost {
namespace {

/// A rate whose time lies in the interval of `error`.
template <class Q>
Estimate<Q> drawn(Q draw, const Estimate<double>& error, Evidence evidence) {
  return {(1 / error.high) * draw, draw, (1 / error.low) * draw, evidence};
}

Estimate<Seconds> stepped(Seconds step, const Estimate<double>& error, Evidence evidence) {
  return {error.low * step, step, error.high * step, evidence};
}

/// A value as it was published, on a part where nobody has measured it.
template <class Q>
Estimate<Q> as(Estimate<Q> published, Evidence evidence) {
  published.evidence = weakest(published.evidence, evidence);
  return published;
}

/// Where no kernel of the architecture was seen, the mean of those that were.
double floor_share_of(const Constants& constants, std::string_view architecture) {
  double sum = 0;
  for (const FittedArchitecture& fitted : constants.architectures) {
    if (fitted.name == architecture) return fitted.floor_share;
    sum += fitted.floor_share;
  }
  return constants.architectures.empty()
             ? 1
             : sum / static_cast<double>(constants.architectures.size());
}

/// hc_dynamic, mhc_lite, kromhc: they project the streams as mhc_pre does. They have no Sinkhorn
/// iterations.
bool projects_streams(const Operation& operation) {
  return operation.unit == ExecutionUnit::tensor_cores &&
         (operation.id == operations::kRowUpdate || operation.streams > 1);
}

/// A fused mix of earlier rows, whatever its weights are.
bool mixes_bank(const Operation& operation) {
  return operation.id == operations::kRowUpdate &&
         std::any_of(operation.accesses.begin(), operation.accesses.end(),
                     [](const Access& access) {
                       return access.operand == Operand::bank && access.reads_d > 0;
                     });
}

bool is_one_of(OperationId id, std::initializer_list<OperationId> ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

TokenWork token_work(const Operation& operation, const KernelStyle& style) {
  using namespace operations;
  if (is_one_of(operation.id, {kAttnresSinglePass, kAttnresPhase1, kAttnresPhase2, kDenseMix}) ||
      mixes_bank(operation))
    return {.loads = style.attnres_loads};
  // A second launch adds up the gradients of parameters.
  if (is_one_of(operation.id, {kAttnresSinglePassBackward, kAttnresPhase1Backward}))
    return {.launches = 2, .loads = style.attnres_loads};
  if (operation.id == kAttnresPhase2Backward || (is_scan(operation) && makes_gradients(operation)))
    return {.launches = 2};
  // And a third one, in front of that, is the product that makes the gradient of phi.
  if (is_one_of(operation.id, {kMhcPreBackward, kMhcBoundaryBackward}))
    return {.launches = 3,
            .loads = RowLoads::loop,
            .coefficient_steps = 1,
            .sinkhorn_steps = 2,
            .projection = style.projection};
  // The product of unfused coefficients is one kernel, the Sinkhorn iterations are a second one.
  if (is_one_of(operation.id, {kMhcPre, kUnfusedMhcCoefficients}))
    return {.launches = operation.id == kMhcPre ? 1.0 : 2,
            .launches_of_split = operation.id == kMhcPre ? 1.0 : 0,
            .loads = RowLoads::loop,
            .sinkhorn_steps = 1,
            .projection = style.projection};
  if (is_one_of(operation.id, {kUnfusedMhcPre, kUnfusedMhcPost, kUnfusedMhcResidual, kMhcPost,
                               kHcBoundary, kMhcPostBackward}))
    return {.loads = RowLoads::loop, .coefficient_steps = 1};
  if (is_one_of(operation.id, {kMhcBoundary, kSinglePassMhc}))
    return {.loads = RowLoads::loop,
            .coefficient_steps = 1,
            .sinkhorn_steps = 1,
            .projection = style.projection};
  if (is_one_of(operation.id, {kRowUpdate, kUnfusedProjection}) && projects_streams(operation))
    return {.launches_of_split = 1, .loads = RowLoads::loop, .projection = style.projection};
  if (operation.id == kGateApply) return {.loads = RowLoads::loop, .coefficient_steps = 1};
  if (is_one_of(operation.id, {kGateApplyDown, kGateBoundary}))
    return {.loads = RowLoads::loop, .coefficient_steps = 1, .product = ProductKernel::engine};
  if (is_one_of(operation.id, {kGateDownSilu, kGateUpMix}))
    return {.product = ProductKernel::engine};
  if (is_one_of(operation.id, {kGateDown, kGateUp, kUnfusedGateDown, kUnfusedGateUp}))
    return {.product = ProductKernel::library};
  if (operation.id == kGateMix) return {};
  // They load their rows at once, as a scan does.
  if (!is_one_of(operation.id,
                 {kRowUpdate, kUnfusedProjection, kUnfusedElementwise, kUnfusedStack,
                  kUnfusedKeyNorm, kUnfusedScores, kUnfusedMix, kUnfusedMhcMerge, kUnfusedGatedNorm,
                  kUnfusedActivation, kUnfusedGateProduct, kUnfusedStreamMean}))
    expect_scan(operation, "model/machine/few_tokens.cpp");
  return {};
}

namespace {

// sgl-project/sglang PR 40552, hc_mix_raw: tiles of the products of one site. [gated_residual]
constexpr double kTileOutputs = 64;
constexpr double kMostSplits = 16;    // CTAs of the largest cluster
constexpr double kTokensOfSplit = 8;  // partial sums of all splits meet in one CTA's memory
constexpr double kMostTokens = 24;

}  // namespace

Bytes product_bytes_in_turn(Count num_multiprocessors, const Operation& operation,
                            const VectorStorage& types, double tokens) {
  const double d = types.hidden_size;
  const double outputs = operation.product.outputs_d * d + operation.product.outputs;
  if (outputs == 0) return {};
  const double k = operation.weights_d * d / outputs;
  const double tiles = std::ceil(outputs / kTileOutputs);
  double splits = 1;
  while (2 * splits <= kMostSplits && 2 * splits * tiles <= as_double(num_multiprocessors))
    splits *= 2;
  const double served = std::min(tokens, kMostTokens);
  const double rows = splits > 1 ? kTokensOfSplit : served;
  const double ctas = tiles * splits * std::ceil(served / rows);
  const double waves = std::ceil(ctas / as_double(num_multiprocessors));
  const double per_weight = types.bytes_per_weight.value_or(bytes_per_element(types.dtype));
  const double per_element = bytes_per_element(types.dtype);
  return Bytes{waves * k / splits * (kTileOutputs * per_weight + rows * per_element)};
}

FewTokens few_tokens(Count num_multiprocessors, const KernelStyle& style,
                     const Constants& constants, std::string_view architecture, Kinship kinship) {
  const KernelConstants& fitted = constants.kernels;
  const KernelErrors& errors = fitted.errors[static_cast<std::size_t>(kinship)];
  const Evidence evidence =
      kinship == Kinship::same_architecture ? Evidence::published : Evidence::assumed;
  const bool is_ahead = style.prefetch == Prefetch::before_start;
  return {.num_multiprocessors = num_multiprocessors,
          .style = style,
          .engine_prefetch = style.prefetch,
          .floor_share = floor_share_of(constants, architecture),
          .cache_share = fitted.cache_share,
          .stream_efficiency = fitted.stream_efficiency,
          .projection_efficiency = fitted.projection_efficiency,
          .projection_wave = fitted.projection_wave,
          .loop_draw = drawn(fitted.loop_draw, errors.token, evidence),
          .ring_draw = as(fitted.ring_draw, evidence),
          .projection_reuse = drawn(fitted.projection_reuse, errors.token, evidence),
          .coefficient_step = stepped(fitted.coefficient_step, errors.token, evidence),
          .sinkhorn_step = stepped(fitted.sinkhorn_step, errors.token, evidence),
          .folded_call = as(is_ahead ? fitted.folded_call_ahead : fitted.folded_call, evidence),
          .kernel_scatter = as(errors.bytes, evidence)};
}

KernelStyle our_style(const KernelStyle& published) {
  // Split projections are shipped where there are clusters, and nowhere else.
  const bool has_clusters = published.projection == Projection::either;
  return {.attnres_loads = has_clusters ? RowLoads::window : RowLoads::loop,
          .prefetch = Prefetch::none,
          .projection = Projection::whole};
}

bool is_measured_by_stack(OperationId operation) {
  using namespace operations;
  return operation == kMhcPost || operation == kMhcPre || operation == kMhcBoundary;
}

const Estimate<double>& stack_factor(const FewTokens& constants, const Operation& operation) {
  static constexpr Estimate<double> kAsTheFastest{1, 1, 1, Evidence::measured};
  if (!is_measured_by_stack(operation.id)) return kAsTheFastest;
  return operation.id == operations::kMhcPost ? constants.stack.streams
                                              : constants.stack.projection;
}

FewTokens with_kernels_of(Implementation implementation, FewTokens part,
                          const Constants& constants) {
  if (implementation == Implementation::ours) {
    part.style = our_style(part.style);
    part.loop_draw = as(part.loop_draw, Evidence::assumed);
  }
  part.stack = constants.kernels.stacks[static_cast<std::size_t>(implementation)];
  return part;
}

double ctas_per_token(RowLoads loads) { return loads == RowLoads::loop ? 1 : 2; }

}  // namespace depthcost
