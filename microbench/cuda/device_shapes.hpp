// The shapes that are measured on a GPU.
#pragma once

#include "microbench/cases/case_list.hpp"
#include "microbench/cases/cpu_shapes.hpp"
#include "model/operations/residual_operations.hpp"

namespace depthcost::bench {

/// A chunk of prefill. Kernels are tuned for it.
inline constexpr std::size_t kPrefillTokens = 8192;

/// Batches of decoding, and a small chunk.
inline constexpr std::size_t kFewTokens[] = {1, 8, 64, 512};

/// The shapes of residual_add_rmsnorm that TileOps publishes for an H200.
inline constexpr std::size_t kNormTokens = 2048;
inline constexpr std::size_t kNormWidths[] = {4096, 8192, 16384};

/// The shape of TensorRT-LLM's mHC post that has the highest published bandwidth. The ceiling of
/// this size must not be lower.
inline constexpr Shape kPublishedPost{.num_tokens = 131072, .hidden_size = 4096};

/// Slices of tokens of a backward pass: one for each multiprocessor of an H200.
inline constexpr std::size_t kDeviceSlices = 132;

/// Host memory for two sets of operands that are compared. The slices of phi's gradient are 363 MB.
inline constexpr std::size_t kComparisonBytes = std::size_t{1} << 30;

/// The most bytes of a hot kernel: two sets of operands must fit into half of an L2.
inline constexpr double kHotBytes = 12e6;

/// As each_fused_case. The residual streams of a token stay on chip.
template <class T, class Visit>
void each_device_case(const Shape& s, const Visit& visit) {
  each_fused_case<T>(s, StreamsAgain::on_chip, visit);
  visit("attnres_single_pass/closing", catalogue_row("attnres_single_pass/closing", counts_of(s)),
        single_pass_closing<T>);
}

/// visit(shape, name, model's row, make) for every case whose operands come from memory.
template <class T, class Visit>
void each_large_case(const Visit& visit) {
  const auto visit_at = [&](const Shape& shape) {
    return [&visit, shape](std::string_view name, const Operation& model, auto make) {
      visit(shape, name, model, make);
    };
  };
  for (const std::size_t width : kWidths) {
    const Shape shape{.num_tokens = kPrefillTokens, .hidden_size = width};
    each_device_case<T>(shape, visit_at(shape));
  }
  const Shape widest{.num_tokens = kPrefillTokens, .hidden_size = kWidths[2]};
  each_variant_case<T>(widest, visit_at(widest));
  const Shape gated{.num_tokens = kPrefillTokens, .hidden_size = kGatedWidth};
  each_gated_case<T>(gated, visit_at(gated));
  const Shape backward{.num_tokens = kPrefillTokens,
                       .hidden_size = kWidths[2],
                       .num_slices = kDeviceSlices,
                       .num_phi_slices = kDeviceSlices};
  each_backward_case<T>(backward, visit_at(backward));
  for (const std::size_t width : kNormWidths) {
    const Shape shape{.num_tokens = kNormTokens, .hidden_size = width};
    visit(shape, "residual_add_rmsnorm", operations::residual_add_rmsnorm(),
          row_operation<ResidualAddRmsNorm<T>>);
  }
}

}  // namespace depthcost::bench
