// How bandwidth depends on the size of a call. Cold: few bytes in flight do not reach the bandwidth
// of memory. Hot: a call finds in the cache what the call before has left.
#include <fmt/format.h>

#include "microbench/cuda/auxiliary_kernels.hpp"
#include "microbench/cuda/bandwidth_kernels.hpp"
#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_benchmark.hpp"
#include "microbench/cuda/prepared.hpp"
#include "microbench/cuda/rotation.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {
namespace {

/// h += f, without arithmetic.
constexpr Mix kMix{2, 1, 1};
constexpr std::size_t kArraysOfASet = 2;

/// Bytes of an array, from next to nothing to more than any cache.
constexpr std::size_t kSmallest = kArrayPieceBytes;
constexpr std::size_t kLargest = std::size_t{64} << 20;

struct CurvePoint {
  std::size_t size = 0;
  Temperature temperature = Temperature::cold;

  std::size_t bytes_per_set() const { return kArraysOfASet * size; }
  Rotation rotation() const {
    if (temperature == Temperature::hot) return {kHotSets, bytes_per_set()};
    return cold_rotation(bytes_per_set(), device_properties().cache_bytes, kLongestChain);
  }
};

Chains chains_at(const CurvePoint& point) {
  const Rotation rotation = point.rotation();
  std::byte* buffer = device_memory().allocate(rotation.num_sets * rotation.bytes_per_set);
  launch_fill(buffer, rotation.num_sets * rotation.bytes_per_set, device_cuda_stream());
  const LaunchNode node = [=](std::size_t i) {
    std::byte* set = buffer + i % rotation.num_sets * rotation.bytes_per_set;
    launch_bandwidth_kernel({.inputs = {set, set + point.size},
                             .outputs = {set},
                             .num_inputs = kMix.reads,
                             .num_outputs = kMix.writes,
                             .size = point.size},
                            {}, device_cuda_stream());
  };
  node(0);  // loads the kernel
  synchronise();
  return chains_of(Launch::graph, node);
}

void run_point(benchmark::State& state, const std::string& name, const CurvePoint& point) {
  const auto chains = kept<Chains>(name, [&] { return chains_at(point); });
  time_slope(state, *chains, Launch::graph, point.temperature);
  set_traffic(state, kMix, static_cast<double>(point.size) * (kMix.reads + kMix.writes));
}

void add_curve() {
  add_device_context();
  for (const Temperature temperature : {Temperature::cold, Temperature::hot})
    for (std::size_t size = kSmallest; size <= kLargest; size *= 2) {
      const CurvePoint point{size, temperature};
      // Hot: all bytes that are used between two uses of a byte.
      const std::string benchmark =
          fmt::format("cuda/curve/bf16/footprint:{}/graph/{}", kHotSets * point.bytes_per_set(),
                      name(temperature));
      add_device_benchmark(benchmark,
                           [=](benchmark::State& state) { run_point(state, benchmark, point); });
    }
}

const Registration kCurveRegistration(add_curve);

}  // namespace
}  // namespace depthcost::bench
