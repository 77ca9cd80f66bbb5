// bfloat16 as a storage type: the upper half of a float, rounded to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace depthcost {

struct Bf16 {
  std::uint16_t bits = 0;

  Bf16() = default;
  explicit Bf16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    // A NaN stays one: rounding could carry its payload away into infinity.
    bits = std::isnan(value)
               ? static_cast<std::uint16_t>((word >> 16) | 0x40U)
               : static_cast<std::uint16_t>((word + 0x7FFFU + ((word >> 16) & 1U)) >> 16);
  }

  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

static_assert(sizeof(Bf16) == 2);

}  // namespace depthcost
