// A kernel that only moves memory: it reads r arrays and writes w, as fast as the CPU can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {

/// How the kernel moves them. Which variant is fastest depends on the machine and on the mix.
struct BandwidthVariant {
  enum class Order : std::uint8_t {
    by_line,     // a line of an array, then of the next
    by_lines,    // four lines of each
    by_row,      // a page of each
    one_by_one,  // a whole array: some memories slow down when many streams alternate
  };
  enum class Stores : std::uint8_t {
    cached,
    streaming,  // of outputs that are not inputs too: those lines are in the cache already
  };

  Order order = Order::by_lines;
  Stores stores = Stores::cached;
  std::size_t ahead = 0;  // bytes of an input that are fetched ahead of their use, but for by_row
};

/// `size` is a multiple of a page.
inline constexpr std::size_t kArrayPageBytes = 4096;

/// Far enough ahead for the latency of memory, and near enough for L1.
inline constexpr std::size_t kUsualAhead = 3072;

/// What one_by_one writes; in place, the bits that it changes.
inline constexpr std::uint64_t kWrittenWord = 0x5555555555555555;

/// Arrays of `size` bytes, aligned to 64. The first `in_place` outputs are the first inputs. Every
/// output becomes the exclusive or of all inputs; one_by_one has no sums of several arrays.
struct BandwidthCall {
  std::size_t size = 0;
  std::vector<const std::uint64_t*> inputs;
  std::vector<std::uint64_t*> outputs;
  std::size_t in_place = 0;
  BandwidthVariant variant;
};

void run_bandwidth_kernel(const BandwidthCall& call);

/// Word `at` of output `k` behind the next call.
std::uint64_t expected_word(const BandwidthCall& call, std::size_t k, std::size_t at);

}  // namespace depthcost::bench
