// Each value lies below the median of what it was drawn from with probability 1/2, so that the
// ranks that hold it are binomial.
#include "microbench/results/spread.hpp"

#include <algorithm>
#include <cmath>

#include "microbench/harness/slope.hpp"

namespace depthcost::bench {
namespace {

constexpr double kShare = 0.90;

/// The probability that at least `rank` + 1 of `count` values lie on each side of the median.
double share_between(std::size_t rank, std::size_t count) {
  double probability = std::pow(0.5, static_cast<double>(count));
  double outside = 0;
  for (std::size_t k = 0; k <= rank; ++k) {
    outside += 2 * probability;
    probability *= static_cast<double>(count - k) / static_cast<double>(k + 1);
  }
  return 1 - outside;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t rank = 0;
  while (rank + 1 < values.size() / 2 && share_between(rank + 1, values.size()) >= kShare) ++rank;
  return {values[rank], median_of(values), values[values.size() - 1 - rank]};
}

}  // namespace depthcost::bench
