// One device, one stream, one allocation.
#include "microbench/cuda/device_under_test.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "kernels/cuda/check.hpp"
#include "microbench/cuda/nvml.hpp"
#include "microbench/harness/program.hpp"

namespace depthcost::bench {
namespace {

constexpr std::size_t kAlignment = 256;

class DeviceMemory : public Arena {
 public:
  explicit DeviceMemory(std::size_t bytes) : capacity_(bytes) {
    cuda::check(cudaMalloc(&memory_, bytes));
  }
  ~DeviceMemory() override { cudaFree(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded > capacity_ - used_)
      throw std::length_error("the operands need more than " + std::to_string(capacity_) +
                              " bytes of the device");
    std::byte* address = static_cast<std::byte*>(memory_) + used_;
    used_ += rounded;
    return address;
  }
  void copy_in(std::byte* to, const void* host, std::size_t bytes) override {
    cuda::check(cudaMemcpy(to, host, bytes, cudaMemcpyHostToDevice));
  }
  void copy_out(void* host, const std::byte* from, std::size_t bytes) override {
    cuda::check(cudaMemcpy(host, from, bytes, cudaMemcpyDeviceToHost));
  }
  void reset() override { used_ = 0; }

 private:
  void* memory_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

/// Why there is no device, as the driver says.
const char* why_none() {
  int num_devices = 0;
  return cudaGetErrorString(cudaGetDeviceCount(&num_devices));
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

DeviceProperties properties() {
  int device = 0;
  cudaDeviceProp found{};
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaGetDeviceProperties(&found, device));
  return {.name = found.name,
          .num_sms = static_cast<unsigned>(found.multiProcessorCount),
          .cache_bytes = static_cast<std::size_t>(found.l2CacheSize)};
}

/// 13000 is 13.0.
std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string clock_text(DeviceClock clock) {
  const auto mhz = clock_mhz(clock);
  return mhz ? std::to_string(*mhz) : "unknown (no NVML)";
}

void add_context() {
  benchmark::AddCustomContext("cuda_kernels_hash", DEPTHCOST_CUDA_KERNELS_HASH);
  if (!cuda::has_device()) {
    std::fprintf(stderr, "%s: benchmarks of cuda/ are skipped (%s)\n", kNoCudaDevice, why_none());
    return;
  }
  int driver = 0;
  int runtime = 0;
  cuda::check(cudaDriverGetVersion(&driver));
  cuda::check(cudaRuntimeGetVersion(&runtime));
  const DeviceProperties& device = device_properties();
  benchmark::AddCustomContext("cuda_device", device.name);
  benchmark::AddCustomContext("cuda_sms", std::to_string(device.num_sms));
  benchmark::AddCustomContext("cuda_l2_bytes", std::to_string(device.cache_bytes));
  benchmark::AddCustomContext("cuda_ecc", attribute(cudaDevAttrEccEnabled) != 0 ? "on" : "off");
  benchmark::AddCustomContext("cuda_runtime", version(runtime));
  benchmark::AddCustomContext("cuda_driver_api", version(driver));
  benchmark::AddCustomContext("cuda_driver", driver_version().value_or("unknown (no NVML)"));
  benchmark::AddCustomContext("cuda_memory_mhz", clock_text(DeviceClock::memory));
}

}  // namespace

const DeviceProperties& device_properties() {
  static const DeviceProperties found = properties();
  return found;
}

cudaStream_t device_cuda_stream() {
  static const cudaStream_t cuda_stream = [] {
    cudaStream_t made = nullptr;
    cuda::check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    return made;
  }();
  return cuda_stream;
}

Arena& device_memory() {
  static const std::unique_ptr<Arena> memory = [] {
    // The cases of a program need so much together. A smaller device drops some in between.
    constexpr std::size_t kMost = std::size_t{72} << 30;
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total));
    // The rest is for graphs, kernels and the buffer that sweeps the cache.
    return std::make_unique<DeviceMemory>(std::min(kMost, free / 5 * 4));
  }();
  return *memory;
}

std::shared_ptr<void> kept_on_device(const std::string& name,
                                     const std::function<std::shared_ptr<void>()>& make) {
  static std::map<std::string, std::shared_ptr<void>> all;
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  try {
    return all[name] = make();
  } catch (const std::length_error&) {
    all.clear();
    device_memory().reset();
    return all[name] = make();
  }
}

void add_device_context() {
  // Several files of a program call this.
  static const bool once = [] {
    add_context();
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace depthcost::bench
