// What the CTAs of a cluster tell each other: floats that are pushed into every rank's shared
// memory and counted there by a barrier. No fence and no barrier of the cluster is on the way.
#pragma once

#include "kernels/cuda/plan.hpp"
#include "kernels/cuda/primitives/ptx.cuh"

namespace depthcost::cuda {

/// Rounds of an exchange. Two barriers take turns, as the buffers of those who push must: a thread
/// pushes in one round only when it has read what it needs of the round before, so whoever ends a
/// round knows that the round before it has been read by all.
class ClusterExchange {
 public:
  static constexpr std::size_t kFloats = kExchangeFloats;  // of shared memory, aligned to 8 bytes

  /// All threads, once, at the start of a kernel; cluster_wait comes before the first push. A
  /// cluster of one CTA has no exchange, and no memory for it.
  __device__ static void start(float* memory) {
    if (cluster_size() > 1 && threadIdx.x == 0) {
      auto* barriers = reinterpret_cast<std::uint64_t*>(memory);
      for (unsigned i = 0; i < 2; ++i) init_barrier(barriers + i, 1);
      fence_barrier_init();
    }
    cluster_arrive_relaxed();
  }

  __device__ explicit ClusterExchange(float* memory)
      : barriers_(reinterpret_cast<std::uint64_t*>(memory)) {}

  /// One thread of this rank, in each round: how many floats it is going to be sent by all ranks.
  __device__ void expect(unsigned num_floats) const {
    arrive_expecting(barriers_ + turn_ % 2, num_floats * static_cast<unsigned>(sizeof(float)));
  }

  /// `value` to where `target` lies in the shared memory of `rank`.
  __device__ void push(float* target, unsigned rank, float value) const {
    store_async(target, barriers_ + turn_ % 2, rank, value);
  }

  /// All threads: until everything that was expected is there. Ends the round.
  __device__ void finish() {
    wait(barriers_ + turn_ % 2, turn_ / 2 % 2);
    ++turn_;
  }

  /// Which of two buffers this round has.
  __device__ unsigned buffer() const { return turn_ % 2; }

 private:
  std::uint64_t* barriers_;
  unsigned turn_ = 0;
};

}  // namespace depthcost::cuda
