// Reads memory, as the benchmarks do, and measures the clock in between.
#include "microbench/cuda/warm_up.hpp"

#include <cstdio>
#include <vector>

#include "microbench/cuda/auxiliary_kernels.hpp"
#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_under_test.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {
namespace {

/// Sweeps until the clock is stable.
void warm_up() {
  std::vector<double> rates;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  while (elapsed() < kShortestWarmUp || (!is_stable(rates) && elapsed() < kLongestWarmUp)) {
    const double window_end = elapsed() + kWarmUpWindow;
    while (elapsed() < window_end) {
      sweep_cache();
      synchronise();
    }
    rates.push_back(sm_clock_rate(device_cuda_stream()));
  }
  std::fprintf(stderr, "warm after %.1f s: SM at %.0f MHz%s\n", elapsed(), rates.back() * 1e-6,
               is_stable(rates) ? "" : ", not stable");
}

}  // namespace

void warm_up_device() {
  static const bool once = [] {
    warm_up();
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace depthcost::bench
