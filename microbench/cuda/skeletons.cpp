// The floor `a` of the time formula on the device, for each skeleton, launch mode and level: the
// slope of chains of kernels that move next to nothing.
#include <fmt/format.h>

#include "microbench/cuda/auxiliary_kernels.hpp"
#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_benchmark.hpp"
#include "microbench/cuda/prepared.hpp"
#include "microbench/cuda/rotation.hpp"
#include "microbench/cuda/skeleton_kernels.hpp"

namespace depthcost::bench {
namespace {

using cuda::Skeleton;

/// How many CTAs are started: starting them takes time, too.
enum class Grid { one, sms };

std::string_view name(Skeleton skeleton) {
  switch (skeleton) {
    case Skeleton::elementwise:
      return "elementwise";
    case Skeleton::row_reduction:
      return "row_reduction";
    case Skeleton::cluster_reduction:
      return "cluster_reduction";
  }
  return "";
}
std::string_view name(Grid grid) { return grid == Grid::one ? "one" : "sms"; }

/// A whole number of clusters.
unsigned num_ctas(Skeleton skeleton, Grid grid) {
  const unsigned ranks = skeleton == Skeleton::cluster_reduction ? kSkeletonClusterSize : 1;
  return grid == Grid::one ? ranks : device_properties().num_sms / ranks * ranks;
}

/// Vectors that are read and, after all of these, vectors that are written, for so many calls that
/// all stay cold.
struct Vectors {
  Rotation rotation;
  std::byte* data = nullptr;

  explicit Vectors(unsigned ctas)
      : rotation(cold_rotation(2 * ctas * kSkeletonBytes, device_properties().cache_bytes,
                               kLongestChain)) {
    const std::size_t num_bytes = rotation.num_sets * rotation.bytes_per_set;
    data = device_memory().allocate(num_bytes);
    launch_fill(data, num_bytes, device_cuda_stream());
    synchronise();
  }
};

struct SkeletonChains {
  Vectors vectors;
  Chains chains;
};

std::shared_ptr<SkeletonChains> chains_for(const std::string& benchmark, Skeleton skeleton,
                                           Grid grid, Launch launch, Temperature temperature) {
  return kept<SkeletonChains>(benchmark, [=] {
    const unsigned ctas = num_ctas(skeleton, grid);
    const Vectors vectors(ctas);
    const std::size_t num_sets =
        temperature == Temperature::hot ? kHotSets : vectors.rotation.num_sets;
    const LaunchNode node = [=](std::size_t i) {
      std::byte* set = vectors.data + i % num_sets * vectors.rotation.bytes_per_set;
      launch_skeleton({skeleton, ctas, set, set + vectors.rotation.bytes_per_set / 2},
                      launch_options(launch));
    };
    node(0);  // loads the kernel
    synchronise();
    return SkeletonChains{vectors, chains_of(launch, node)};
  });
}

void add_skeleton(Skeleton skeleton, Grid grid, Launch launch) {
  for (const Level level : {Level::cache, Level::memory}) {
    const Temperature temperature = level == Level::cache ? Temperature::hot : Temperature::cold;
    const std::string benchmark = fmt::format("cuda/skeleton/{}/ctas:{}/{}/{}", name(skeleton),
                                              name(grid), name(launch), name(level));
    add_device_benchmark(benchmark, [=](benchmark::State& state) {
      const auto kept_chains = chains_for(benchmark, skeleton, grid, launch, temperature);
      time_slope(state, kept_chains->chains, launch, temperature);
    });
  }
}

/// A kernel without memory traffic: only launching takes time.
void add_empty(Grid grid, Launch launch) {
  const std::string benchmark =
      fmt::format("cuda/skeleton/empty/ctas:{}/{}", name(grid), name(launch));
  add_device_benchmark(benchmark, [=](benchmark::State& state) {
    const auto chains = kept<Chains>(benchmark, [=] {
      const unsigned ctas = num_ctas(Skeleton::elementwise, grid);
      launch_empty(ctas, launch_options(launch));
      synchronise();
      return chains_of(launch, [=](std::size_t) { launch_empty(ctas, launch_options(launch)); });
    });
    time_slope(state, *chains, launch, Temperature::hot);
  });
}

void add_all() {
  add_device_context();
  for (const Launch launch : {Launch::stream, Launch::graph, Launch::graph_pdl})
    for (const Grid grid : {Grid::one, Grid::sms}) {
      add_empty(grid, launch);
      for (const Skeleton skeleton :
           {Skeleton::elementwise, Skeleton::row_reduction, Skeleton::cluster_reduction})
        add_skeleton(skeleton, grid, launch);
    }
}

const Registration kRegistration(add_all);

}  // namespace
}  // namespace depthcost::bench
