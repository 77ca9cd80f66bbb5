// Rows that are combined from others, stored, and normalised in one scan.
//   registers  a CTA per token, or a warp: what is to be normalised stays in registers
//   streamed   in two passes, the second from what the first has stored, or through L2: rows, or
//              streams, that registers cannot hold
//   scalar     `streamed`, element by element: rows that are not whole vectors
// `Row` says how they are combined. For elements `at` of a token:
//   load    what is on its way before form; kSlicesAhead slices before, as registers allow
//   form    x, as it is to be normalised; may store
//   settle  stores what may wait for the sum of squares
//   again   x once more, after form and settle
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {

/// Rounds x to values that T can store.
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

template <class Row, unsigned kSlices>
__global__ void __launch_bounds__(kCombineThreads)
    combined_registers_kernel(const __grid_constant__ Row row) {
  using T = typename Row::Element;
  constexpr unsigned kElements = kWidth<T>;
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (token >= row.num_tokens) return;
  const auto slice = [&](unsigned s) {
    return std::size_t{s * blockDim.x + threadIdx.x} * kElements;
  };
  typename Row::template Loaded<kElements> loaded[kSlices];
  const auto load = [&](unsigned s) {
    if (s < kSlices && slice(s) < row.size) row.load(token, slice(s), loaded[s]);
  };
#pragma unroll
  for (int s = 0; s < Row::kSlicesAhead; ++s) load(static_cast<unsigned>(s));
  float x[kSlices][kElements];
  float squares = 0;
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    load(s + Row::kSlicesAhead);
    if (slice(s) >= row.size) break;
    row.form(token, slice(s), loaded[s], x[s]);
    squares += squares_of(x[s]);
  }
  RowThreads threads = row_threads();
  const float scale = next_scale(row.norm, threads.sum(squares), row.size);
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    if (slice(s) >= row.size) break;
    row.settle(token, slice(s), loaded[s], x[s]);
    store_next(row.output + token * row.size, row.norm.gain, slice(s), scale, x[s]);
  }
}

template <class Row, unsigned kElements>
__global__ void __launch_bounds__(kCombineStreamedThreads)
    combined_streamed_kernel(const __grid_constant__ Row row) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  const std::size_t step = std::size_t{blockDim.x} * kElements;
  float squares = 0;
  for (std::size_t at = threadIdx.x * kElements; at < row.size; at += step) {
    typename Row::template Loaded<kElements> loaded;
    float x[kElements];
    row.load(token, at, loaded);
    row.form(token, at, loaded, x);
    squares += squares_of(x);
    row.settle(token, at, loaded, x);
  }
  RowThreads threads = row_threads();
  const float scale = next_scale(row.norm, threads.sum(squares), row.size);
  // Each thread reads what it wrote itself.
  for (std::size_t at = threadIdx.x * kElements; at < row.size; at += step) {
    float x[kElements];
    row.again(token, at, x);
    store_next(row.output + token * row.size, row.norm.gain, at, scale, x);
  }
}

template <class Row>
void launch_combined(const Row& row, bool aligned, const LaunchOptions& options) {
  using T = typename Row::Element;
  static_assert(Row::kSlicesAhead >= 0);
  if (row.num_tokens == 0) return;
  const bool has_vectors = Row::kHasVectors && aligned;
  const RowPlan plan = combine_plan(has_vectors ? vectors_per_row<T>(row.size) : 0);
  const bool in_registers = Row::kFitsRegisters && (plan.variant == RowVariant::registers ||
                                                    plan.variant == RowVariant::rows_per_warp);
  const unsigned threads = in_registers ? plan.threads_per_row : kCombineStreamedThreads;
  const unsigned rows = in_registers ? plan.rows_per_cta : 1;
  const LaunchShape shape{
      .grid = grid_of(ceil_div(row.num_tokens, rows)),
      .cta = {threads, rows},
      .shared_bytes = RowThreads::scratch_size(threads / kThreadsPerWarp, 1) * sizeof(float)};
  if (plan.variant == RowVariant::scalar)
    return launch(combined_streamed_kernel<Row, 1>, shape, options, row);
  if constexpr (Row::kHasVectors) {
    if (!in_registers) return launch(combined_streamed_kernel<Row, kWidth<T>>, shape, options, row);
  }
  if constexpr (Row::kFitsRegisters)
    launch(plan.slices_per_thread == kRowFewSlices ? combined_registers_kernel<Row, kRowFewSlices>
                                                   : combined_registers_kernel<Row, kRowManySlices>,
           shape, options, row);
}

}  // namespace depthcost::cuda
