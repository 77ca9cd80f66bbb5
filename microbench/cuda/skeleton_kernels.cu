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

template <Skeleton kSkeleton>
__global__ void __launch_bounds__(kSkeletonThreads)
    skeleton_kernel(const float* input, float* output) {
  if constexpr (kSkeleton == Skeleton::cluster_reduction) cuda::cluster_arrive();
  cuda::wait_for_previous_kernel();
  cuda::let_next_kernel_start();
  const std::size_t at = (std::size_t{blockIdx.x} * kSkeletonThreads + threadIdx.x) * 4;
  float x[4];
  cuda::load_floats(input + at, x);
  if constexpr (kSkeleton != Skeleton::elementwise) {
    cuda::RowThreads threads(reinterpret_cast<float*>(cuda::shared_memory()),
                             threadIdx.x / cuda::kWarpSize, kWarps, 0, 1);
    if constexpr (kSkeleton == Skeleton::cluster_reduction) cuda::cluster_wait();
    x[0] *= rsqrtf(threads.sum(fmaf(x[0], x[0], fmaf(x[1], x[1], x[2] * x[2] + x[3] * x[3]))));
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
  const auto scratch = [](unsigned ranks) {
    return cuda::RowThreads::scratch_size(kWarps, ranks, 1);
  };
  switch (call.skeleton) {
    case Skeleton::elementwise:
      return launch_as(skeleton_kernel<Skeleton::elementwise>, 1, 0);
    case Skeleton::row_reduction:
      return launch_as(skeleton_kernel<Skeleton::row_reduction>, 1, scratch(1));
    case Skeleton::cluster_reduction:
      return launch_as(skeleton_kernel<Skeleton::cluster_reduction>, kSkeletonClusterSize,
                       scratch(kSkeletonClusterSize));
  }
}

void launch_empty(unsigned num_ctas, const cuda::LaunchOptions& options) {
  cuda::launch(empty_kernel, {.grid = num_ctas, .cta = kSkeletonThreads}, options);
}

}  // namespace depthcost::bench
