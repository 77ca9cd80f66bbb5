// The constants of the time formula are found again from curves that obey it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "profile/profile.hpp"

namespace depthcost::profile::curves_test {
namespace {

constexpr double kFloor = 2e-6;
constexpr double kCap = 4e12;
constexpr double kCache = 8e12;
constexpr double kLatency = 150e-9;                        // h / B
constexpr double kUncapped = kCap * kUncappedOverCeiling;  // B
constexpr double kKneeBegin = 40e6;
constexpr double kKneeEnd = 72e6;

double memory_weight(double footprint) {
  return std::clamp((footprint - kKneeBegin) / (kKneeEnd - kKneeBegin), 0.0, 1.0);
}

double cold_seconds(double bytes) {
  return kFloor + bytes / std::min(kCap, kUncapped * bytes / (bytes + kLatency * kUncapped));
}

double hot_seconds(double footprint, double bytes) {
  const double weight = memory_weight(footprint);
  return kFloor + bytes * ((1 - weight) / kCache + weight / kCap);
}

Samples gpu_samples() {
  Samples samples{.path = "gpu.json", .machine = "CPU", .device = "GPU"};
  for (double size = 32768; size <= 64e6; size *= 1.5) {
    const double footprint = 4 * size;
    const double bytes = 3 * size;
    samples.curves.push_back({"cold",
                              {footprint},
                              Temperature::cold,
                              {2, 1, 1},
                              bytes,
                              Repetitions(5, cold_seconds(bytes))});
    samples.curves.push_back({"hot",
                              {footprint},
                              Temperature::hot,
                              {2, 1, 1},
                              bytes,
                              Repetitions(5, hot_seconds(footprint, bytes))});
  }
  return samples;
}

Profile gpu_profile() {
  Profile profile{.is_gpu = true};
  Machine& machine = profile.machine;
  machine.exact_bandwidth = {{{2, 1, 1}, {{kCap}, {kCap}, {kCap}}}};
  machine.memory_ceiling = {kCap};
  for (const Level level : {Level::cache, Level::memory})
    machine.floors.push_back(
        {Launch::graph, level, Skeleton::elementwise, {{kFloor}, {kFloor}, {kFloor}}});
  return profile;
}

TEST(Curves, GiveTheLatencyOfFewBytes) {
  Profile profile = gpu_profile();
  set_curves(gpu_samples(), profile);
  EXPECT_NEAR(profile.machine.half_saturation.value / kLatency, 1, 0.01);
}

TEST(Curves, GiveTheCacheAndWhereItEnds) {
  Profile profile = gpu_profile();
  set_curves(gpu_samples(), profile);
  const Machine& machine = profile.machine;
  ASSERT_EQ(machine.cache_bandwidth.size(), 1U);
  EXPECT_NEAR(machine.cache_bandwidth[0].bandwidth.value.value / kCache, 1, 0.01);
  ASSERT_FALSE(machine.transition.empty());
  for (const TransitionPoint& point : machine.transition)
    EXPECT_NEAR(point.memory_weight, memory_weight(point.footprint.value), 0.02)
        << point.footprint.value;
  EXPECT_EQ(profile.ceilings.size(), 1U);
}

TEST(Curves, AreOnlyAGpus) {
  Profile profile = gpu_profile();
  Samples samples = gpu_samples();
  samples.device = "";
  set_curves(samples, profile);
  EXPECT_TRUE(profile.machine.transition.empty());
}

}  // namespace
}  // namespace depthcost::profile::curves_test
