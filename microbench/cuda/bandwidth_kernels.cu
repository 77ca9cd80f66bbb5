// Arrays are read by loads of the threads, or by the copy engine.
#include <algorithm>
#include <stdexcept>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/vector.cuh"
#include "microbench/cuda/bandwidth_kernels.hpp"

namespace depthcost::bench {
namespace {

using Access = DeviceBandwidthVariant::Access;

constexpr unsigned kThreads = 256;

/// 16-byte vectors of every array. Passed by value, so that pointers are read as constants.
struct Vectors {
  const uint4* inputs[kMostArrayReads];
  uint4* outputs[kMostArrayWrites];
  unsigned num_inputs = 0;
  unsigned num_outputs = 0;
  std::size_t count = 0;
};

__device__ void exclude(uint4& sum, const uint4& vector) {
  sum.x ^= vector.x;
  sum.y ^= vector.y;
  sum.z ^= vector.z;
  sum.w ^= vector.w;
}

template <Access kAccess>
__device__ uint4 load(const uint4* from) {
  if constexpr (kAccess == Access::streaming) return __ldcs(from);
  return *from;
}
template <Access kAccess>
__device__ void store(uint4* to, const uint4& vector) {
  if constexpr (kAccess == Access::streaming)
    __stcs(to, vector);
  else
    *to = vector;
}

/// A CTA takes a piece of kThreads * kWidth * kUnroll vectors at a time.
template <Access kAccess, unsigned kReads, unsigned kWidth, unsigned kUnroll>
__global__ void __launch_bounds__(kThreads)
    bandwidth_kernel(const __grid_constant__ Vectors arrays) {
  constexpr unsigned kVectors = kUnroll * kWidth;
  constexpr std::size_t kPiece = std::size_t{kThreads} * kVectors;
  const auto offset = [](unsigned i) { return i / kWidth * (kThreads * kWidth) + i % kWidth; };
  static_assert(kArrayPieceBytes % (kPiece * sizeof(uint4)) == 0);
  for (std::size_t piece = std::size_t{blockIdx.x} * kPiece; piece < arrays.count;
       piece += std::size_t{gridDim.x} * kPiece) {
    const std::size_t first = piece + threadIdx.x * kWidth;
    uint4 sums[kVectors] = {};
#pragma unroll
    for (unsigned r = 0; r < kReads; ++r)
#pragma unroll
      for (unsigned i = 0; i < kVectors; ++i)
        exclude(sums[i], load<kAccess>(arrays.inputs[r] + first + offset(i)));
    for (unsigned w = 0; w < arrays.num_outputs; ++w)
#pragma unroll
      for (unsigned i = 0; i < kVectors; ++i)
        store<kAccess>(arrays.outputs[w] + first + offset(i), sums[i]);
  }
}

constexpr unsigned kReaders = 128;  // each takes a vector of every array's chunk
constexpr std::size_t kChunkBytes = kReaders * sizeof(uint4);
constexpr unsigned kMaxSlots = 32;
constexpr std::size_t kBarrierBytes = 2 * kMaxSlots * sizeof(std::uint64_t);

/// A slot holds a chunk of every array. One warp copies, four read.
struct Slots {
  std::uint64_t* full;
  std::uint64_t* empty;
  std::byte* chunks;

  __device__ Slots()
      : full(reinterpret_cast<std::uint64_t*>(cuda::shared_memory())),
        empty(full + kMaxSlots),
        chunks(cuda::shared_memory() + kBarrierBytes) {}
};

__device__ void copy_chunks(const Vectors& arrays, const Slots& slots, unsigned num_slots) {
  const std::size_t num_chunks = arrays.count / kReaders;
  const std::size_t slot_bytes = arrays.num_inputs * kChunkBytes;
  unsigned slot = 0;
  unsigned parity = 1;  // of a phase that is over before the first
  for (std::size_t chunk = blockIdx.x; chunk < num_chunks; chunk += gridDim.x) {
    cuda::wait(slots.empty + slot, parity);
    cuda::arrive_expecting(slots.full + slot, static_cast<std::uint32_t>(slot_bytes));
    for (unsigned r = 0; r < arrays.num_inputs; ++r)
      cuda::bulk_copy(slots.chunks + slot * slot_bytes + r * kChunkBytes,
                      arrays.inputs[r] + chunk * kReaders, kChunkBytes, slots.full + slot);
    if (++slot == num_slots) {
      slot = 0;
      parity ^= 1;
    }
  }
}

__global__ void __launch_bounds__(kReaders + cuda::kWarpSize)
    bulk_kernel(const __grid_constant__ Vectors arrays, unsigned num_slots) {
  const Slots slots;
  if (threadIdx.x == 0) {
    for (unsigned slot = 0; slot < num_slots; ++slot) {
      cuda::init_barrier(slots.full + slot, 1);
      cuda::init_barrier(slots.empty + slot, kReaders / cuda::kWarpSize);
    }
    cuda::fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x >= kReaders) {
    if (threadIdx.x == kReaders) copy_chunks(arrays, slots, num_slots);
    return;
  }
  const std::size_t num_chunks = arrays.count / kReaders;
  const std::size_t slot_bytes = arrays.num_inputs * kChunkBytes;
  unsigned slot = 0;
  unsigned parity = 0;
  for (std::size_t chunk = blockIdx.x; chunk < num_chunks; chunk += gridDim.x) {
    cuda::wait(slots.full + slot, parity);
    uint4 sum{};
    for (unsigned r = 0; r < arrays.num_inputs; ++r)
      exclude(sum, reinterpret_cast<const uint4*>(slots.chunks + slot * slot_bytes +
                                                  r * kChunkBytes)[threadIdx.x]);
    __syncwarp();
    if (threadIdx.x % cuda::kWarpSize == 0) cuda::arrive(slots.empty + slot);
    for (unsigned w = 0; w < arrays.num_outputs; ++w)
      arrays.outputs[w][chunk * kReaders + threadIdx.x] = sum;
    if (++slot == num_slots) {
      slot = 0;
      parity ^= 1;
    }
  }
}

void launch_bulk(const Vectors& arrays, const DeviceBandwidthVariant& variant,
                 cudaStream_t cuda_stream) {
  const cuda::DeviceLimits device = cuda::device_limits();
  if (!device.has_clusters) throw std::invalid_argument("no bulk copies before sm_90");
  const std::size_t slot_bytes = arrays.num_inputs * kChunkBytes;
  const std::size_t shared_bytes =
      std::min(device.shared_bytes_per_cta,
               device.shared_bytes_per_sm / variant.ctas_per_sm - cuda::kReservedSharedBytes);
  const auto num_slots = static_cast<unsigned>(
      std::min<std::size_t>(kMaxSlots, (shared_bytes - kBarrierBytes) / slot_bytes));
  if (num_slots == 0) throw std::invalid_argument("no shared memory for a chunk of every array");
  cuda::launch(bulk_kernel,
               {.grid = device.num_sms * variant.ctas_per_sm,
                .cta = kReaders + cuda::kWarpSize,
                .shared_bytes = kBarrierBytes + num_slots * slot_bytes},
               {cuda_stream}, arrays, num_slots);
}

template <Access kAccess, unsigned kReads, unsigned kWidth, unsigned kUnroll>
void launch_pieces(const Vectors& arrays, unsigned ctas_per_sm, cudaStream_t cuda_stream) {
  constexpr std::size_t kPiece = std::size_t{kThreads} * kWidth * kUnroll;
  const std::size_t num_pieces = arrays.count / kPiece;
  const std::size_t num_ctas =
      ctas_per_sm == 0
          ? num_pieces
          : std::min(num_pieces, std::size_t{cuda::device_limits().num_sms} * ctas_per_sm);
  cuda::launch(bandwidth_kernel<kAccess, kReads, kWidth, kUnroll>,
               {.grid = static_cast<unsigned>(num_ctas), .cta = kThreads}, {cuda_stream}, arrays);
}

/// The width and unrolling of the variant. With many reads there are fewer variants: variants_for.
template <Access kAccess, unsigned kReads>
bool launch_reads(const Vectors& arrays, const DeviceBandwidthVariant& v,
                  cudaStream_t cuda_stream) {
  const auto is = [&](unsigned width, unsigned unroll) {
    return v.vectors_side_by_side == width && v.unroll == unroll;
  };
  if (is(1, 1))
    launch_pieces<kAccess, kReads, 1, 1>(arrays, v.ctas_per_sm, cuda_stream);
  else if constexpr (kReads > kManyReads)
    return false;
  else if (is(1, 2))
    launch_pieces<kAccess, kReads, 1, 2>(arrays, v.ctas_per_sm, cuda_stream);
  else if (is(2, 1))
    launch_pieces<kAccess, kReads, 2, 1>(arrays, v.ctas_per_sm, cuda_stream);
  else if constexpr (kReads > kFewReads)
    return false;
  else if (is(1, 4))
    launch_pieces<kAccess, kReads, 1, 4>(arrays, v.ctas_per_sm, cuda_stream);
  else if (is(2, 2))
    launch_pieces<kAccess, kReads, 2, 2>(arrays, v.ctas_per_sm, cuda_stream);
  else
    return false;
  return true;
}

template <Access kAccess, std::size_t... kIndices>
bool launch_any(const Vectors& arrays, const DeviceBandwidthVariant& variant,
                cudaStream_t cuda_stream, std::index_sequence<kIndices...>) {
  return ((arrays.num_inputs == kArrayReads[kIndices] &&
           launch_reads<kAccess, kArrayReads[kIndices]>(arrays, variant, cuda_stream)) ||
          ...);
}

}  // namespace

void launch_bandwidth_kernel(const DeviceArrays& arrays, const DeviceBandwidthVariant& variant,
                             cudaStream_t cuda_stream) {
  if (arrays.size % kArrayPieceBytes != 0)
    throw std::invalid_argument("arrays: not made of whole pieces");
  Vectors vectors{.num_inputs = arrays.num_inputs,
                  .num_outputs = arrays.num_outputs,
                  .count = arrays.size / sizeof(uint4)};
  for (unsigned r = 0; r < arrays.num_inputs; ++r)
    vectors.inputs[r] = reinterpret_cast<const uint4*>(arrays.inputs[r]);
  for (unsigned w = 0; w < arrays.num_outputs; ++w)
    vectors.outputs[w] = reinterpret_cast<uint4*>(arrays.outputs[w]);
  constexpr auto kIndices = std::make_index_sequence<kArrayReads.size()>();
  if (variant.access == Access::bulk) return launch_bulk(vectors, variant, cuda_stream);
  const bool is_launched =
      variant.access == Access::plain
          ? launch_any<Access::plain>(vectors, variant, cuda_stream, kIndices)
          : launch_any<Access::streaming>(vectors, variant, cuda_stream, kIndices);
  if (!is_launched) throw std::invalid_argument("arrays: no kernel for this mix and variant");
}

}  // namespace depthcost::bench
