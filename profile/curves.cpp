// Three constants of the time formula from bandwidth over size: how many bytes must be in flight,
// the bandwidth of the cache, and the share of traffic that memory serves in between.
#include <algorithm>
#include <vector>

#include "profile/profile.hpp"

namespace depthcost::profile {
namespace {

// Above this share of the ceiling a call says little about small calls.
constexpr double kSaturated = 0.9;

// The time of smaller calls is mostly launch, and says nothing about the cache.
constexpr Bytes kSmallestCounted{4e6};

// So many footprints at one end show only the cache, and so many at the other only memory.
constexpr std::size_t kEndPoints = 3;

Seconds floor_of(const Machine& machine, Level level) {
  for (const LaunchFloor& floor : machine.floors)
    if (floor.launch == Launch::graph && floor.level == level &&
        floor.skeleton == Skeleton::elementwise)
      return floor.floor.value;
  return {};
}

/// Seconds per byte, without the floor.
double slope_of(const CurveSample& sample, Seconds floor) {
  return std::max(typical(sample.seconds) - floor.value, 0.0) / sample.bytes;
}

std::vector<CurveSample> curve_at(const Samples& samples, Temperature temperature) {
  std::vector<CurveSample> curve;
  for (const CurveSample& sample : samples.curves)
    if (sample.temperature == temperature &&
        (temperature == Temperature::cold || sample.footprint >= kSmallestCounted))
      curve.push_back(sample);
  std::sort(curve.begin(), curve.end(),
            [](const CurveSample& a, const CurveSample& b) { return a.footprint < b.footprint; });
  return curve;
}

void set_concurrency(const std::vector<CurveSample>& cold, Machine& machine) {
  std::vector<double> latencies;
  for (const CurveSample& sample : cold) {
    const double slope = slope_of(sample, floor_of(machine, Level::memory));
    double cap = machine.memory_ceiling.value;
    for (const ExactMixBandwidth& entry : machine.exact_bandwidth)
      if (entry.mix == sample.mix) cap = entry.bandwidth.value.value;
    if (slope == 0 || 1 / slope > kSaturated * cap) continue;
    // bandwidth = B q / (q + h), so h / B = q / bandwidth - q / B.
    latencies.push_back(sample.bytes * (slope - 1 / (kUncappedOverCeiling * cap)));
  }
  if (!latencies.empty()) machine.half_saturation = {std::max(0.0, quantile(latencies, 0.5))};
}

/// (t - t_cache) / (t_memory - t_cache), never falling.
void set_cache(const std::vector<CurveSample>& hot, Profile& profile) {
  Machine& machine = profile.machine;
  if (hot.size() <= 2 * kEndPoints) return;
  std::vector<double> slopes;
  for (const CurveSample& sample : hot)
    slopes.push_back(slope_of(sample, floor_of(machine, Level::cache)));
  std::vector<double> sorted = slopes;  // the fastest sizes show the cache
  std::sort(sorted.begin(), sorted.end());
  const double cache = quantile({sorted.begin(), sorted.begin() + kEndPoints}, 0.5);
  const double memory = quantile({slopes.end() - kEndPoints, slopes.end()}, 0.5);
  if (cache <= 0 || memory <= cache) return;
  const Mix& mix = hot.front().mix;
  const double share = static_cast<double>(mix.reads) / (mix.reads + mix.writes);
  const BytesPerSecond rate{1 / cache};
  machine.cache_bandwidth = {{share, {rate, rate, rate, Evidence::calibrated}}};
  machine.cache_ceiling = rate;
  profile.ceilings.push_back(
      {MemoryLevel::L2, 0, mix, "hot curves", {rate, rate, rate, Evidence::calibrated}});
  machine.transition.clear();
  double weight = 0;
  for (std::size_t i = 0; i < hot.size(); ++i) {
    weight = std::max(weight, std::clamp((slopes[i] - cache) / (memory - cache), 0.0, 1.0));
    machine.transition.push_back({hot[i].footprint, weight});
  }
}

}  // namespace

void set_curves(const Samples& samples, Profile& profile) {
  if (!samples.is_gpu()) return;
  set_concurrency(curve_at(samples, Temperature::cold), profile.machine);
  set_cache(curve_at(samples, Temperature::hot), profile);
}

}  // namespace depthcost::profile
