// Sums over the threads that share a row: a warp, warps of a CTA, or a cluster. The order of the
// additions depends on the shape of the launch only, so results repeat bit by bit.
#pragma once

#include "kernels/cuda/primitives/exchange.cuh"

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

/// The sum of value lane_id() / kLanesPerValue over shares that lie kCount floats apart, in every
/// lane of the value.
template <unsigned kCount>
__device__ float added_up(const float* shares, unsigned num_shares) {
  constexpr unsigned kLanes = kLanesPerValue<kCount>;
  float sum = 0;
  for (unsigned i = lane_id() % kLanes; i < num_shares; i += kLanes)
    sum += shares[i * kCount + lane_id() / kLanes];
#pragma unroll
  for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(kFullMask, sum, offset);
  return sum;
}

/// The warps of a CTA that share a row. They leave their sums in shared memory; behind one barrier
/// every warp adds up what lies there. Two buffers take turns, so that one barrier per sum is
/// enough.
class RowThreads {
 public:
  /// Floats of scratch memory for sums of up to `max_values` values.
  __host__ __device__ static constexpr std::size_t scratch_size(std::size_t num_warps,
                                                                std::size_t max_values) {
    return num_warps == 1 ? 0 : 2 * num_warps * max_values;
  }

  /// `warp` of `num_warps`. Barrier `barrier_id` is theirs.
  __device__ RowThreads(float* scratch, unsigned warp, unsigned num_warps, unsigned barrier_id,
                        unsigned max_values)
      : scratch_(scratch),
        warp_(warp),
        num_warps_(num_warps),
        barrier_id_(barrier_id),
        buffer_size_(num_warps * max_values) {}

  /// The row's sums of kCount values of each thread, laid out over each warp as warp_sums does.
  template <unsigned kCount>
  __device__ float sums(float (&values)[kCount]) {
    return sums_of_warps<kCount>(warp_sums(values));
  }

  /// The same of what warp_sums has given each warp.
  template <unsigned kCount>
  __device__ float sums_of_warps(float own) {
    constexpr unsigned kLanes = kLanesPerValue<kCount>;
    if (num_warps_ == 1) return own;
    float* const buffer = scratch_ + turn_ * buffer_size_;
    turn_ ^= 1;
    if (lane_id() % kLanes == 0) buffer[warp_ * kCount + lane_id() / kLanes] = own;
    named_barrier(barrier_id_, num_warps_ * kWarpSize);
    return added_up<kCount>(buffer, num_warps_);
  }

  /// The row's sum of one value, in every lane.
  __device__ float sum(float value) {
    float values[1] = {value};
    return sums(values);
  }

 private:
  float* scratch_;
  unsigned warp_;
  unsigned num_warps_;
  unsigned barrier_id_;
  unsigned buffer_size_;
  unsigned turn_ = 0;
};

/// All warps of a cluster, which share a row. They push their sums to every rank, and each thread
/// waits until those of all ranks have arrived. A cluster of one CTA does as RowThreads.
class ClusterRowThreads {
 public:
  /// As above, aligned to 8 bytes.
  __host__ __device__ static constexpr std::size_t scratch_size(std::size_t num_warps,
                                                                std::size_t num_ranks,
                                                                std::size_t max_values) {
    if (num_ranks == 1) return RowThreads::scratch_size(num_warps, max_values);
    return ClusterExchange::kFloats + 2 * num_warps * num_ranks * max_values;
  }

  /// `scratch` lies at the same place in each rank. An exchange has been started on it, and all
  /// CTAs are known to run before the first sum.
  __device__ ClusterRowThreads(float* scratch, unsigned max_values)
      : own_(scratch, warp(), num_warps(), 0, max_values),
        exchange_(scratch),
        buffers_(scratch + ClusterExchange::kFloats),
        num_shares_(num_warps() * cluster_size()),
        max_values_(max_values) {}

  template <unsigned kCount>
  __device__ float sums(float (&values)[kCount]) {
    constexpr unsigned kLanes = kLanesPerValue<kCount>;
    const float own = warp_sums(values);
    if (num_shares_ == num_warps()) return own_.sums_of_warps<kCount>(own);
    float* const buffer = buffers_ + exchange_.buffer() * num_shares_ * max_values_;
    if (threadIdx.x == 0) exchange_.expect(num_shares_ * kCount);
    // The lanes that hold a value share out the ranks.
    float* const place =
        buffer + (cluster_rank() * num_warps() + warp()) * kCount + lane_id() / kLanes;
    for (unsigned rank = lane_id() % kLanes; rank < cluster_size(); rank += kLanes)
      exchange_.push(place, rank, own);
    exchange_.finish();
    return added_up<kCount>(buffer, num_shares_);
  }

  __device__ float sum(float value) {
    float values[1] = {value};
    return sums(values);
  }

  /// For sums that are laid out otherwise: `value` to where `target` lies in each rank's shared
  /// memory; and a barrier, behind which every rank's can be read.
  __device__ void push(float* target, float value) const {
    if (cluster_size() == 1) {
      *target = value;
      return;
    }
    for (unsigned rank = 0; rank < cluster_size(); ++rank) store_to_rank(target, rank, value);
  }
  __device__ void synchronise() const {
    if (cluster_size() == 1) return __syncthreads();
    cluster_arrive();
    cluster_wait();
  }

 private:
  __device__ static unsigned warp() { return threadIdx.x / kWarpSize; }
  __device__ static unsigned num_warps() { return blockDim.x / kWarpSize; }

  RowThreads own_;
  ClusterExchange exchange_;
  float* buffers_;
  unsigned num_shares_;
  unsigned max_values_;
};

}  // namespace depthcost::cuda
