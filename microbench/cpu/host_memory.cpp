// One mapping for all cases: page faults of a gigabyte take longer than a sample.
#include "microbench/cpu/host_memory.hpp"

#include "microbench/cases/cpu_shapes.hpp"
#include "microbench/harness/sampling.hpp"

namespace depthcost::bench {

Arena& host_memory() {
  // The rotation and one set more. The largest is that of Phase 1 backward: 8 rows, 24 gradients of
  // mixes and 8 of rows.
  constexpr std::size_t kMostVectors = 40;
  static const std::unique_ptr<Arena> host =
      host_arena(rotation_bytes() + kMostVectors * kLargestVectorBytes);
  return *host;
}

Arena& ceiling_memory() {
  static const std::unique_ptr<Arena> host = host_arena(rotation_bytes());
  return *host;
}

Arena& small_memory() {
  static const std::unique_ptr<Arena> host = host_arena(std::size_t{64} << 20);
  return *host;
}

}  // namespace depthcost::bench
