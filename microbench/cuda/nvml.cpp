// The library is opened at run time, because not every toolkit has its header, and not every
// container has the library.
#include "microbench/cuda/nvml.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>

namespace depthcost::bench {
namespace {

// As in nvml.h of every release since 2013.
using NvmlDevice = struct nvmlDevice_st*;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlClockSm = 1;
constexpr int kNvmlClockMemory = 2;

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    const auto initialise = function<int (*)()>("nvmlInit_v2");
    const auto device_at =
        function<int (*)(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
    int device = 0;
    std::array<char, 32> bus_id{};
    if (initialise == nullptr || device_at == nullptr || initialise() != kNvmlSuccess ||
        cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device) !=
            cudaSuccess ||
        device_at(bus_id.data(), &device_) != kNvmlSuccess)
      device_ = nullptr;
  }

  std::optional<unsigned> clock(int which) const {
    const auto get = function<int (*)(NvmlDevice, int, unsigned*)>("nvmlDeviceGetClockInfo");
    unsigned mhz = 0;
    if (device_ == nullptr || get == nullptr || get(device_, which, &mhz) != kNvmlSuccess)
      return std::nullopt;
    return mhz;
  }

  std::optional<std::string> driver() const {
    const auto get = function<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
    std::array<char, 96> text{};
    if (device_ == nullptr || get == nullptr ||
        get(text.data(), static_cast<unsigned>(text.size())) != kNvmlSuccess)
      return std::nullopt;
    return text.data();
  }

 private:
  template <class Function>
  Function function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  NvmlDevice device_ = nullptr;
};

const Nvml& nvml() {
  static const Nvml library;
  return library;
}

}  // namespace

std::optional<unsigned> clock_mhz(DeviceClock clock) {
  return nvml().clock(clock == DeviceClock::sm ? kNvmlClockSm : kNvmlClockMemory);
}

std::optional<std::string> driver_version() { return nvml().driver(); }

}  // namespace depthcost::bench
