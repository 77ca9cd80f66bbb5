// Storage types and doubles. A stored value becomes a double exactly; a double is rounded once, to
// nearest even, when it is stored.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/operations/bf16.hpp"

namespace depthcost::reference {

inline double to_double(double value) { return value; }
inline double to_double(float value) { return static_cast<double>(value); }
inline double to_double(Bf16 value) { return static_cast<double>(static_cast<float>(value)); }

/// `value` as a float rounded to odd: truncated, the last bit set if anything was cut off. A second
/// rounding to fewer bits then sees on which side of a tie `value` lies.
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (!std::isfinite(nearest) || to_double(nearest) == value) return nearest;
  auto word = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(to_double(nearest)) > std::abs(value)) --word;
  return std::bit_cast<float>(word | 1U);
}

template <class T>
T round_to(double value) {
  return static_cast<T>(value);
}
template <>
inline Bf16 round_to<Bf16>(double value) {
  return Bf16(round_to_odd(value));
}

}  // namespace depthcost::reference
