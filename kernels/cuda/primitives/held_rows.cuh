// Sixteen rows of a bf16 matrix in the registers of a warp, up to kHeldColumns of each, as first
// operands of tensor cores. They are parameters: they may be loaded while the kernel before still
// runs, and meet any number of columns afterwards. Lanes take eight consecutive elements, as in
// projection.cuh.
#pragma once

#include "kernels/cuda/primitives/projection.cuh"

namespace depthcost::cuda {

/// A vector of each of the lane's two rows: both halves of a step of 32 elements.
struct RowPair {
  uint4 upper;  // row lane_group()
  uint4 lower;  // row lane_group() + 8

  __device__ void multiply(const uint4& column, float (&sums)[4]) const {
    const std::uint32_t first[4] = {upper.x, lower.x, upper.y, lower.y};
    const std::uint32_t second[4] = {upper.z, lower.z, upper.w, lower.w};
    mma_bf16(sums, first, column.x, column.y);
    mma_bf16(sums, second, column.z, column.w);
  }
};

struct HeldRows {
  RowPair steps[kHeldSteps];

  /// `upper` and `lower` are the lane's rows, of which `size` elements are there. A null row is
  /// zero.
  __device__ void load(const Bf16* upper, const Bf16* lower, unsigned size) {
#pragma unroll
    for (unsigned step = 0; step < kHeldSteps; ++step) {
      const unsigned e = step * kProjectionStep + lane_quarter() * 8;
      steps[step] = {};
      if (e < size && upper != nullptr) steps[step].upper = load_vector(upper + e);
      if (e < size && lower != nullptr) steps[step].lower = load_vector(lower + e);
    }
  }
};

}  // namespace depthcost::cuda
