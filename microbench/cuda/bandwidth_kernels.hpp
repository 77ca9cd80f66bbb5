// Kernels that only move memory, as microbench/cpu/bandwidth_kernel.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace depthcost::bench {

/// How the kernel moves it. Which variant is fastest depends on the device and on the mix.
struct DeviceBandwidthVariant {
  enum class Access : std::uint8_t {
    plain,
    streaming,  // loads and stores with the hint that nothing is used again
    bulk,       // loads by the copy engine into shared memory, stores plain
  };

  Access access = Access::plain;
  unsigned vectors_side_by_side = 1;  // vectors of 16 bytes that a thread reads of each array
  unsigned unroll = 1;                // so many times as many are in flight
  unsigned ctas_per_sm = 0;           // CTAs that share the arrays; 0: a CTA for each piece
};

/// Numbers of reads that kernels exist for: those of the mixes of the fused operations and of
/// backward passes.
inline constexpr std::array<unsigned, 13> kArrayReads{1, 2, 3, 4, 5, 6, 9, 10, 11, 13, 18, 19, 40};
inline constexpr unsigned kMostArrayReads = kArrayReads.back();
inline constexpr unsigned kMostArrayWrites = 25;

/// With more reads a thread lacks registers for the widest variants.
inline constexpr unsigned kFewReads = 5;
/// With more than these, for all but the narrowest. Then four CTAs of bulk copies lack shared
/// memory for a chunk of every array.
inline constexpr unsigned kManyReads = 19;

/// The size of an array is a multiple of a piece.
inline constexpr std::size_t kArrayPieceBytes = 32768;

/// Every output becomes the exclusive or of all inputs. Outputs may be inputs.
struct DeviceArrays {
  std::array<const std::byte*, kMostArrayReads> inputs{};
  std::array<std::byte*, kMostArrayWrites> outputs{};
  unsigned num_inputs = 0;
  unsigned num_outputs = 0;
  std::size_t size = 0;  // bytes of an array
};

/// Throws std::invalid_argument where no such kernel exists.
void launch_bandwidth_kernel(const DeviceArrays& arrays, const DeviceBandwidthVariant& variant,
                             cudaStream_t cuda_stream);

}  // namespace depthcost::bench
