// Nothing but memory traffic on the device: as microbench/streams.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace depthcost::bench {

/// How a ceiling kernel goes about it. Which is fastest depends on the device and on the mix.
struct DeviceStreamVariant {
  enum class Access : std::uint8_t {
    plain,
    streaming,  // loads and stores with the hint that nothing is used again
    bulk,       // loads by the copy engine into shared memory, stores plain
  };

  Access access = Access::plain;
  unsigned vectors_side_by_side = 1;  // of 16 bytes, that a thread takes of each stream
  unsigned unroll = 1;                // times so many of each stream in flight
  unsigned ctas_per_sm = 0;           // that share out the whole; 0: a CTA for each piece
};

/// Reads for which there are kernels: those of the mixes of the fused operations.
inline constexpr std::array<unsigned, 7> kStreamReads{2, 3, 4, 5, 9, 10, 11};
inline constexpr unsigned kMostStreamReads = kStreamReads.back();
inline constexpr unsigned kMostStreamWrites = 25;

/// With more reads a thread has no registers for the variants that take most at once.
inline constexpr unsigned kFewReads = 5;

/// A stream is made of whole pieces.
inline constexpr std::size_t kStreamPieceBytes = 32768;

/// Every output becomes the exclusive or of all inputs. Outputs may be inputs.
struct DeviceStreams {
  std::array<const std::byte*, kMostStreamReads> inputs{};
  std::array<std::byte*, kMostStreamWrites> outputs{};
  unsigned num_inputs = 0;
  unsigned num_outputs = 0;
  std::size_t size = 0;  // bytes of a stream
};

/// Throws std::invalid_argument for what there is no kernel for.
void launch_streams(const DeviceStreams& streams, const DeviceStreamVariant& variant,
                    cudaStream_t cuda_stream);

}  // namespace depthcost::bench
