// The ceiling of one mix, ready to be timed beside a kernel.
#pragma once

#include <vector>

#include "microbench/cpu/bandwidth_kernel.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {

/// The variant that was fastest when this mix was first asked for, on arrays from memory. A mix of
/// fewer streams in the same proportions is tried too: a kernel may move its streams one by one.
class MixCeiling {
 public:
  /// All ceilings share one mapping, made at first use, that no kernel uses.
  explicit MixCeiling(const Mix& mix);

  /// Times it for at least kShortestSample.
  double seconds_per_byte();

 private:
  std::vector<BandwidthCall> sets_;
  std::size_t next_ = 0;
};

/// The ceiling of `mix`, chosen once in a process.
MixCeiling& ceiling_of(const Mix& mix);

}  // namespace depthcost::bench
