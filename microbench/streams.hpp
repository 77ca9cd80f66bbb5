// Nothing but memory traffic: r streams read, w written, as fast as the CPU can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "microbench/mix.hpp"

namespace depthcost::bench {

/// How a ceiling kernel goes about it. Which is fastest depends on the machine and on the mix.
struct StreamVariant {
  enum class Order : std::uint8_t {
    by_line,  // a line of every stream in turn
    by_row,   // 4 KiB of a stream, then of the next: a page at a time
  };
  enum class Stores : std::uint8_t { cached, streaming };

  Order order = Order::by_line;
  Stores stores = Stores::cached;
};

/// Arrays of `size` bytes, a multiple of 4096, aligned to 64. `inputs` has mix.reads, `outputs`
/// mix.writes; every output becomes the exclusive or of all inputs.
struct StreamCall {
  std::size_t size = 0;
  std::vector<const std::uint64_t*> inputs;
  std::vector<std::uint64_t*> outputs;
  StreamVariant variant;
};

void run_streams(const StreamCall& call);

}  // namespace depthcost::bench
