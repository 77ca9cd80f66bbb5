// Nothing but memory traffic: r arrays read, w written, as fast as the CPU can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {

/// How a ceiling kernel goes about it. Which is fastest depends on the machine and on the mix.
struct BandwidthVariant {
  enum class Order : std::uint8_t {
    by_lines,  // four lines of an array, then of the next
    by_row,    // a page of an array, then of the next
  };
  enum class Stores : std::uint8_t {
    cached,
    streaming,  // of outputs that are not inputs too: those lines are in the cache already
  };

  Order order = Order::by_lines;
  Stores stores = Stores::cached;
  std::size_t ahead = 0;  // bytes of an input that are fetched ahead of their use, by_lines
};

/// A page: what `size` is a multiple of.
inline constexpr std::size_t kArrayPageBytes = 4096;

/// Far enough ahead for the latency of memory, and near enough for L1.
inline constexpr std::size_t kUsualAhead = 3072;

/// Arrays of `size` bytes, aligned to 64. `inputs` has mix.reads, `outputs`
/// mix.writes, the first mix.in_place of which are the first inputs; every output becomes the
/// exclusive or of all inputs.
struct BandwidthCall {
  std::size_t size = 0;
  std::vector<const std::uint64_t*> inputs;
  std::vector<std::uint64_t*> outputs;
  std::size_t in_place = 0;
  BandwidthVariant variant;
};

void run_bandwidth_kernel(const BandwidthCall& call);

}  // namespace depthcost::bench
