#include <cuda_runtime_api.h>

#include "kernels/c/device.hpp"

namespace depthcost::c {

bool has_cuda_device() {
  // A process gains or loses no device.
  static const bool has_device = [] {
    int num_devices = 0;
    return cudaGetDeviceCount(&num_devices) == cudaSuccess && num_devices > 0;
  }();
  return has_device;
}

}  // namespace depthcost::c
