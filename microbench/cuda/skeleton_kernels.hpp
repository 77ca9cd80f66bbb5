// Kernels that do next to nothing: one vector per thread, in the form of each skeleton.
#pragma once

#include <cstddef>

#include "kernels/cuda/descriptor.hpp"
#include "kernels/cuda/run.hpp"

namespace depthcost::bench {

/// Reads and writes a vector per thread. Its time is that of a launch before the first byte and
/// after the last.
struct SkeletonCall {
  cuda::Skeleton skeleton = cuda::Skeleton::elementwise;
  unsigned num_ctas = 1;  // a multiple of kSkeletonClusterSize for a cluster
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

inline constexpr unsigned kSkeletonThreads = 256;
inline constexpr unsigned kSkeletonClusterSize = cuda::kMaxClusterSize;

/// Bytes that a CTA reads; it writes as many.
inline constexpr std::size_t kSkeletonBytes = kSkeletonThreads * std::size_t{16};

void launch_skeleton(const SkeletonCall& call, const cuda::LaunchOptions& options);

/// Does nothing at all.
void launch_empty(unsigned num_ctas, const cuda::LaunchOptions& options);

}  // namespace depthcost::bench
