// How often and how long a call is timed. The work is fixed, so that a run always takes as long.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "microbench/harness/interruptions.hpp"

namespace depthcost::bench {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

inline constexpr int kSamplesPerRepetition = 3;
inline constexpr Seconds kShortestSample{10e-3};
inline constexpr Seconds kWarmUp{0.02};

/// Bytes that other operands take between two uses of an operand, so that it comes from memory: 512
/// MiB, or twice the largest cache level that the machine reports, all caches of that level
/// together.
std::size_t rotation_bytes();

/// Calls `run` until the machine is warm. Returns the number of calls of a sample.
template <class Run>
std::size_t calls_per_sample(const Run& run) {
  std::size_t calls = 0;
  const auto start = Clock::now();
  Seconds elapsed{0};
  while (elapsed < kWarmUp) {
    run();
    ++calls;
    elapsed = Clock::now() - start;
  }
  const double shortest = kShortestSample / elapsed * static_cast<double>(calls);
  return static_cast<std::size_t>(shortest) + 1;
}

/// One sample, and what disturbed the machine meanwhile: 0 if nothing did.
struct Sample {
  double seconds = 0;  // of one call
  double disturbed_share = 0;
};

inline constexpr int kMostTries = 5;

/// DEPTHCOST_TRIES asks for fewer: a machine that is never quiet takes all of them each time.
inline int most_tries() {
  const char* tries = std::getenv("DEPTHCOST_TRIES");
  return tries == nullptr ? kMostTries : std::clamp(std::atoi(tries), 1, kMostTries);
}

/// The first undisturbed sample that `take` returns, else the least disturbed of most_tries().
template <class Take>
auto calmest(const Take& take) {
  auto best = take();
  const int most = most_tries();
  for (int tries = 1; tries < most && best.disturbed_share > 0; ++tries)
    if (const auto next = take(); next.disturbed_share < best.disturbed_share) best = next;
  return best;
}

template <class Run>
Sample time_calls(std::size_t calls, const Run& run) {
  const long before = interruptions();
  const auto start = Clock::now();
  for (std::size_t i = 0; i < calls; ++i) run();
  const Seconds elapsed = Clock::now() - start;
  return {elapsed.count() / static_cast<double>(calls),
          static_cast<double>(interruptions() - before)};
}

/// Sets the time of every iteration of `state` to that of a sample; the counter "disturbed" says
/// which share of them was disturbed all the same.
template <class Take>
void take_samples(benchmark::State& state, const Take& take) {
  int disturbed = 0;
  for (auto _ : state) {
    const Sample sample = take();
    state.SetIterationTime(sample.seconds);
    if (sample.disturbed_share > 0) ++disturbed;
  }
  state.counters["disturbed"] = static_cast<double>(disturbed) / kSamplesPerRepetition;
}

/// Samples are the time of one call, averaged over `calls` in a row.
template <class Run>
void sample(benchmark::State& state, std::size_t calls, const Run& run) {
  take_samples(state, [&] { return calmest([&] { return time_calls(calls, run); }); });
}

/// Prints to stderr every few seconds which run has begun: results come only at the end.
void show_progress(const std::string& name);

/// Adds a benchmark that is sampled in this way. `run(state)` sets the time of each iteration.
template <class Run>
void add_benchmark(const std::string& name, const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 show_progress(name);
                                 run(state);
                               })
      ->UseManualTime()
      ->Iterations(kSamplesPerRepetition)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace depthcost::bench
