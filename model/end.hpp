// Which end of an interval to compute with.
#pragma once

#include "model/evidence.hpp"

namespace depthcost {

enum class End { low, value, high };

template <class Q>
constexpr Q at(const Estimate<Q>& estimate, End end) {
  if (end == End::low) return estimate.low;
  return end == End::high ? estimate.high : estimate.value;
}

}  // namespace depthcost
