// AttnRes in eager mode, launch by launch: unfused_rmsnorm, unfused_stack, unfused_key_norm,
// unfused_scores, unfused_mix. Accesses are of 16 bytes where rows are whole vectors, else element
// by element.
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/row_norm.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {
namespace {

/// How many sources one launch of unfused_stack takes: their pointers are a kernel argument.
constexpr std::size_t kMaxStacked = 256;
template <class T>
struct StackedSources {
  const T* source[kMaxStacked];
};

/// Copies source blockIdx.y, `size` elements, to its place in the stack.
template <class T>
__global__ void __launch_bounds__(kEagerThreads)
    stack_kernel(const __grid_constant__ StackedSources<T> sources, T* stack, std::size_t size) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const T* from = sources.source[blockIdx.y];
  T* to = stack + blockIdx.y * size;
  const std::size_t first =
      (std::size_t{blockIdx.x} * kEagerThreads * kStackVectors + threadIdx.x) * kWidth<T>;
  if (size % kWidth<T> != 0 || reinterpret_cast<std::uintptr_t>(from) % kVectorBytes != 0) {
    for (std::size_t i = first; i < size; i += kEagerThreads * kWidth<T>) {
      if (i >= first + kStackVectors * kEagerThreads * kWidth<T>) break;
#pragma unroll 1
      for (std::size_t e = i; e < min(i + kWidth<T>, size); ++e) to[e] = from[e];
    }
    return;
  }
  uint4 vectors[kStackVectors] = {};
#pragma unroll
  for (unsigned i = 0; i < kStackVectors; ++i) {
    const std::size_t at = first + i * kEagerThreads * kWidth<T>;
    if (at < size) vectors[i] = load_vector(from + at);
  }
#pragma unroll
  for (unsigned i = 0; i < kStackVectors; ++i) {
    const std::size_t at = first + i * kEagerThreads * kWidth<T>;
    if (at < size) store_vector(to + at, vectors[i]);
  }
}

/// Row `row` of the keys times the query; a warp per row.
template <class T, unsigned kElements>
__global__ void __launch_bounds__(kEagerThreads)
    scores_kernel(float* logits, const T* keys, const float* query, std::size_t num_rows,
                  std::size_t size) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= num_rows) return;
  float sum = 0;
#pragma unroll kScoreVectors
  for (std::size_t at = threadIdx.x * kElements; at < size; at += kWarpSize * kElements) {
    float k[kElements];
    float w[kElements];
    load_elements(keys + row * size + at, k);
    load_parameters(query + at, w);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) sum = fmaf(w[e], k[e], sum);
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) logits[row] = sum;
}

/// weights = softmax of the token's logits, by the first warp.
__device__ void softmax_of_token(const float* logits, std::size_t stride, std::size_t count,
                                 float* weights) {
  float largest = -INFINITY;
  for (std::size_t s = threadIdx.x; s < count; s += kWarpSize)
    largest = fmaxf(largest, logits[s * stride]);
#pragma unroll
  for (unsigned offset = kWarpSize / 2; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(kFullMask, largest, offset));
  float sum = 0;
  for (std::size_t s = threadIdx.x; s < count; s += kWarpSize)
    sum += weights[s] = expf(logits[s * stride] - largest);
  sum = warp_sum(sum);
  for (std::size_t s = threadIdx.x; s < count; s += kWarpSize) weights[s] /= sum;
}

template <class T, unsigned kElements>
__global__ void __launch_bounds__(kEagerThreads, 1) mix_kernel(const UnfusedMix<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  float* weights = reinterpret_cast<float*>(shared_memory());
  if (threadIdx.x < kWarpSize)
    softmax_of_token(op.logits + token, op.num_tokens, op.num_sources, weights);
  __syncthreads();
  const std::size_t row_size = op.num_tokens * op.hidden_size;
  for (std::size_t at = threadIdx.x * kElements; at < op.hidden_size;
       at += blockDim.x * kElements) {
    const T* source = op.stack + token * op.hidden_size + at;
    float h[kElements] = {};
#pragma unroll kMixVectors
    for (std::size_t s = 0; s < op.num_sources; ++s) {
      float v[kElements];
      load_elements(source + s * row_size, v);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) h[e] = fmaf(weights[s], v[e], h[e]);
    }
    store_elements(op.output + token * op.hidden_size + at, h);
  }
}

}  // namespace

template <class T>
void run(const UnfusedRmsNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_row_norm<T>({.num_rows = op.num_tokens,
                      .size = op.hidden_size,
                      .input = op.input,
                      .gain = op.norm.gain,
                      .eps = op.norm.eps,
                      .output = op.output},
                     options);
}

template <class T>
void run(const UnfusedKeyNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_row_norm<T>({.num_rows = op.num_sources * op.num_tokens,
                      .size = op.hidden_size,
                      .input = op.stack,
                      .eps = op.key_eps,
                      .output = op.keys},
                     options);
}

template <class T>
void run(const UnfusedStack<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const std::size_t size = op.num_tokens * op.hidden_size;
  if (size == 0) return;
  const std::size_t num_ctas = ceil_div(size, kEagerThreads * kStackVectors * kWidth<T>);
  for (std::size_t first = 0; first < op.num_sources; first += kMaxStacked) {
    const std::size_t count = std::min(kMaxStacked, op.num_sources - first);
    StackedSources<T> sources{};
    std::copy_n(op.sources + first, count, sources.source);
    const dim3 grid(grid_of(num_ctas), static_cast<unsigned>(count));
    launch(stack_kernel<T>, {.grid = grid, .cta = kEagerThreads}, options, sources,
           op.stack + first * size, size);
  }
}

template <class T>
void run(const UnfusedScores<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const std::size_t num_rows = op.num_sources * op.num_tokens;
  if (num_rows == 0) return;
  constexpr unsigned kRowsPerCta = kEagerThreads / kThreadsPerWarp;
  const LaunchShape shape{.grid = grid_of(ceil_div(num_rows, kRowsPerCta)),
                          .cta = {kThreadsPerWarp, kRowsPerCta}};
  const bool vectors =
      vectors_per_row<T>(op.hidden_size) > 0 && aligned_to_vectors(op.keys, op.query);
  launch(vectors ? scores_kernel<T, kWidth<T>> : scores_kernel<T, 1>, shape, options, op.logits,
         op.keys, op.query, num_rows, op.hidden_size);
}

template <class T>
void run(const UnfusedMix<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const bool vectors =
      vectors_per_row<T>(op.hidden_size) > 0 && aligned_to_vectors(op.stack, op.output);
  launch(vectors ? mix_kernel<T, kWidth<T>> : mix_kernel<T, 1>,
         {.grid = grid_of(op.num_tokens),
          .cta = kEagerThreads,
          .shared_bytes = op.num_sources * sizeof(float),
          .shared_size = {"unfused_mix", "num_sources", op.num_sources}},
         options, op);
}

template void run(const UnfusedRmsNorm<float>&, const LaunchOptions&);
template void run(const UnfusedRmsNorm<Bf16>&, const LaunchOptions&);
template void run(const UnfusedKeyNorm<float>&, const LaunchOptions&);
template void run(const UnfusedKeyNorm<Bf16>&, const LaunchOptions&);
template void run(const UnfusedStack<float>&, const LaunchOptions&);
template void run(const UnfusedStack<Bf16>&, const LaunchOptions&);
template void run(const UnfusedScores<float>&, const LaunchOptions&);
template void run(const UnfusedScores<Bf16>&, const LaunchOptions&);
template void run(const UnfusedMix<float>&, const LaunchOptions&);
template void run(const UnfusedMix<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
