// Sums over the threads that share a row: a warp, warps of a CTA, or a cluster. The order of the
// additions depends on the shape of the launch only, so results repeat bit by bit.
#pragma once

#include "kernels/cuda/primitives/ptx.cuh"

namespace depthcost::cuda {

__device__ inline unsigned lane_id() { return threadIdx.x % kWarpSize; }

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (unsigned offset = kWarpSize / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(kFullMask, value, offset);
  return value;
}

/// Lanes that hold the same one of kCount values behind warp_sums.
template <unsigned kCount>
inline constexpr unsigned kLanesPerValue = kWarpSize / kCount;

/// Sums kCount values, a power of two up to 32, over the warp at once; lane l is given the sum of
/// value l / kLanesPerValue. Each step halves the values that a lane is responsible for, so that it
/// takes about kCount shuffles and not 5 kCount. Destroys `values`.
template <unsigned kCount>
__device__ float warp_sums(float (&values)[kCount]) {
  static_assert(kCount <= kWarpSize && (kCount & (kCount - 1)) == 0);
  unsigned count = kCount;
#pragma unroll
  for (unsigned offset = kWarpSize / 2; offset > 0; offset /= 2) {
    if (count == 1) {
      values[0] += __shfl_xor_sync(kFullMask, values[0], offset);
      continue;
    }
    count /= 2;
    const bool keeps_upper = (lane_id() & offset) != 0;
#pragma unroll
    for (unsigned i = 0; i < (kCount + 1) / 2; ++i) {
      if (i >= count) break;
      const float kept = keeps_upper ? values[i + count] : values[i];
      const float given = keeps_upper ? values[i] : values[i + count];
      values[i] = kept + __shfl_xor_sync(kFullMask, given, offset);
    }
  }
  return values[0];
}

/// The threads that share a row. Warps of all ranks push their sums to every rank, then one
/// barrier, then every warp adds up what lies in its own shared memory. Two buffers take turns, so
/// that one barrier per sum is enough.
class RowThreads {
 public:
  /// Floats of scratch memory for sums of up to `max_values` values.
  __host__ __device__ static constexpr std::size_t scratch_size(std::size_t num_warps,
                                                                std::size_t num_ranks,
                                                                std::size_t max_values) {
    return num_warps * num_ranks == 1 ? 0 : 2 * num_warps * num_ranks * max_values;
  }

  /// `warp` of `num_warps` in this CTA; `scratch` lies at the same place in each rank. Barrier
  /// `barrier_id` is theirs. In a cluster, all CTAs are known to run.
  __device__ RowThreads(float* scratch, unsigned warp, unsigned num_warps, unsigned barrier_id,
                        unsigned max_values)
      : scratch_(scratch),
        warp_(warp),
        num_warps_(num_warps),
        barrier_id_(barrier_id),
        rank_(cluster_rank()),
        num_ranks_(cluster_size()),
        buffer_size_(num_warps * num_ranks_ * max_values) {}

  /// The row's sums of kCount values of each thread, laid out over each warp as warp_sums does.
  template <unsigned kCount>
  __device__ float sums(float (&values)[kCount]) {
    constexpr unsigned kLanes = kLanesPerValue<kCount>;
    const float own = warp_sums(values);
    if (num_warps_ * num_ranks_ == 1) return own;
    float* buffer = scratch_ + turn_ * buffer_size_;
    turn_ ^= 1;
    const unsigned value = lane_id() / kLanes;
    if (lane_id() % kLanes == 0) push(buffer + (rank_ * num_warps_ + warp_) * kCount + value, own);
    synchronise();
    float sum = 0;
    for (unsigned i = lane_id() % kLanes; i < num_warps_ * num_ranks_; i += kLanes)
      sum += buffer[i * kCount + value];
#pragma unroll
    for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
      sum += __shfl_xor_sync(kFullMask, sum, offset);
    return sum;
  }

  /// The row's sum of one value, in every lane.
  __device__ float sum(float value) {
    float values[1] = {value};
    return sums(values);
  }

  /// For sums that are laid out otherwise: `value` to where `target` lies in each rank's shared
  /// memory; and a barrier, behind which every rank's can be read.
  __device__ void push(float* target, float value) const {
    if (num_ranks_ == 1) {
      *target = value;
      return;
    }
    for (unsigned rank = 0; rank < num_ranks_; ++rank) store_to_rank(target, rank, value);
  }
  __device__ void synchronise() const {
    if (num_ranks_ == 1) {
      named_barrier(barrier_id_, num_warps_ * kWarpSize);
      return;
    }
    cluster_arrive();
    cluster_wait();
  }

 private:
  float* scratch_;
  unsigned warp_;
  unsigned num_warps_;
  unsigned barrier_id_;
  unsigned rank_;
  unsigned num_ranks_;
  unsigned buffer_size_;
  unsigned turn_ = 0;
};

}  // namespace depthcost::cuda
