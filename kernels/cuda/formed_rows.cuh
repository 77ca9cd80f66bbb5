// Rows that are formed from others, stored, and normalised in one scan.
//   registers  a CTA per token, or a warp: what is to be normalised stays in registers
//   streamed   in two passes, the second from what the first has stored, or through L2: rows, or
//              streams, that registers cannot hold
//   scalar     `streamed`, element by element: rows that are not whole vectors
// A former says how they are formed. For elements `at` of a token:
//   load    what is on its way before anything is stored
//   form    x, as it is to be normalised; may store
//   settle  stores what may wait for the sum of squares
//   again   x once more, after form and settle
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace depthcost::cuda {

/// What T can store of x.
template <class T, unsigned kElements>
__device__ void round_elements(float (&x)[kElements]) {
  if constexpr (kElements == 1)
    x[0] = to_float(rounded_to<T>(x[0]));
  else
    unpack<T>(pack<T>(x), x);
}

__device__ inline float next_scale(const NextNorm& norm, float sum_of_squares, std::size_t size) {
  if (norm.gain == nullptr) return 1;
  return rsqrtf(sum_of_squares / static_cast<float>(size) + norm.eps);
}

template <class T, unsigned kElements>
__device__ void store_next(T* to, const float* gain, std::size_t at, float scale,
                           float (&x)[kElements]) {
  float factor[kElements];
  if (gain != nullptr) load_parameters(gain + at, factor);
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) x[e] *= gain != nullptr ? scale * factor[e] : 1;
  store_elements(to + at, x);
}

template <unsigned kElements>
__device__ float squares_of(const float (&x)[kElements]) {
  float sum = 0;
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) sum = fmaf(x[e], x[e], sum);
  return sum;
}

__device__ inline RowThreads row_threads() {
  return {reinterpret_cast<float*>(shared_memory()), threadIdx.x / kWarpSize,
          blockDim.x / kWarpSize, 0, 1};
}

template <class Former, unsigned kSlices>
__global__ void __launch_bounds__(kFormerThreads)
    registers_kernel(const __grid_constant__ Former former) {
  using T = typename Former::Element;
  constexpr unsigned kElements = kWidth<T>;
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (token >= former.num_tokens) return;
  const auto slice = [&](unsigned s) {
    return std::size_t{s * blockDim.x + threadIdx.x} * kElements;
  };
  typename Former::template Loaded<kElements> loaded[kSlices];
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s)
    if (slice(s) < former.size) former.load(token, slice(s), loaded[s]);
  float x[kSlices][kElements];
  float squares = 0;
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    if (slice(s) >= former.size) break;
    former.form(token, slice(s), loaded[s], x[s]);
    squares += squares_of(x[s]);
  }
  RowThreads threads = row_threads();
  const float scale = next_scale(former.norm, threads.sum(squares), former.size);
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    if (slice(s) >= former.size) break;
    former.settle(token, slice(s), x[s]);
    store_next(former.output + token * former.size, former.norm.gain, slice(s), scale, x[s]);
  }
}

template <class Former, unsigned kElements>
__global__ void __launch_bounds__(kStreamedThreads)
    streamed_kernel(const __grid_constant__ Former former) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  const std::size_t step = std::size_t{blockDim.x} * kElements;
  float squares = 0;
  for (std::size_t at = threadIdx.x * kElements; at < former.size; at += step) {
    typename Former::template Loaded<kElements> loaded;
    float x[kElements];
    former.load(token, at, loaded);
    former.form(token, at, loaded, x);
    squares += squares_of(x);
    former.settle(token, at, x);
  }
  RowThreads threads = row_threads();
  const float scale = next_scale(former.norm, threads.sum(squares), former.size);
  // Each thread finds what it wrote itself.
  for (std::size_t at = threadIdx.x * kElements; at < former.size; at += step) {
    float x[kElements];
    former.again(token, at, x);
    store_next(former.output + token * former.size, former.norm.gain, at, scale, x);
  }
}

template <class Former>
void launch_former(const Former& former, bool aligned, const LaunchOptions& options) {
  using T = typename Former::Element;
  if (former.num_tokens == 0) return;
  const bool has_vectors = Former::kHasVectors && aligned;
  const RowPlan plan = former_plan(has_vectors ? vectors_per_row<T>(former.size) : 0);
  const bool in_registers = Former::kFitsRegisters && (plan.variant == RowVariant::registers ||
                                                       plan.variant == RowVariant::rows_per_warp);
  const unsigned threads = in_registers ? plan.threads_per_row : kStreamedThreads;
  const unsigned rows = in_registers ? plan.rows_per_cta : 1;
  const LaunchShape shape{
      .grid = static_cast<unsigned>(ceil_div(former.num_tokens, rows)),
      .cta = {threads, rows},
      .shared_bytes = RowThreads::scratch_size(threads / kThreadsPerWarp, 1, 1) * sizeof(float)};
  if (plan.variant == RowVariant::scalar)
    return launch(streamed_kernel<Former, 1>, shape, options, former);
  if constexpr (Former::kHasVectors) {
    if (!in_registers) return launch(streamed_kernel<Former, kWidth<T>>, shape, options, former);
  }
  if constexpr (Former::kFitsRegisters)
    launch(plan.slices_per_thread == 2 ? registers_kernel<Former, 2> : registers_kernel<Former, 4>,
           shape, options, former);
}

}  // namespace depthcost::cuda
