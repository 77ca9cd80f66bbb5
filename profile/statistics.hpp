// The few statistics that a fit needs. Nothing is drawn at random: resampling is seeded, so that
// the same samples give the same profile, byte for byte.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/base/evidence.hpp"

namespace depthcost::profile {

/// Between the two nearest ranks. `values` is not empty; `share` in [0, 1].
double quantile(std::vector<double> values, double share);

/// What stands for the repetitions of one time: the lower quartile. A shared machine only ever adds
/// to a time, for whole rounds now and then: a median moves when half of them are bad, the minimum
/// with one lucky one.
inline double typical(std::span<const double> seconds) {
  return quantile({seconds.begin(), seconds.end()}, 0.25);
}

/// The typical time with its interval by the bootstrap (Efron 1979, percentile method).
Estimate<double> typical_interval(std::span<const double> seconds);

/// Of `inside` successes in `cases`: share and 95 % interval (Wilson 1927). Of none nothing is
/// known: anything from 0 to 1.
Estimate<double> binomial_share(std::size_t inside, std::size_t cases);

}  // namespace depthcost::profile
