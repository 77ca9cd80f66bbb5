// One vector per thread, summed over nothing, over the CTA or over the cluster.
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"
#include "microbench/cuda/skeleton_kernels.hpp"

namespace depthcost::bench {
namespace {

using cuda::Skeleton;

constexpr unsigned kWarps = kSkeletonThreads / cuda::kWarpSize;

__global__ void __launch_bounds__(kSkeletonThreads) empty_kernel() {
  cuda::wait_for_previous_kernel();
  cuda::let_next_kernel_start();
}

__device__ float* scratch() { return reinterpret_cast<float*>(cuda::shared_memory()); }

template <Skeleton kSkeleton>
__global__ void __launch_bounds__(kSkeletonThreads)
    skeleton_kernel(const float* input, float* output) {
  if constexpr (kSkeleton == Skeleton::cluster_reduction) cuda::ClusterExchange::start(scratch());
  cuda::wait_for_previous_kernel();
  cuda::let_next_kernel_start();
  const std::size_t at = (std::size_t{blockIdx.x} * kSkeletonThreads + threadIdx.x) * 4;
  float x[4];
  cuda::load_floats(input + at, x);
  const float squares = fmaf(x[0], x[0], fmaf(x[1], x[1], x[2] * x[2] + x[3] * x[3]));
  if constexpr (kSkeleton == Skeleton::row_reduction) {
    cuda::RowThreads threads(scratch(), threadIdx.x / cuda::kWarpSize, kWarps, 0, 1);
    x[0] *= rsqrtf(threads.sum(squares));
  }
  if constexpr (kSkeleton == Skeleton::cluster_reduction) {
    cuda::ClusterRowThreads threads(scratch(), 1);
    cuda::cluster_wait();
    x[0] *= rsqrtf(threads.sum(squares));
  }
  cuda::store_elements(output + at, x);
}

}  // namespace

void launch_skeleton(const SkeletonCall& call, const cuda::LaunchOptions& options) {
  const auto* input = reinterpret_cast<const float*>(call.input);
  auto* output = reinterpret_cast<float*>(call.output);
  const auto launch_as = [&](auto kernel, unsigned ranks, std::size_t num_floats) {
    cuda::launch(kernel,
                 {.grid = call.num_ctas,
                  .cta = kSkeletonThreads,
                  .cluster_size = ranks,
                  .shared_bytes = num_floats * sizeof(float)},
                 options, input, output);
  };
  switch (call.skeleton) {
    case Skeleton::elementwise:
      return launch_as(skeleton_kernel<Skeleton::elementwise>, 1, 0);
    case Skeleton::row_reduction:
      return launch_as(skeleton_kernel<Skeleton::row_reduction>, 1,
                       cuda::RowThreads::scratch_size(kWarps, 1));
    case Skeleton::cluster_reduction:
      return launch_as(skeleton_kernel<Skeleton::cluster_reduction>, kSkeletonClusterSize,
                       cuda::ClusterRowThreads::scratch_size(kWarps, kSkeletonClusterSize, 1));
  }
}

void launch_empty(unsigned num_ctas, const cuda::LaunchOptions& options) {
  cuda::launch(empty_kernel, {.grid = num_ctas, .cta = kSkeletonThreads}, options);
}

}  // namespace depthcost::bench
