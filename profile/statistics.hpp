// The statistics of a fit. Resampling has a fixed seed, so that the same samples give the same
// profile, byte for byte.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"

namespace depthcost::profile {

/// Interpolated between the two nearest ranks. `values` is not empty; `share` in [0, 1].
double quantile(std::vector<double> values, double share);

/// One time for all repetitions: their lower quartile. A shared machine only adds to a time,
/// sometimes for whole rounds. The median moves when half of the rounds are bad, the minimum when
/// one is lucky.
inline double typical(std::span<const double> seconds) {
  return quantile({seconds.begin(), seconds.end()}, 0.25);
}

/// The next value lies below this with probability `share`: the quantile over the ranks of n + 1
/// values (Weibull 1939; type 6 of Hyndman and Fan 1996).
double next_below(std::vector<double> values, double share);

/// The typical time with its 90 % interval by the bootstrap (Efron 1979, percentile method).
Estimate<Seconds> typical_time(std::span<const double> seconds);

/// The share `inside` / `cases` with its 95 % interval (Wilson 1927); 0 to 1 without any cases.
Estimate<double> binomial_share(std::size_t inside, std::size_t cases);

}  // namespace depthcost::profile
