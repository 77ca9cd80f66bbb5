// Launches of backward kernels that have a CTA for each slice of the tokens, and the launch behind
// them that adds up the slices.
#pragma once

#include "kernels/cuda/backward/backward_variants.hpp"
#include "kernels/cuda/backward/row_share.cuh"

namespace depthcost::cuda {

/// A kernel in the variants of BackwardVariant. `Kernel::of<kSlices, kElements>()` is one of them.
template <class T, class Kernel, class Op>
void launch_slices(const Op& op, bool aligned, unsigned max_values, std::size_t further_floats,
                   const SharedSize& shared_size, const LaunchOptions& options) {
  const BackwardPlan plan = backward_plan<T>(aligned ? vectors_per_row<T>(op.hidden_size) : 0);
  const std::size_t floats =
      RowThreads::scratch_size(plan.threads / kThreadsPerWarp, max_values) + further_floats;
  const LaunchShape shape{.grid = grid_of(op.slices.count),
                          .cta = plan.threads,
                          .shared_bytes = floats * sizeof(float),
                          .shared_size = shared_size};
  switch (plan.variant) {
    case BackwardVariant::registers:
      return launch(Kernel::template of<kBackwardSlices<T>, kWidth<T>>(), shape, options, op);
    case BackwardVariant::streamed:
      return launch(Kernel::template of<kInMemory, kWidth<T>>(), shape, options, op);
    case BackwardVariant::scalar:
      return launch(Kernel::template of<kInMemory, 1>(), shape, options, op);
  }
}

/// A kernel that keeps nothing in registers. `Kernel::of<kElements>()` is one of its variants.
template <class T, class Kernel, class Op>
void launch_streamed_slices(const Op& op, bool aligned, unsigned max_values,
                            std::size_t further_floats, const SharedSize& shared_size,
                            const LaunchOptions& options) {
  const std::size_t vectors = aligned ? vectors_per_row<T>(op.hidden_size) : 0;
  const unsigned threads = streamed_threads(vectors);
  const std::size_t floats =
      RowThreads::scratch_size(threads / kThreadsPerWarp, max_values) + further_floats;
  launch(vectors > 0 ? Kernel::template of<kWidth<T>>() : Kernel::template of<1>(),
         {.grid = grid_of(op.slices.count),
          .cta = threads,
          .shared_bytes = floats * sizeof(float),
          .shared_size = shared_size},
         options, op);
}

/// Where the sums of `size` parameters from `begin` on are added to.
struct ParameterGradient {
  float* to = nullptr;
  std::size_t begin = 0;
  std::size_t size = 0;
};

struct SliceTotals {
  static constexpr unsigned kMostGradients = 4;

  const float* sums = nullptr;  // (slices, parameters)
  std::size_t num_slices = 0;
  std::size_t num_parameters = 0;
  ParameterGradient gradients[kMostGradients];
};

/// Adds up the slices, in order, and to what the gradients hold; behind the kernel that wrote them.
void launch_add_slices(const SliceTotals& totals, const LaunchOptions& options);

/// The same of operations with gradients of `size` elements of queries, and of a norm's gain.
template <class Op>
void launch_add_query_slices(const Op& op, float* query_gradients, std::size_t size,
                             const LaunchOptions& options) {
  const std::size_t num_gains = op.norm.gain == nullptr ? 0 : op.hidden_size;
  launch_add_slices(
      {.sums = op.slices.sums,
       .num_slices = op.slices.count,
       .num_parameters = num_parameters(op),
       .gradients = {{query_gradients, 0, size}, {op.gain_gradient, size, num_gains}}},
      options);
}

}  // namespace depthcost::cuda
