// Which number of an estimate to compute with: an end of its interval, or the value.
#pragma once

#include "model/base/evidence.hpp"

namespace depthcost {

/// `value` is none of the two ends: it stands between them.
enum class IntervalEnd { low, value, high };

template <class Q>
constexpr Q at(const Estimate<Q>& estimate, IntervalEnd end) {
  if (end == IntervalEnd::low) return estimate.low;
  return end == IntervalEnd::high ? estimate.high : estimate.value;
}

/// The end of a rate that gives this end of a time.
constexpr IntervalEnd opposite(IntervalEnd end) {
  if (end == IntervalEnd::low) return IntervalEnd::high;
  return end == IntervalEnd::high ? IntervalEnd::low : IntervalEnd::value;
}

}  // namespace depthcost
