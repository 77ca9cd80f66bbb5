// Gradients of parameters from those of slices of tokens: the second launch of backward kernels.
#include "kernels/cuda/backward/slice_launch.cuh"

namespace depthcost::cuda {
namespace {

__device__ float* gradient_of(const SliceTotals& totals, std::size_t parameter) {
  for (const ParameterGradient& gradient : totals.gradients)
    if (parameter >= gradient.begin && parameter - gradient.begin < gradient.size)
      return gradient.to + (parameter - gradient.begin);
  return nullptr;
}

__global__ void __launch_bounds__(kAddThreads)
    add_slices_kernel(const __grid_constant__ SliceTotals totals) {
  constexpr unsigned kLoadsInFlight = 8;
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t parameter = std::size_t{blockIdx.x} * kAddThreads + threadIdx.x;
  float* to = gradient_of(totals, parameter);
  if (to == nullptr) return;
  float sum = *to;
  for (std::size_t first = 0; first < totals.num_slices; first += kLoadsInFlight) {
    float parts[kLoadsInFlight];
#pragma unroll
    for (unsigned i = 0; i < kLoadsInFlight; ++i)
      parts[i] = first + i < totals.num_slices
                     ? totals.sums[(first + i) * totals.num_parameters + parameter]
                     : 0;
#pragma unroll
    for (unsigned i = 0; i < kLoadsInFlight; ++i) sum += parts[i];
  }
  *to = sum;
}

}  // namespace

void launch_add_slices(const SliceTotals& totals, const LaunchOptions& options) {
  launch(add_slices_kernel,
         {.grid = grid_of(ceil_div(totals.num_parameters, kAddThreads)), .cta = kAddThreads},
         options, totals);
}

}  // namespace depthcost::cuda
