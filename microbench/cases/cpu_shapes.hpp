// The shapes that are measured on a CPU. Those of a GPU: microbench/cuda/device_shapes.hpp.
#pragma once

#include "microbench/cases/case_shape.hpp"
#include "profile/measured_shapes.hpp"

namespace depthcost::bench {

/// Bytes of one d-vector of all tokens, where operands come from memory. They are the same for
/// every width and type, so that one ceiling serves all.
inline constexpr std::size_t kVectorBytes = std::size_t{28} << 20;

inline constexpr std::size_t kWidths[] = {2304, 4096, 7168};

inline constexpr std::size_t kHeldOutWidth{profile::kHeldOutWidth};
inline constexpr std::size_t kHeldOutTokens{profile::kHeldOutTokens};
inline constexpr std::size_t kHeldOutBlocks = 5;

/// Batches of decoding.
inline constexpr std::size_t kBatches[] = {1, 64};

/// The most bytes of one d-vector of all tokens, where the number of tokens is given.
inline constexpr std::size_t kLargestVectorBytes = std::size_t{32} << 20;

/// So many tokens that a d-vector of all of them has kVectorBytes.
constexpr Shape large_shape(std::size_t hidden_size, std::size_t element_bytes) {
  return {.num_tokens = kVectorBytes / (hidden_size * element_bytes), .hidden_size = hidden_size};
}

}  // namespace depthcost::bench
