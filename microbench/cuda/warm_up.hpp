// A device is warm when its clock has stopped rising.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace depthcost::bench {

inline constexpr double kWarmUpWindow = 0.05;  // seconds between two measurements of the clock
inline constexpr double kShortestWarmUp = 1;
inline constexpr double kLongestWarmUp = 5;

/// Whether the last three of the clock's rates are within 1 % of each other.
inline bool is_stable(std::span<const double> rates) {
  constexpr std::size_t kLooks = 3;
  constexpr double kWithin = 0.01;
  if (rates.size() < kLooks) return false;
  const auto last = rates.last(kLooks);
  const auto [low, high] = std::minmax_element(last.begin(), last.end());
  return *high <= *low * (1 + kWithin);
}

/// Keeps the device busy until it is warm: once per program.
void warm_up_device();

}  // namespace depthcost::bench
