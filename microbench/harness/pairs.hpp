// A kernel is timed between two samples of its ceiling. Their ratio holds where the machine's speed
// changes from minute to minute, since both had the same minute.
#pragma once

#include <algorithm>
#include <vector>

#include "microbench/harness/sampling.hpp"
#include "microbench/harness/slope.hpp"

namespace depthcost::bench {

/// The ceiling may change by so much from before a sample to after it.
inline constexpr double kSteadyWithin = 0.05;

/// A kernel's sample and its share of the ceiling just then.
struct Pair {
  Sample kernel;
  double of_ceiling = 0;
  double disturbed_share = 0;
};

/// `before` and `after`: seconds that the ceiling took for the kernel's bytes.
inline Pair pair_of(const Sample& kernel, double before, double after) {
  const double change = std::max(before, after) / std::min(before, after) - 1;
  return {.kernel = kernel,
          .of_ceiling = (before + after) / 2 / kernel.seconds,
          .disturbed_share = kernel.disturbed_share + (change <= kSteadyWithin ? 0 : change)};
}

/// As sample(), of a call that moves `bytes`. `seconds_per_byte()` times the ceiling. The counter
/// "of_ceiling" becomes the median of the samples' shares.
template <class Run, class TimeCeiling>
void sample_beside(benchmark::State& state, std::size_t calls, double bytes, const Run& run,
                   const TimeCeiling& seconds_per_byte) {
  std::vector<double> shares;
  double last = bytes * seconds_per_byte();
  take_samples(state, [&] {
    const Pair pair = calmest([&] {
      const double before = last;
      const Sample kernel = time_calls(calls, run);
      last = bytes * seconds_per_byte();
      return pair_of(kernel, before, last);
    });
    shares.push_back(pair.of_ceiling);
    return Sample{pair.kernel.seconds, pair.disturbed_share};
  });
  state.counters["of_ceiling"] = median_of(shares);
}

}  // namespace depthcost::bench
