// The shapes that are measured on a GPU, and the one case that only few tokens make interesting.
#pragma once

#include "microbench/cases/case_list.hpp"
#include "microbench/cases/cpu_shapes.hpp"

namespace depthcost::bench {

/// A chunk of prefill: what kernels are tuned for.
inline constexpr std::size_t kPrefillTokens = 8192;

/// Batches of decoding, and a small chunk.
inline constexpr std::size_t kFewTokens[] = {1, 8, 64, 512};

/// Of residual_add_rmsnorm, as TileOps publishes it on an H200.
inline constexpr std::size_t kNormTokens = 2048;
inline constexpr std::size_t kNormWidths[] = {4096, 8192, 16384};

/// Of the mHC post of TensorRT-LLM with the highest bandwidth that is published: a ceiling must
/// hold at its size.
inline constexpr Shape kPublishedPost{.num_tokens = 131072, .hidden_size = 4096};

/// What a chain may read and write to be called hot: with both of its sets in half of an L2.
inline constexpr double kHotBytes = 12e6;

/// As each_fused_case; the streams of a token stay on chip.
template <class T, class Visit>
void each_device_case(const Shape& s, const Visit& visit) {
  each_fused_case<T>(s, StreamsAgain::on_chip, visit);
  visit("attnres_single_pass/closing", catalogue_row("attnres_single_pass/closing", counts_of(s)),
        single_pass_closing<T>);
}

/// visit(shape, name, model's row, make) for all that comes from memory.
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
  for (const std::size_t width : kNormWidths) {
    const Shape shape{.num_tokens = kNormTokens, .hidden_size = width};
    visit(shape, "residual_add_rmsnorm", operations::residual_add_rmsnorm(),
          residual_add_rmsnorm<T>);
  }
}

}  // namespace depthcost::bench
