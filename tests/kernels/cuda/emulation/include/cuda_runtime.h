// In place of CUDA's: kernels are functions of the host, and a thread's place is a global that is
// set whenever a fiber goes on.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "cuda_runtime_api.h"
#include "tests/kernels/cuda/emulation/device.hpp"

#define __device__
#define __host__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

using std::max;
using std::min;

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __expf(float value) { return std::exp(value); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float value) { return 1.0F / std::sqrt(value); }

inline void __syncthreads() { depthcost::emulation::barrier("__syncthreads", 0, 0); }
inline void __syncwarp() { depthcost::emulation::sync_warp(); }

namespace depthcost::emulation {

template <class T>
T shuffled(const char* function, T value, unsigned from) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  const WarpWords& words = exchange(function, {std::bit_cast<std::uint32_t>(value)});
  return std::bit_cast<T>(words[from % kWarpSize][0]);
}

inline unsigned lane() { return threadIdx.x % kWarpSize; }

}  // namespace depthcost::emulation

template <class T>
T __shfl_sync(unsigned, T value, unsigned lane, unsigned width = 32) {
  const unsigned own = depthcost::emulation::lane();
  return depthcost::emulation::shuffled("__shfl_sync", value, own / width * width + lane % width);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  return depthcost::emulation::shuffled("__shfl_xor_sync", value,
                                        depthcost::emulation::lane() ^ mask);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned offset) {
  const unsigned own = depthcost::emulation::lane();
  const unsigned from = own + offset < depthcost::emulation::kWarpSize ? own + offset : own;
  return depthcost::emulation::shuffled("__shfl_down_sync", value, from);
}
