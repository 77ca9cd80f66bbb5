// Benchmarks of the device run as those of the CPU. They are skipped without a device, and an error
// of CUDA fails only its benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <exception>
#include <optional>
#include <string>

#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_under_test.hpp"
#include "microbench/cuda/nvml.hpp"
#include "microbench/cuda/warm_up.hpp"
#include "microbench/harness/program.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {

/// Asks at most twice a second, because asking takes longer than some runs.
inline void count_clock(benchmark::State& state, const char* counter) {
  constexpr Seconds kBetweenLooks{0.5};
  static std::optional<unsigned> mhz;
  static std::optional<Clock::time_point> last;
  if (!last || Clock::now() - *last > kBetweenLooks) {
    mhz = clock_mhz(DeviceClock::sm);
    last = Clock::now();
  }
  if (mhz) state.counters[counter] = *mhz;
}

template <class Run>
void run_on_device(benchmark::State& state, const Run& run) {
  if (!cuda::has_device()) return state.SkipWithError(kNoCudaDevice);
  try {
    warm_up_device();
    count_clock(state, "sm_mhz_before");
    run(state);
    count_clock(state, "sm_mhz_after");
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

/// The time is the slope of `chains`. A counter says how far they are from linear.
inline void time_slope(benchmark::State& state, const Chains& chains, Launch launch,
                       Temperature temperature) {
  chains.front()();  // other cases have used the device since
  std::vector<double> deviations;
  for (auto _ : state) {
    const SlopeSample sample = sample_slope(chains, launch, temperature);
    state.SetIterationTime(sample.seconds);
    deviations.push_back(sample.deviation);
  }
  state.counters["deviation"] = median_of(deviations);
}

/// As add_benchmark, on the device.
template <class Run>
void add_device_benchmark(const std::string& name, const Run& run) {
  auto* benchmark = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    show_progress(name);
    run_on_device(state, run);
  });
  benchmark->UseManualTime()->Iterations(kSamplesPerRepetition)->Unit(benchmark::kMicrosecond);
  if (!cuda::has_device()) benchmark->Repetitions(1);
}

}  // namespace depthcost::bench
