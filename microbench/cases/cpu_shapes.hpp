// The shapes that are measured on a CPU. On a GPU: shapes of microbench/cuda.
#pragma once

#include <vector>

#include "microbench/cases/case_shape.hpp"

namespace depthcost::bench {

/// Bytes of one d-vector of all tokens where operands come from memory. The same for every width
/// and type, so that one ceiling serves all.
inline constexpr std::size_t kVectorBytes = std::size_t{28} << 20;

inline constexpr std::size_t kWidths[] = {2304, 4096, 7168};

// Shapes that are measured, and never used to choose anything: a prediction is held against them.
inline constexpr std::size_t kHeldOutWidth = 5120;
inline constexpr std::size_t kHeldOutTokens = 3000;
inline constexpr std::size_t kHeldOutBlocks = 5;

/// Batches of decoding.
inline constexpr std::size_t kBatches[] = {1, 64};

/// Bytes of all arrays of a ceiling that lies in a cache. Fixed, not taken from what a machine
/// says of its caches: a guest is told its host's.
inline constexpr std::size_t kArrayBytesInL1 = std::size_t{24} << 10;
inline constexpr std::size_t kArrayBytesInL2 = std::size_t{768} << 10;
inline constexpr std::size_t kArrayBytesInL3 = std::size_t{12} << 20;

/// Where the number of tokens is given, at most this.
inline constexpr std::size_t kLargestVectorBytes = std::size_t{32} << 20;

/// Tokens of `kVectorBytes`.
constexpr Shape large_shape(std::size_t hidden_size, std::size_t element_bytes) {
  return {.num_tokens = kVectorBytes / (hidden_size * element_bytes), .hidden_size = hidden_size};
}

}  // namespace depthcost::bench
