// The shapes that are measured on a GPU, and the one case that only few tokens make interesting.
#pragma once

#include "microbench/family_cases.hpp"
#include "microbench/shapes.hpp"
#include "microbench/variant_cases.hpp"
#include "model/operations/residual_operations.hpp"

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

/// Closes a block: n bank rows, b + f to row n of the bank, and the norm.
template <class T>
AttnResSinglePass<T> single_pass_closing(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks + 1,
          .num_bank_sources = s.num_blocks,
          .bank = o.tensor<T>(s.num_blocks + 1, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .store = SumStore::bank_row,
          .bank_row = s.num_blocks,
          .query = o.parameters(d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// As each_fused_case; the streams of a token stay on chip.
template <class T, class Visit>
void each_device_case(const Shape& s, const Visit& visit) {
  each_fused_case<T>(s, StreamsAgain::on_chip, visit);
  each_family_case<T>(s, visit);
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
