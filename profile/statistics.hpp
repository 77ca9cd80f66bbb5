// The few statistics that a fit needs. Nothing is drawn at random: resampling is seeded, so that
// the same samples give the same profile, byte for byte.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace depthcost::profile {

/// Between the two nearest ranks. `values` is not empty; `share` in [0, 1].
double quantile(std::vector<double> values, double share);

/// What stands for the repetitions of one time: the lower quartile. A shared machine only ever adds
/// to a time, for whole rounds now and then: a median moves when half of them are bad, the minimum
/// with one lucky one.
inline double typical(std::span<const double> seconds) {
  return quantile({seconds.begin(), seconds.end()}, 0.25);
}

/// A number and the ends of an interval: of 90 % unless whoever makes it says otherwise.
struct Interval {
  double low = 0;
  double value = 0;
  double high = 0;

  /// Of the whole width, relative to the value.
  double relative_width() const { return (high - low) / value; }
};

/// The typical time with its interval by the bootstrap (Efron 1979, percentile method).
Interval typical_interval(std::span<const double> seconds);

/// Of `inside` successes in `cases`: share and 95 % interval (Wilson 1927). Of none nothing is
/// known: anything from 0 to 1.
Interval binomial_share(std::size_t inside, std::size_t cases);

}  // namespace depthcost::profile
