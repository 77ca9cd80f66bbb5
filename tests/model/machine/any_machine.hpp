// Random devices for property tests. A cache is never slower than the memory behind it, and no rate
// is above its ceiling; intervals may cross both.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "model/ledger/path_operations.hpp"
#include "model/machine/machine.hpp"
#include "model/schemes/list.hpp"

#include "tests/constants.hpp"

namespace depthcost::test {

/// A real number in [low, high].
inline double any_real(double low, double high) {
  constexpr int kSteps = 1'000'000;
  return low + (high - low) * *rc::gen::inRange(0, kSteps + 1) / kSteps;
}

template <class Q>
Estimate<Q> any_estimate(double low, double high) {
  std::vector<double> ends{any_real(low, high), any_real(low, high), any_real(low, high)};
  std::sort(ends.begin(), ends.end());
  return {{ends[0]},
          {ends[1]},
          {ends[2]},
          *rc::gen::element(Evidence::measured, Evidence::calibrated, Evidence::published)};
}

inline std::vector<MixBandwidth> any_bandwidth(double low, double high) {
  std::vector<MixBandwidth> points;
  for (const double read_share : {0.0, 0.5, 0.75, 1.0})
    if (read_share == 1 || *rc::gen::arbitrary<bool>())
      points.push_back({read_share, any_estimate<BytesPerSecond>(low, high)});
  return points;
}

inline BytesPerSecond any_ceiling(const std::vector<MixBandwidth>& points, double high) {
  double least = 0;
  for (const MixBandwidth& point : points) least = std::max(least, point.bandwidth.value.value);
  return {any_real(least, std::max(least, high))};
}

inline std::optional<FlopsPerSecond> any_rate() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return FlopsPerSecond{any_real(1e12, 1e15)};
}

inline Machine any_machine() {
  Machine machine;
  // Below the bandwidth of any cache over kUncappedOverCeiling, so that more bytes in flight are
  // never faster than the cache.
  machine.memory_bandwidth = any_bandwidth(1e12, 3e12);
  machine.memory_ceiling = any_ceiling(machine.memory_bandwidth, 3e12);
  if (*rc::gen::arbitrary<bool>()) {
    machine.cache_bandwidth = any_bandwidth(5e12, 20e12);
    machine.cache_ceiling = any_ceiling(machine.cache_bandwidth, 20e12);
    const double begin = any_real(1e6, 100e6);
    machine.transition = {
        {{begin}, any_real(0, 0.3)}, {{1.5 * begin}, any_real(0.3, 0.7)}, {{2 * begin}, 1}};
  }
  for (const Launch launch : {Launch::stream, Launch::graph, Launch::graph_pdl})
    for (const Level level : {Level::cache, Level::memory})
      for (const Skeleton skeleton : {Skeleton::elementwise, Skeleton::row_reduction})
        machine.floors.push_back({launch, level, skeleton, any_estimate<Seconds>(0, 5e-6)});
  machine.half_saturation = {*rc::gen::element(0.0, 0.14e-6, 1e-6)};
  if (*rc::gen::arbitrary<bool>())
    machine.few_tokens =
        few_tokens(*rc::gen::inRange<Count>(1, 200),
                   {*rc::gen::element(RowLoads::loop, RowLoads::ring),
                    *rc::gen::element(Prefetch::none, Prefetch::before_start),
                    *rc::gen::element(Projection::whole, Projection::split, Projection::either)});
  machine.engine = constants().engine;
  machine.vector_rate = any_rate();
  machine.tensor_rate = any_rate();
  return machine;
}

inline Launch any_launch() {
  return *rc::gen::element(Launch::stream, Launch::graph, Launch::graph_pdl);
}

inline Attachment any_attachment() {
  return *rc::gen::element(Attachment::standalone, Attachment::all_reduce,
                           Attachment::reduce_scatter, Attachment::gemm_epilogue);
}

/// Any scheme on up to `most` layers.
inline ResidualPath any_path(Count most) {
  const Count num_layers = *rc::gen::inRange<Count>(1, most + 1);
  const Partition blocks =
      partition_by_size(num_layers, *rc::gen::inRange<Count>(1, num_layers + 1));
  const Count num_streams = *rc::gen::inRange<Count>(1, 9);
  return {*rc::gen::element<Scheme>(Scheme{schemes::kStandard},
                                    Scheme{schemes::kMhc, {.num_streams = num_streams}},
                                    Scheme{schemes::kFullAttnRes, {.blocks = blocks}},
                                    Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}),
          num_layers, any_attachment()};
}

inline Schedule any_schedule(const Scheme& scheme) {
  const auto schedules = scheme.rule->schedules;
  return schedules[*rc::gen::inRange<std::size_t>(0, schedules.size())];
}

/// 1 to a million; small numbers are as likely as large ones.
inline double any_tokens() {
  const Count magnitude = *rc::gen::element<Count>(1, 10, 100, 1000, 10'000, 100'000);
  return static_cast<double>(*rc::gen::inRange<Count>(magnitude, 10 * magnitude + 1));
}

}  // namespace depthcost::test
