// Attention over depth with the sources in a ring in shared memory.
//   row_ring  persistent CTAs. One warp lets the copy engine fetch rows, in the order in which they
//             are needed and across tokens; the others take a row out of the ring into registers,
//             which frees its place at once. Memory stays busy while a token is reduced, mixed and
//             normalised.
#include "kernels/cuda/attnres/depth_attention.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kRows = kRowRing.rows;
constexpr unsigned kPairs = kPairsFor<kRows>;
constexpr unsigned kSlices = kRowRing.slices;
constexpr unsigned kReaderBarrier = 1;

/// A place in the ring, and how often it has been passed.
struct RingPosition {
  unsigned slot = 0;
  unsigned parity = 0;

  __device__ void advance(unsigned num_slots) {
    if (++slot < num_slots) return;
    slot = 0;
    parity ^= 1;
  }
};

struct Ring {
  std::uint64_t* full;
  std::uint64_t* empty;
  std::byte* rows;
  unsigned num_slots;
  std::size_t row_bytes;

  __device__ explicit Ring(const RingPlan& plan)
      : full(reinterpret_cast<std::uint64_t*>(shared_memory())),
        empty(full + plan.num_slots),
        rows(shared_memory() + plan.rows),
        num_slots(plan.num_slots),
        row_bytes(plan.row_bytes) {}

  __device__ void initialise(unsigned num_reader_warps) const {
    if (threadIdx.x == 0) {
      for (unsigned slot = 0; slot < num_slots; ++slot) {
        init_barrier(full + slot, 1);
        init_barrier(empty + slot, num_reader_warps);
      }
      fence_barrier_init();
    }
    __syncthreads();
  }

  __device__ void fetch(const void* row, RingPosition& position) const {
    wait(empty + position.slot, position.parity ^ 1);
    arrive_expecting(full + position.slot, static_cast<std::uint32_t>(row_bytes));
    bulk_copy(rows + position.slot * row_bytes, row, static_cast<std::uint32_t>(row_bytes),
              full + position.slot);
    position.advance(num_slots);
  }

  /// Takes this thread's part of the next row. Then the slot may be filled again.
  template <class T>
  __device__ void take(const RowPart& part, RingPosition& position,
                       uint4 (&slices)[kSlices]) const {
    wait(full + position.slot, position.parity);
    load_part(reinterpret_cast<const T*>(rows + position.slot * row_bytes), part, slices);
    __syncwarp();
    if (lane_id() == 0) arrive(empty + position.slot);
    position.advance(num_slots);
  }
};

/// Fetches all rows of this CTA's tokens, in the order in which they are taken.
template <class T>
__device__ void fetch_rows(const DepthAttention<T, T>& op, const Ring& ring) {
  RingPosition position;
  for (std::size_t token = blockIdx.x; token < op.num_tokens; token += gridDim.x) {
    const std::size_t at = token * op.hidden_size;
    if (op.partial_sum != nullptr) ring.fetch(op.partial_sum + at, position);
    if (op.layer_output != nullptr) ring.fetch(op.layer_output + at, position);
    for (std::size_t i = 0; i < op.num_rows; ++i) ring.fetch(op.row(i, at), position);
  }
}

/// Computes h of one token.
template <class T>
__device__ void attend(const DepthAttention<T, T>& op, std::size_t token, const Ring& ring,
                       const RowPart& part, const float (&w)[kSlices][kWidth<T>],
                       const RowGroups& groups, RowThreads& threads, RingPosition& position,
                       OnlineSoftmax<kSlices, kWidth<T>>& softmax) {
  if (op.partial_sum != nullptr) {
    uint4 row[kSlices];
    ring.take<T>(part, position, row);
    unpack_part<T>(row, softmax.mix);
    if (op.layer_output != nullptr) {
      ring.take<T>(part, position, row);
      add_part<T>(row, part,
                  op.stored_sum == nullptr ? nullptr : op.stored_sum + token * op.hidden_size,
                  softmax.mix);
    }
  }
  unsigned first = 0;
  do {
    const unsigned count = groups.count(first);
    float shares[2 * kPairs] = {};
    if (first == 0) add_products(w, softmax.mix, shares[2 * kRows], shares[2 * kRows + 1]);
    uint4 rows[kRows][kSlices];
#pragma unroll
    for (unsigned p = 0; p < kRows; ++p) {
      if (p >= count) break;
      ring.take<T>(part, position, rows[p]);
    }
    add_products_of_rows<T>(w, rows, count, shares);
    float scores[kPairs];
    scores_of(threads, shares, op.hidden_size, op.key_eps, scores);
    if (first == 0 && op.partial_sum != nullptr) softmax.start_from(scores[kRows]);
    softmax.template add_rows<T>(rows, count, scores);
    first += groups.per_group;
  } while (first < op.num_rows);
}

/// Keeps the gains of this thread's part in shared memory, since registers are taken.
template <unsigned kElements>
__device__ void keep_gain(const float* gain, const RowPart& part, float* kept) {
  float g[kSlices][kElements];
  load_parameters(gain, part, g);
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s)
    if (part.has(s))
      for (unsigned e = 0; e < kElements; ++e) kept[part.at(s) + e] = g[s][e];
}

template <class T>
__device__ void store_next_input(const DepthAttention<T, T>& op, std::size_t token,
                                 const float* gain, const RowPart& part, RowThreads& threads,
                                 OnlineSoftmax<kSlices, kWidth<T>>& softmax) {
  const bool normalises = op.norm.gain != nullptr;
  float scale = 1 / softmax.sum;
  if (normalises) scale *= rsqrtf(softmax.mean_square(threads, op.hidden_size) + op.norm.eps);
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    if (!part.has(s)) break;
    float g[kWidth<T>];
    if (normalises) load_floats(gain + part.at(s), g);
#pragma unroll
    for (unsigned e = 0; e < kWidth<T>; ++e) softmax.mix[s][e] *= normalises ? scale * g[e] : scale;
    store_elements(op.output + token * op.hidden_size + part.at(s), softmax.mix[s]);
  }
}

template <class T>
__global__ void __launch_bounds__(kRowRing.threads, 1)
    row_ring_kernel(const __grid_constant__ DepthAttention<T, T> op,
                    const __grid_constant__ RingPlan plan,
                    const __grid_constant__ RowGroups groups) {
  const unsigned num_readers = blockDim.x - kWarpSize;
  const Ring ring(plan);
  ring.initialise(num_readers / kWarpSize);
  if (threadIdx.x >= num_readers) {
    wait_for_previous_kernel();
    let_next_kernel_start();
    if (threadIdx.x == num_readers) fetch_rows(op, ring);
    return;
  }
  const RowPart part{.first = threadIdx.x * kWidth<T>,
                     .step = num_readers * kWidth<T>,
                     .end = static_cast<unsigned>(op.hidden_size)};
  float w[kSlices][kWidth<T>];
  load_parameters(op.query, part, w);
  float* gain = reinterpret_cast<float*>(shared_memory() + plan.gain);
  if (op.norm.gain != nullptr) keep_gain<kWidth<T>>(op.norm.gain, part, gain);
  wait_for_previous_kernel();
  let_next_kernel_start();
  RowThreads threads(reinterpret_cast<float*>(shared_memory() + plan.scratch),
                     threadIdx.x / kWarpSize, num_readers / kWarpSize, kReaderBarrier, 2 * kPairs);
  RingPosition position;
  for (std::size_t token = blockIdx.x; token < op.num_tokens; token += gridDim.x) {
    OnlineSoftmax<kSlices, kWidth<T>> softmax;
    attend(op, token, ring, part, w, groups, threads, position, softmax);
    store_next_input(op, token, gain, part, threads, softmax);
  }
}

}  // namespace

template <class T>
void launch_row_ring(const DepthAttention<T, T>& op, const AttentionPlan& plan,
                     const DeviceLimits& device, const LaunchOptions& options) {
  const std::size_t gain_bytes = op.norm.gain == nullptr ? 0 : op.hidden_size * sizeof(float);
  const std::size_t num_reader_warps = plan.threads / kThreadsPerWarp - 1;
  const RingPlan ring =
      ring_plan(plan.threads, op.hidden_size * sizeof(T), gain_bytes,
                RowThreads::scratch_size(num_reader_warps, 2 * kPairs) * sizeof(float), device);
  const std::size_t num_ctas =
      std::min(op.num_tokens, std::size_t{device.num_sms} * ring.ctas_per_sm);
  launch(row_ring_kernel<T>,
         {.grid = grid_of(num_ctas), .cta = plan.threads, .shared_bytes = ring.shared_bytes()},
         options, op, ring, RowGroups(op.num_rows, kRows));
}

template void launch_row_ring(const DepthAttention<float, float>&, const AttentionPlan&,
                              const DeviceLimits&, const LaunchOptions&);
template void launch_row_ring(const DepthAttention<Bf16, Bf16>&, const AttentionPlan&,
                              const DeviceLimits&, const LaunchOptions&);

}  // namespace depthcost::cuda
