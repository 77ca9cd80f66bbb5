// A median and its interval, from few repetitions and without an assumption about their spread.
#pragma once

#include <vector>

namespace depthcost::bench {

struct Spread {
  double low = 0;
  double median = 0;
  double high = 0;

  /// Half the interval over the median.
  double relative() const { return (high - low) / 2 / median; }
};

/// The interval is that of the two ranks nearest to the median that hold it with a probability of
/// 90 % at least: of eight values the second and the seventh (93 %). Of four values or fewer no two
/// do, and it is that of all.
Spread spread_of(std::vector<double> values);

}  // namespace depthcost::bench
