// One mapping for all cases: faulting in a gigabyte costs more than a sample.
#include "microbench/cpu.hpp"

#include "microbench/plan.hpp"
#include "microbench/shapes.hpp"

namespace depthcost::bench {

Space& host_memory() {
  // The rotation and one set more; the largest is Phase 1's: nine sources, 24 outputs, and f.
  constexpr std::size_t kMostVectors = 40;
  static const std::unique_ptr<Space> host =
      host_space(rotation_bytes() + kMostVectors * kLargestVectorBytes);
  return *host;
}

Space& small_memory() {
  static const std::unique_ptr<Space> host = host_space(std::size_t{64} << 20);
  return *host;
}

}  // namespace depthcost::bench
