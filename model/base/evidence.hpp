// How well a number is known: its 90 % interval and where it comes from.
#pragma once

#include <algorithm>

#include "model/base/enum_names.hpp"

namespace depthcost {

/// Best first. A result carries the weakest of its inputs.
enum class Evidence {
  measured,    // here, by our own benchmark
  calibrated,  // from a machine profile
  published,   // somebody else's measurement, cited
  datasheet,
  assumed,
};

constexpr Evidence weakest(Evidence a, Evidence b) { return std::max(a, b); }

/// A value with the ends of its 90 % interval.
template <class Q>
struct Estimate {
  Q low{};
  Q value{};
  Q high{};
  Evidence evidence = Evidence::assumed;

  /// Numbers that are low or high together.
  friend constexpr Estimate operator+(const Estimate& a, const Estimate& b) {
    return {a.low + b.low, a.value + b.value, a.high + b.high, weakest(a.evidence, b.evidence)};
  }
  friend constexpr Estimate& operator+=(Estimate& a, const Estimate& b) { return a = a + b; }
  friend constexpr Estimate operator*(double k, const Estimate& a) {
    return {k * a.low, k * a.value, k * a.high, a.evidence};
  }
};

/// Width of the interval, relative to the value.
template <class Q>
constexpr double relative_width(const Estimate<Q>& estimate) {
  return (estimate.high - estimate.low) / estimate.value;
}

/// A value whose interval reaches `scatter` of it to both sides.
template <class Q>
constexpr Estimate<Q> around(Q value, double scatter, Evidence evidence) {
  return {(1 - scatter) * value, value, (1 + scatter) * value, evidence};
}

}  // namespace depthcost
