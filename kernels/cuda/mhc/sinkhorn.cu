// Sinkhorn's iteration on many small matrices.
//   per_thread  a matrix in registers: m of 1, 2, 3, 4 or 8
//   per_warp    a matrix in shared memory: any m
#include "kernels/cuda/mhc/sinkhorn.cuh"

#include "kernels/cuda/launch.cuh"

namespace depthcost::cuda {
namespace {

template <unsigned kStreams>
__global__ void __launch_bounds__(kSinkhornThreads) per_thread_kernel(const Sinkhorn op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t index = std::size_t{blockIdx.x} * kSinkhornThreads + threadIdx.x;
  if (index >= op.count) return;
  float* from = op.matrices + index * kStreams * kStreams;
  float matrix[kStreams * kStreams];
#pragma unroll
  for (unsigned i = 0; i < kStreams * kStreams; ++i) matrix[i] = from[i];
  balance<kStreams>(matrix, op.iterations, op.order);
#pragma unroll
  for (unsigned i = 0; i < kStreams * kStreams; ++i) from[i] = matrix[i];
}

__global__ void __launch_bounds__(kWarpSize) per_warp_kernel(const Sinkhorn op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const auto m = static_cast<unsigned>(op.num_streams);
  float* matrix = reinterpret_cast<float*>(shared_memory());
  float* from = op.matrices + std::size_t{blockIdx.x} * m * m;
  for (unsigned i = threadIdx.x; i < m * m; i += kWarpSize) matrix[i] = from[i];
  __syncwarp();
  balance_shared(matrix, m, op.iterations, op.order);
  for (unsigned i = threadIdx.x; i < m * m; i += kWarpSize) from[i] = matrix[i];
}

using Kernel = void (*)(Sinkhorn);
Kernel kernel_for(std::size_t num_streams) {
  switch (num_streams) {
    case 1:
      return per_thread_kernel<1>;
    case 2:
      return per_thread_kernel<2>;
    case 3:
      return per_thread_kernel<3>;
    case 4:
      return per_thread_kernel<4>;
    case 8:
      return per_thread_kernel<8>;
    default:
      return nullptr;
  }
}

}  // namespace

void run(const Sinkhorn& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.count == 0) return;
  if (const Kernel kernel = kernel_for(op.num_streams)) {
    const LaunchShape shape{.grid = grid_of(ceil_div(op.count, kSinkhornThreads)),
                            .cta = kSinkhornThreads};
    return launch(kernel, shape, options, op);
  }
  const LaunchShape shape{.grid = grid_of(op.count),
                          .cta = kWarpSize,
                          .shared_bytes = op.num_streams * op.num_streams * sizeof(float),
                          .shared_size = {"sinkhorn", "num_streams", op.num_streams}};
  launch(per_warp_kernel, shape, options, op);
}

}  // namespace depthcost::cuda
