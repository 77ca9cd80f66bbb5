// Which end of an interval to compute with.
#pragma once

#include <array>

#include "model/base/evidence.hpp"

namespace depthcost {

enum class End { low, value, high };

inline constexpr std::array kEnds{End::low, End::value, End::high};

/// That end of `estimate`, itself.
template <class Q>
constexpr Q at(const Estimate<Q>& estimate, End end) {
  if (end == End::low) return estimate.low;
  return end == End::high ? estimate.high : estimate.value;
}

/// What is high where `end` is low: a rate for a time.
constexpr End opposite(End end) {
  if (end == End::low) return End::high;
  return end == End::high ? End::low : End::value;
}

}  // namespace depthcost
