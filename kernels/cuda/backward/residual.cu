// residual_add_rmsnorm_backward.
#include "kernels/cuda/backward/slice_launch.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

/// dh of row `row`, and its part of the gain's gradient.
template <class T, unsigned kSlices, unsigned kElements>
__device__ void undo_norm(const ResidualAddRmsNormBackward<T>& op, std::size_t row,
                          const RowShare<kSlices, kElements>& share, RowThreads& threads,
                          ParameterSums<kSlices, kElements>& gain_gradient) {
  const HeldRow<T, kSlices, kElements> state(op.hidden_state + row, share);
  const HeldRow<T, kSlices, kElements> behind_norm(op.output_gradient + row, share);
  const HeldRow<T, kSlices, kElements> had(op.gradient + row, share);
  float sums[2] = {};
  share.each([&](unsigned s, std::size_t at) {
    float h[kElements];
    float u[kElements];
    state.get(s, at, h);
    behind_norm.get(s, at, u);
    apply_gain(op.norm.gain, at, u);
    sums[0] = dot(h, h, sums[0]);
    sums[1] = dot(u, h, sums[1]);
  });
  const float total = threads.sums(sums);
  const NormFactors norm =
      norm_factors(__shfl_sync(kFullMask, total, 0),
                   __shfl_sync(kFullMask, total, kLanesPerValue<2>), op.hidden_size, op.norm.eps);
  share.each([&](unsigned s, std::size_t at) {
    float h[kElements];
    float dx[kElements];
    float dh[kElements];
    state.get(s, at, h);
    behind_norm.get(s, at, dx);
    had.get(s, at, dh);
    float gain[kElements];
    load_parameters(op.norm.gain + at, gain);
    float part[kElements];
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) {
      const float scaled = norm.gain_scale * dx[e];
      dh[e] = fmaf(scaled, gain[e], fmaf(norm.row_scale, h[e], dh[e]));
      part[e] = scaled * h[e];
    }
    gain_gradient.add(s, at, part);
    store_elements(op.gradient + row + at, dh);
  });
}

template <class T, unsigned kSlices, unsigned kElements>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    add_norm_backward_kernel(const __grid_constant__ ResidualAddRmsNormBackward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const RowShare<kSlices, kElements> share{op.hidden_size};
  float* sums = op.slices.sums + blockIdx.x * op.hidden_size;
  ParameterSums<kSlices, kElements> gain_gradient(sums, share);
  RowThreads threads = cta_row_threads(2);
  const TokenSlice tokens = token_slice(op.num_tokens, op.slices.count, blockIdx.x);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t)
    undo_norm(op, t * op.hidden_size, share, threads, gain_gradient);
  gain_gradient.store(sums, share);
}

template <class T>
struct AddNormBackwardKernel {
  template <unsigned kSlices, unsigned kElements>
  static auto of() {
    return add_norm_backward_kernel<T, kSlices, kElements>;
  }
};

}  // namespace

template <class T>
void run(const ResidualAddRmsNormBackward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const std::size_t d = op.hidden_size;
  const bool aligned =
      aligned_to_vectors(op.hidden_state, op.output_gradient, op.norm.gain, op.gradient);
  launch_slices<T, AddNormBackwardKernel<T>>(op, aligned, 2, 0, {}, options);
  launch_add_slices({.sums = op.slices.sums,
                     .num_slices = op.slices.count,
                     .num_parameters = d,
                     .gradients = {{op.gain_gradient, 0, d}}},
                    options);
}

template void run(const ResidualAddRmsNormBackward<float>&, const LaunchOptions&);
template void run(const ResidualAddRmsNormBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
