// Copies of the host buffers of an operation on the device, with guards around them.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/cuda/check.hpp"

namespace depthcost::test {

class DeviceBuffers {
 public:
  DeviceBuffers() = default;
  DeviceBuffers(const DeviceBuffers&) = delete;
  DeviceBuffers& operator=(const DeviceBuffers&) = delete;
  ~DeviceBuffers() {
    for (const Buffer& buffer : buffers_) cudaFree(buffer.allocation);
  }

  /// Turns the pointer to `count` elements on the host into one to their copy, as aligned as they
  /// are. A pointer into a buffer that has been moved before becomes one into its copy.
  template <class T>
  void move(T*& host, std::size_t count) {
    if (host == nullptr) return;
    auto* const address = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(host));
    Buffer* buffer = containing(address, count * sizeof(T));
    if (buffer == nullptr) buffer = &add(address, count * sizeof(T));
    if (!std::is_const_v<T>) buffer->is_written = true;
    host = reinterpret_cast<T*>(buffer->device + (address - buffer->host));
  }

  /// Copies all buffers to the device and fills the guards. Waits, since copies from pageable
  /// memory may not be complete when they return, and CUDA streams that do not wait for the default
  /// one would start before them.
  void upload() const {
    for (const Buffer& buffer : buffers_) {
      std::vector<std::byte> image(buffer.allocated(), kGuard);
      std::copy_n(buffer.host, buffer.num_bytes, image.begin() + buffer.offset());
      cuda::check(
          cudaMemcpy(buffer.allocation, image.data(), image.size(), cudaMemcpyHostToDevice));
    }
    cuda::check(cudaDeviceSynchronize());
  }

  /// Copies results to the host. Expects read-only buffers and guards to be unchanged.
  void download() const {
    cuda::check(cudaDeviceSynchronize());
    for (const Buffer& buffer : buffers_) {
      std::vector<std::byte> image(buffer.allocated());
      cuda::check(
          cudaMemcpy(image.data(), buffer.allocation, image.size(), cudaMemcpyDeviceToHost));
      const auto begin = image.begin() + buffer.offset();
      const auto end = begin + static_cast<std::ptrdiff_t>(buffer.num_bytes);
      const auto is_guard = [](std::byte byte) { return byte == kGuard; };
      EXPECT_TRUE(std::all_of(image.begin(), begin, is_guard)) << "written before a buffer";
      EXPECT_TRUE(std::all_of(end, image.end(), is_guard)) << "written behind a buffer";
      if (!buffer.is_written) {
        EXPECT_TRUE(std::equal(begin, end, buffer.host)) << "written to an input";
        continue;
      }
      std::copy(begin, end, buffer.host);
    }
  }

 private:
  static constexpr std::size_t kGuardBytes = 256;
  static constexpr std::byte kGuard{0xA5};

  struct Buffer {
    std::byte* host = nullptr;
    std::size_t num_bytes = 0;
    bool is_written = false;
    void* allocation = nullptr;
    std::byte* device = nullptr;

    std::size_t allocated() const { return num_bytes + 3 * kGuardBytes; }
    std::ptrdiff_t offset() const { return device - static_cast<std::byte*>(allocation); }
  };

  Buffer* containing(const std::byte* host, std::size_t num_bytes) {
    for (Buffer& buffer : buffers_)
      if (host >= buffer.host && host + num_bytes <= buffer.host + buffer.num_bytes) return &buffer;
    return nullptr;
  }

  Buffer& add(std::byte* host, std::size_t num_bytes) {
    Buffer& buffer = buffers_.emplace_back(Buffer{.host = host, .num_bytes = num_bytes});
    cuda::check(cudaMalloc(&buffer.allocation, buffer.allocated()));
    const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(host) % kGuardBytes;
    buffer.device = static_cast<std::byte*>(buffer.allocation) + kGuardBytes + misalignment;
    return buffer;
  }

  std::vector<Buffer> buffers_;
};

}  // namespace depthcost::test
