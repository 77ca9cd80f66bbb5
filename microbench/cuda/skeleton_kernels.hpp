// Kernels that do next to nothing: a vector a thread, in the shape of each skeleton.
#pragma once

#include <cstddef>

#include "kernels/cuda/descriptor.hpp"
#include "kernels/cuda/run.hpp"

namespace depthcost::bench {

/// Reads and writes a vector per thread: what a launch costs before the first byte and after the
/// last, wherever they come from.
struct SkeletonCall {
  cuda::Skeleton skeleton = cuda::Skeleton::elementwise;
  unsigned num_ctas = 1;  // a multiple of kSkeletonClusterSize where it is of clusters
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

inline constexpr unsigned kSkeletonThreads = 256;
inline constexpr unsigned kSkeletonClusterSize = cuda::kMaxClusterSize;

/// Of a CTA, read; as many are written.
inline constexpr std::size_t kSkeletonBytes = kSkeletonThreads * std::size_t{16};

void launch_skeleton(const SkeletonCall& call, const cuda::LaunchOptions& options);

/// Does nothing at all.
void launch_empty(unsigned num_ctas, const cuda::LaunchOptions& options);

}  // namespace depthcost::bench
