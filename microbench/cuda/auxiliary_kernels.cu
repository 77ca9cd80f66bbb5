// Kernels that fill, sweep, delay and measure the clock.
#include "kernels/cuda/check.hpp"
#include "microbench/cuda/auxiliary_kernels.hpp"

namespace depthcost::bench {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kCtas = 1024;

/// The finaliser of MurmurHash3.
__device__ std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  x ^= x >> 13;
  x *= 0xC2B2AE35U;
  return x ^ (x >> 16);
}

__global__ void __launch_bounds__(kThreads) fill_kernel(uint4* data, std::size_t count) {
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::size_t{kCtas} * kThreads) {
    const auto seed = static_cast<std::uint32_t>(4 * i);
    data[i] = {hash(seed), hash(seed + 1), hash(seed + 2), hash(seed + 3)};
  }
}

__global__ void __launch_bounds__(kThreads)
    sweep_kernel(const uint4* data, std::size_t count, uint4* sink) {
  uint4 sum{};
#pragma unroll 4
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::size_t{kCtas} * kThreads) {
    const uint4 vector = data[i];
    sum.x ^= vector.x;
    sum.y ^= vector.y;
    sum.z ^= vector.z;
    sum.w ^= vector.w;
  }
  // Never true, but the compiler cannot leave out the loads.
  if (sum.x == 0x5EED5EEDU && sum.y == 0x5EED5EEDU && sum.z == sum.w && sum.w == 0x5EED5EEDU)
    *sink = sum;
}

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void delay_kernel(std::uint64_t duration) {
  const std::uint64_t start = nanoseconds();
  while (nanoseconds() - start < duration) __nanosleep(100);
}

/// Writes {cycles, nanoseconds} of about a millisecond.
__global__ void clock_kernel(std::uint64_t* elapsed) {
  constexpr std::int64_t kCycles = 2'000'000;
  // The timer has coarse ticks: begin and end at one.
  std::uint64_t first = nanoseconds();
  for (const std::uint64_t before = first; first == before;) first = nanoseconds();
  const std::int64_t start = clock64();
  while (clock64() - start < kCycles) {
  }
  std::uint64_t last = nanoseconds();
  for (const std::uint64_t before = last; last == before;) last = nanoseconds();
  elapsed[0] = static_cast<std::uint64_t>(clock64() - start);
  elapsed[1] = last - first;
}

}  // namespace

void launch_fill(void* data, std::size_t num_bytes, cudaStream_t cuda_stream) {
  fill_kernel<<<kCtas, kThreads, 0, cuda_stream>>>(static_cast<uint4*>(data),
                                                   num_bytes / sizeof(uint4));
  cuda::check(cudaGetLastError());
}

void launch_sweep(const void* data, std::size_t num_bytes, cudaStream_t cuda_stream) {
  const auto* vectors = static_cast<const uint4*>(data);
  sweep_kernel<<<kCtas, kThreads, 0, cuda_stream>>>(vectors, num_bytes / sizeof(uint4),
                                                    const_cast<uint4*>(vectors));
  cuda::check(cudaGetLastError());
}

void launch_delay(double seconds, cudaStream_t cuda_stream) {
  delay_kernel<<<1, 1, 0, cuda_stream>>>(static_cast<std::uint64_t>(seconds * 1e9));
  cuda::check(cudaGetLastError());
}

double sm_clock_rate(cudaStream_t cuda_stream) {
  static std::uint64_t* const elapsed = [] {
    void* memory = nullptr;
    cuda::check(cudaMalloc(&memory, 2 * sizeof(std::uint64_t)));
    return static_cast<std::uint64_t*>(memory);
  }();
  clock_kernel<<<1, 1, 0, cuda_stream>>>(elapsed);
  cuda::check(cudaGetLastError());
  std::uint64_t host[2] = {};
  cuda::check(cudaMemcpyAsync(host, elapsed, sizeof(host), cudaMemcpyDeviceToHost, cuda_stream));
  cuda::check(cudaStreamSynchronize(cuda_stream));
  return static_cast<double>(host[0]) / (static_cast<double>(host[1]) * 1e-9);
}

}  // namespace depthcost::bench
