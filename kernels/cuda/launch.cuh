// Launches a kernel on a stream, with a cluster or an overlap if asked for.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/plan.hpp"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {

/// The size that a kernel's shared memory grows with, where nothing else bounds it.
struct SharedSize {
  const char* operation = nullptr;
  const char* name = nullptr;
  std::size_t value = 0;
};

struct LaunchShape {
  dim3 grid;
  dim3 cta;
  unsigned cluster_size = 1;
  std::size_t shared_bytes = 0;
  SharedSize shared_size = {};
};

/// CTAs along x. Throws std::invalid_argument where a grid cannot have so many.
inline unsigned grid_of(std::size_t num_ctas) {
  constexpr std::size_t kMost = 0x7FFFFFFF;
  if (num_ctas > kMost)
    throw std::invalid_argument(std::to_string(num_ctas) + " CTAs are more than a grid can have (" +
                                std::to_string(kMost) + "): pass fewer tokens at a time");
  return static_cast<unsigned>(num_ctas);
}

inline int device_attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

inline DeviceLimits limits_of(int device) {
  const auto attribute = [&](cudaDeviceAttr which) {
    return static_cast<unsigned>(device_attribute(which, device));
  };
  return {.num_sms = attribute(cudaDevAttrMultiProcessorCount),
          .shared_bytes_per_cta = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .shared_bytes_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          .has_clusters = attribute(cudaDevAttrComputeCapabilityMajor) >= 9};
}

/// The limits of the current device. Each thread asks once as long as it stays with a device: a
/// launch is short.
inline DeviceLimits device_limits() {
  thread_local int known_device = -1;
  thread_local DeviceLimits limits;
  int device = 0;
  check(cudaGetDevice(&device));
  if (device != known_device) limits = limits_of(device);
  known_device = device;
  return limits;
}

/// Allows all that the device has. A limit set for each launch could be lowered by another thread
/// before the launch.
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...)) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(device_limits().shared_bytes_per_cta)));
}

/// Throws std::invalid_argument where a CTA would need more shared memory than the device has.
inline void check_shared_memory(const LaunchShape& shape) {
  const std::size_t most = device_limits().shared_bytes_per_cta;
  if (shape.shared_bytes <= most) return;
  const SharedSize& size = shape.shared_size;
  const std::string needs = std::to_string(shape.shared_bytes) +
                            " bytes of shared memory for each CTA, and this device has " +
                            std::to_string(most);
  if (size.name == nullptr) throw std::invalid_argument("a kernel takes " + needs);
  throw std::invalid_argument(std::string(size.operation) + ": " + size.name + " is " +
                              std::to_string(size.value) + " (takes " + needs + ")");
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, const LaunchOptions& options,
            const Parameters&... arguments) {
  constexpr std::size_t kSharedBytesWithoutAsking = 48 * 1024;
  if (shape.shared_bytes > kSharedBytesWithoutAsking) {
    check_shared_memory(shape);
    allow_shared_memory(kernel);
  }
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

/// The number of tokens that decides which variant runs.
inline std::size_t planned_tokens(std::size_t num_tokens, const LaunchOptions& options) {
  return options.batch == Batch::invariant ? kManyTokens : num_tokens;
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
