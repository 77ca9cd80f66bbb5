// Sinkhorn's iteration alone, as many matrices at a time as there are lanes.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sinkhorn.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/sinkhorn.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"
#include "kernels/operations/mhc.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

void sinkhorn_range(const Sinkhorn& op, TokenRange range) {
  thread_local Buffer<float> workspace;
  const std::size_t size = op.num_streams * op.num_streams;
  float* lanes = workspace.at_least(size * kLanes);
  for (std::size_t first = range.begin; first < range.end; first += kLanes) {
    const std::size_t count = std::min(kLanes, range.end - first);
    float* matrices = op.matrices + first * size;
    // Lanes without a matrix work on ones.
    std::fill_n(lanes, size * kLanes, 1.0F);
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t e = 0; e < size; ++e) lanes[e * kLanes + lane] = matrices[lane * size + e];
    sinkhorn_lanes(lanes, op.num_streams, op.iterations, op.order);
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t e = 0; e < size; ++e) matrices[lane * size + e] = lanes[e * kLanes + lane];
  }
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(sinkhorn_range);

void run(const Sinkhorn& op) {
  check(op);
  const auto run = HWY_DYNAMIC_DISPATCH(sinkhorn_range);
  const std::size_t size = op.num_streams * op.num_streams;
  // A matrix costs arithmetic and not traffic: two operations per element and iteration.
  for_each_range(op.count, 4 * op.iterations * size * sizeof(float),
                 [&](TokenRange range) { run(op, range); });
}

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
