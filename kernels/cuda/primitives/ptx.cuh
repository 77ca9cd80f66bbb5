// The instructions that CUDA C++ has no name for, each behind a function. Clusters, bulk copies and
// programmatic launch begin with sm_90; before it a cluster is one CTA, and the kernels that need
// bulk copies are not launched.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace depthcost::cuda {

inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xFFFFFFFFU;

extern __shared__ uint4 dynamic_shared_memory[];

/// The dynamic shared memory of the CTA, aligned to 16 bytes.
__device__ inline std::byte* shared_memory() {
  return reinterpret_cast<std::byte*>(dynamic_shared_memory);
}

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Two floats, rounded to nearest even, as bf16: `low` in the lower half.
__device__ inline std::uint32_t bf16_pair(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// Bytes of the pair {a, b} chosen by the four digits of `selector`.
__device__ inline std::uint32_t permuted_bytes(std::uint32_t a, std::uint32_t b,
                                               std::uint32_t selector) {
  return __byte_perm(a, b, selector);
}

/// c += a b for a 16x16 tile a and a 16x8 tile b of bf16.
__device__ inline void mma_bf16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A barrier of `num_threads` threads of the CTA. Barrier 0 is __syncthreads.
__device__ inline void named_barrier(unsigned id, unsigned num_threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(num_threads) : "memory");
}

/// Blocks until the kernel before has ended and its writes can be seen. Before any read of them.
__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Allows the next kernel's CTAs to start once all of this one's are running or done.
__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Starts to fetch a parameter, which no kernel before writes.
__device__ inline void prefetch(const void* parameter) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(parameter)));
}

/// The same, into L2: what several CTAs are going to read.
__device__ inline void prefetch_to_l2(const void* parameter) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(parameter)));
}

/// Keeps what is computed from a vector behind the loads before this place. A compiler that moves
/// it out of a loop puts it in front of them, and they wait for the vector.
__device__ inline void hold_back(uint4& vector) {
  asm volatile("" : "+r"(vector.x), "+r"(vector.y), "+r"(vector.z), "+r"(vector.w));
}

__device__ inline unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

/// The index of the cluster in a grid of one dimension; without clusters that of the CTA.
__device__ inline unsigned cluster_index() {
#if __CUDA_ARCH__ >= 900
  unsigned index = 0;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(index));
  return index;
#else
  return blockIdx.x;
#endif
}

__device__ inline unsigned cluster_size() {
  unsigned size = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
  return size;
}

/// All threads of the cluster: what was written to shared memory before `arrive` can be read, by
/// any CTA, behind `wait`.
__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
/// The same without making anything readable: that all CTAs run, and that barriers are initialised,
/// is all that is known behind `wait`.
__device__ inline void cluster_arrive_relaxed() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

/// Writes `value` to where `target` lies in the shared memory of CTA `rank` of the cluster.
__device__ inline void store_to_rank(float* target, unsigned rank, float value) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_address(target)), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
#else
  *target = value;
#endif
}

// A barrier in shared memory that counts arrivals and bytes of bulk copies. Phases alternate.

__device__ inline void init_barrier(std::uint64_t* barrier, unsigned num_arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(num_arrivals)
               : "memory");
}

/// Writes `value` to where `target` lies in the shared memory of CTA `rank` of the cluster, and
/// counts its bytes towards `barrier` there.
__device__ inline void store_async(float* target, std::uint64_t* barrier, unsigned rank,
                                   float value) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t address;
  std::uint32_t counter;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_address(target)), "r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(counter)
               : "r"(shared_address(barrier)), "r"(rank));
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
          address),
      "r"(__float_as_uint(value)), "r"(counter)
      : "memory");
#endif
}

/// Makes initialised barriers known to the copy engine and to the cluster; before the CTA's own
/// barrier or the cluster's.
__device__ inline void fence_barrier_init() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

__device__ inline void arrive(std::uint64_t* barrier) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier))
      : "memory");
}

__device__ inline void arrive_expecting(std::uint64_t* barrier, std::uint32_t num_bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(
                   shared_address(barrier)),
               "r"(num_bytes)
               : "memory");
#endif
}

/// Waits until the phase with this parity is over.
__device__ inline void wait(std::uint64_t* barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// Whether bulk_copy copies, which the barriers in shared memory then count.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr bool kHasBulkCopies = false;
#else
inline constexpr bool kHasBulkCopies = true;
#endif

/// Global to shared memory by the copy engine; its bytes count towards `barrier`. Everything is
/// aligned to 16 bytes.
__device__ inline void bulk_copy(void* target, const void* source, std::uint32_t num_bytes,
                                 std::uint64_t* barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(target)),
      "l"(__cvta_generic_to_global(source)), "r"(num_bytes), "r"(shared_address(barrier))
      : "memory");
#endif
}

}  // namespace depthcost::cuda
