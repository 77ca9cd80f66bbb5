#include "kernels/cuda/device.hpp"

#include <cuda_runtime_api.h>

namespace depthcost::cuda {

bool has_device() {
  // Asked once: devices do not come or go while a process runs.
  static const bool found = [] {
    int num_devices = 0;
    return cudaGetDeviceCount(&num_devices) == cudaSuccess && num_devices > 0;
  }();
  return found;
}

}  // namespace depthcost::cuda
