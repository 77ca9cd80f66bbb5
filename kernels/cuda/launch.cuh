// Launches a kernel on a stream, with a cluster or an overlap if asked for.
#pragma once

#include <cuda_runtime.h>

#include <array>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/plan.hpp"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {

struct LaunchShape {
  dim3 grid;
  dim3 cta;
  unsigned cluster_size = 1;
  std::size_t shared_bytes = 0;
};

inline int device_attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// The limits of the current device.
inline DeviceLimits device_limits() {
  int device = 0;
  check(cudaGetDevice(&device));
  const auto attribute = [&](cudaDeviceAttr which) {
    return static_cast<unsigned>(device_attribute(which, device));
  };
  return {.num_sms = attribute(cudaDevAttrMultiProcessorCount),
          .shared_bytes_per_cta = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .shared_bytes_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          .has_clusters = attribute(cudaDevAttrComputeCapabilityMajor) >= 9};
}

/// Allows all that the device has. A limit set for each launch could be lowered by another thread
/// before the launch.
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...)) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(device_limits().shared_bytes_per_cta)));
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, const LaunchOptions& options,
            const Parameters&... arguments) {
  constexpr std::size_t kSharedBytesWithoutAsking = 48 * 1024;
  if (shape.shared_bytes > kSharedBytesWithoutAsking) allow_shared_memory(kernel);
  std::array<cudaLaunchAttribute, 2> attributes{};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.cta;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = options.cuda_stream;
  config.attrs = attributes.data();
  if (shape.cluster_size > 1) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {shape.cluster_size, 1, 1};
  }
  if (options.overlap == Overlap::programmatic && device_limits().has_clusters) {
    cudaLaunchAttribute& overlap = attributes[config.numAttrs++];
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
  }
  const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments...);
  // CUDA keeps the error of a launch, and would give it to the next call that is asked for one.
  if (status != cudaSuccess) cudaGetLastError();
  check(status);
}

/// Whether all pointers allow 16-byte accesses. A null pointer counts as aligned.
template <class... Elements>
bool aligned_to_vectors(const Elements*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

/// Vectors of a row of `size` elements of T; 0 where a row is not made of whole ones.
template <class T>
std::size_t vectors_per_row(std::size_t size) {
  constexpr std::size_t kElements = 16 / sizeof(T);
  return size % kElements == 0 ? size / kElements : 0;
}

}  // namespace depthcost::cuda
