// The cost of one more kernel: the slope of the time of kernel chains over their length. The
// intercept is the cost of the launch of a whole chain and of the events around it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace depthcost::bench {

inline constexpr std::size_t kChainLengths[] = {64, 128, 256, 512};
inline constexpr std::size_t kLongestChain = kChainLengths[std::size(kChainLengths) - 1];

/// A chain of `length` kernels takes `seconds`.
struct ChainTime {
  double length = 0;
  double seconds = 0;
};

/// seconds = intercept + slope * length.
struct Line {
  double intercept = 0;
  double slope = 0;

  constexpr double at(double length) const { return intercept + slope * length; }
};

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Theil and Sen's line: its slope is the median of the slopes of all pairs, so that one odd time
/// changes little. Needs two lengths at least.
inline Line theil_sen(std::span<const ChainTime> times) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < times.size(); ++i)
    for (std::size_t j = i + 1; j < times.size(); ++j)
      slopes.push_back((times[j].seconds - times[i].seconds) / (times[j].length - times[i].length));
  Line line{.slope = median_of(slopes)};
  std::vector<double> intercepts;
  for (const ChainTime& time : times) intercepts.push_back(time.seconds - line.slope * time.length);
  line.intercept = median_of(intercepts);
  return line;
}

inline constexpr double kLinearWithin = 0.02;

/// The largest |t / fit - 1|. Beyond kLinearWithin the chain is not linear (clocks, TLB, the upload
/// of the graph), and its slope is not the cost of a kernel.
inline double worst_deviation(std::span<const ChainTime> times, const Line& line) {
  double worst = 0;
  for (const ChainTime& time : times)
    worst = std::max(worst, std::abs(time.seconds / line.at(time.length) - 1));
  return worst;
}

/// |a / b - 1| of the slopes. Beyond kLinearWithin the slope depends on what ran before the chain.
inline double slope_distance(const Line& a, const Line& b) {
  return std::abs(a.slope / b.slope - 1);
}

}  // namespace depthcost::bench
