// The message of a check of arguments, and buffers for the arguments.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/operations/bf16.hpp"
#include "kernels/operations/operations.hpp"

namespace depthcost::test {

inline constexpr std::size_t kTokens = 2;
inline constexpr std::size_t kSize = 4;
inline constexpr std::size_t kRow = kTokens * kSize;
inline constexpr std::size_t kStreams = 2;

/// Buffer `index` of many: aligned, and as large as any operand below.
inline float* buffer(std::size_t index) {
  constexpr std::size_t kBufferSize = 256;
  alignas(64) static std::array<float, 16 * kBufferSize> arena{};
  return arena.data() + index * kBufferSize;
}

inline MhcMapping mapping() { return {.phi = buffer(0), .bias = buffer(1)}; }

/// The message about `op` after `change(op)`.
template <class Op, class Change>
std::string complaint(Op op, const Change& change) {
  change(op);
  try {
    check(op);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing";
}

template <class Op>
std::string complaint(const Op& op) {
  return complaint(op, [](Op&) {});
}

}  // namespace depthcost::test
