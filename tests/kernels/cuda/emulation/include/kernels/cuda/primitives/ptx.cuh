// In place of the instructions behind kernels/cuda/primitives/ptx.cuh: the same functions,
// emulated.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace depthcost::cuda {

inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xFFFFFFFFU;

inline std::byte* shared_memory() { return emulation::shared_memory(); }

/// Rounds to nearest even. NaNs stay NaNs.
inline std::uint32_t bf16_of(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  if (std::isnan(value)) return 0x7FFFU;
  return (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
}

inline std::uint32_t bf16_pair(float low, float high) { return bf16_of(high) << 16 | bf16_of(low); }

inline std::uint32_t permuted_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t pair = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned digit = selector >> (4 * i) & 7U;
    result |= static_cast<std::uint32_t>(pair >> (8 * digit) & 0xFFU) << (8 * i);
  }
  return result;
}

/// Which elements a lane holds is in the PTX ISA, "Matrix fragments for mma.m16n8k16".
inline void mma_bf16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                     std::uint32_t b1) {
  const emulation::WarpWords& words =
      emulation::exchange("mma_bf16", {a[0], a[1], a[2], a[3], b0, b1});
  const auto low = [](std::uint32_t pair) { return __uint_as_float(pair << 16); };
  const auto high = [](std::uint32_t pair) { return __uint_as_float(pair & 0xFFFF0000U); };
  const unsigned group = emulation::lane() / 4;
  const unsigned place = emulation::lane() % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned column = place * 2 + i % 2;
    float sum = 0;
    for (unsigned k = 0; k < 16; k += 2) {  // a pair of elements that one register holds
      const std::uint32_t left = words[group * 4 + k % 8 / 2][i / 2 + k / 8 * 2];
      const std::uint32_t right = words[column * 4 + k % 8 / 2][4 + k / 8];
      sum += low(left) * low(right) + high(left) * high(right);
    }
    c[i] += sum;
  }
}

inline void named_barrier(unsigned id, unsigned num_threads) {
  emulation::barrier("named_barrier", id, num_threads);
}

inline void wait_for_previous_kernel() { emulation::wait_for_previous_kernel(); }
inline void let_next_kernel_start() {}
inline void prefetch(const void*) {}
inline void prefetch_to_l2(const void*) {}
inline void hold_back(uint4&) {}

inline unsigned cluster_rank() { return emulation::cluster_rank(); }
inline unsigned cluster_size() { return emulation::cluster_size(); }
inline unsigned cluster_index() { return blockIdx.x / emulation::cluster_size(); }
inline void cluster_arrive() { emulation::cluster_arrive(); }
inline void cluster_arrive_relaxed() { emulation::cluster_arrive(); }
inline void cluster_wait() { emulation::cluster_wait(); }
inline void store_to_rank(float* target, unsigned rank, float value) {
  *emulation::at_rank(target, rank) = value;
}

inline void init_barrier(std::uint64_t* barrier, unsigned num_arrivals) {
  emulation::init_barrier(barrier, num_arrivals);
}
inline void store_async(float* target, std::uint64_t* barrier, unsigned rank, float value) {
  emulation::store_async(
      emulation::at_rank(target, rank),
      reinterpret_cast<std::uint64_t*>(emulation::at_rank(reinterpret_cast<float*>(barrier), rank)),
      value);
}
inline void fence_barrier_init() {}
inline void arrive(std::uint64_t* barrier) { emulation::arrive(barrier, 0); }
inline void arrive_expecting(std::uint64_t* barrier, std::uint32_t num_bytes) {
  emulation::arrive(barrier, num_bytes);
}
inline void wait(std::uint64_t* barrier, unsigned parity) { emulation::wait(barrier, parity); }
inline constexpr bool kHasBulkCopies = true;
inline void bulk_copy(void* target, const void* source, std::uint32_t num_bytes,
                      std::uint64_t* barrier) {
  emulation::bulk_copy(target, source, num_bytes, barrier);
}

}  // namespace depthcost::cuda
