// The device under measurement, and the memory that operands are taken from. Where
// cuda::has_device() is false, nothing here may be called.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "microbench/harness/arena.hpp"

namespace depthcost::bench {

struct DeviceProperties {
  std::string name;
  unsigned num_sms = 0;
  std::size_t cache_bytes = 0;  // L2
};
const DeviceProperties& device_properties();

/// The stream of all launches.
cudaStream_t device_cuda_stream();

/// One allocation for all operands.
Arena& device_memory();

/// What a case keeps from one repetition to the next, made at its first use. If the device has no
/// room for it, all others are dropped. So `make` must allocate all that the case needs of
/// device_memory().
std::shared_ptr<void> kept_on_device(const std::string& name,
                                     const std::function<std::shared_ptr<void>()>& make);

template <class Kept, class Make>
std::shared_ptr<Kept> kept(const std::string& name, const Make& make) {
  return std::static_pointer_cast<Kept>(
      kept_on_device(name, [&] { return std::make_shared<Kept>(make()); }));
}

/// Adds the device, its driver and the hash of the kernels to Google Benchmark's context, or
/// reports that there is no device. Does so once per program.
void add_device_context();

}  // namespace depthcost::bench
