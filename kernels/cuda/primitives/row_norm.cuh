// RMSNorm of rows, which take in another row first if there is one.
//   registers      the row stays in registers; nothing is written until its sum has settled, so
//                  that reads and writes reach memory as two bursts
//   rows_per_warp  the same, a warp per row: no barrier
//   streamed       in two passes, the second through L2: rows too long for registers
//   scalar         `streamed`, element by element: rows that are not whole vectors
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {

/// output = input / rms * gain, where input becomes input + addend if there is one.
template <class T>
struct NormRows {
  std::size_t num_rows = 0;
  std::size_t size = 0;         // of a row
  const T* input = nullptr;     // (rows, size)
  const T* addend = nullptr;    // (rows, size), or null
  T* sum = nullptr;             // (rows, size), where there is an addend; may be `input`
  const float* gain = nullptr;  // (size), or null
  float eps = 0;
  T* output = nullptr;  // (rows, size)
};

__device__ inline float inverse_rms(float sum_of_squares, std::size_t size, float eps) {
  return rsqrtf(sum_of_squares / static_cast<float>(size) + eps);
}

template <unsigned kElements>
__device__ float sum_of_squares(const float (&x)[kElements]) {
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kElements; ++i) sum = fmaf(x[i], x[i], sum);
  return sum;
}

/// x = x * scale * gain, `at` elements into the row.
template <class T, unsigned kElements>
__device__ void store_normed(const NormRows<T>& rows, std::size_t row, std::size_t at, float scale,
                             float (&x)[kElements]) {
  float gain[kElements];
  if (rows.gain != nullptr) load_parameters(rows.gain + at, gain);
#pragma unroll
  for (unsigned i = 0; i < kElements; ++i) x[i] *= rows.gain != nullptr ? scale * gain[i] : scale;
  store_elements(rows.output + row * rows.size + at, x);
}

/// Slice `slice` of the row in front of thread `threadIdx.x`, in elements.
template <class T>
__device__ std::size_t slice_begin(unsigned slice) {
  return std::size_t{slice * blockDim.x + threadIdx.x} * kWidth<T>;
}

template <class T, unsigned kSlices>
__device__ void load_slices(const T* row, std::size_t size, uint4 (&slices)[kSlices]) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    slices[s] = {0, 0, 0, 0};
    if (slice_begin<T>(s) < size) slices[s] = load_vector(row + slice_begin<T>(s));
  }
}

/// sum += addend, rounded; the sum's squares.
template <class T, unsigned kSlices>
__device__ float add_slices(uint4 (&sum)[kSlices], const uint4 (&addend)[kSlices], bool adds) {
  float squares = 0;
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    float x[kWidth<T>];
    unpack<T>(sum[s], x);
    if (adds) {
      float f[kWidth<T>];
      unpack<T>(addend[s], f);
#pragma unroll
      for (unsigned i = 0; i < kWidth<T>; ++i) x[i] += f[i];
      sum[s] = pack<T>(x);
      unpack<T>(sum[s], x);
    }
    squares += sum_of_squares(x);
  }
  return squares;
}

template <class T, unsigned kSlices>
__global__ void __launch_bounds__(kRowThreads) norm_registers_kernel(const NormRows<T> rows) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s)
    if (rows.gain != nullptr && slice_begin<T>(s) < rows.size)
      prefetch(rows.gain + slice_begin<T>(s));
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows.num_rows) return;
  const bool adds = rows.addend != nullptr;
  uint4 x[kSlices];
  uint4 f[kSlices] = {};
  load_slices(rows.input + row * rows.size, rows.size, x);
  if (adds) load_slices(rows.addend + row * rows.size, rows.size, f);
  const float squares = add_slices<T>(x, f, adds);
  RowThreads threads(reinterpret_cast<float*>(shared_memory()), threadIdx.x / kWarpSize,
                     blockDim.x / kWarpSize, 0, 1);
  const float scale = inverse_rms(threads.sum(squares), rows.size, rows.eps);
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    const std::size_t at = slice_begin<T>(s);
    if (at >= rows.size) break;
    if (adds) store_vector(rows.sum + row * rows.size + at, x[s]);
    float values[kWidth<T>];
    unpack<T>(x[s], values);
    store_normed(rows, row, at, scale, values);
  }
}

template <class T, unsigned kElements>
__global__ void __launch_bounds__(kRowThreads) norm_streamed_kernel(const NormRows<T> rows) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t row = blockIdx.x;
  const bool adds = rows.addend != nullptr;
  const T* input = rows.input + row * rows.size;
  const std::size_t step = std::size_t{blockDim.x} * kElements;
  float squares = 0;
  for (std::size_t at = threadIdx.x * kElements; at < rows.size; at += step) {
    float x[kElements];
    load_elements(input + at, x);
    if (adds) {
      float f[kElements];
      load_elements(rows.addend + row * rows.size + at, f);
#pragma unroll
      for (unsigned i = 0; i < kElements; ++i) x[i] += f[i];
      store_elements(rows.sum + row * rows.size + at, x);
    }
    squares += sum_of_squares(x);
  }
  RowThreads threads(reinterpret_cast<float*>(shared_memory()), threadIdx.x / kWarpSize,
                     blockDim.x / kWarpSize, 0, 1);
  const float scale = inverse_rms(threads.sum(squares), rows.size, rows.eps);
  if (adds) input = rows.sum + row * rows.size;  // each thread finds what it wrote itself
  for (std::size_t at = threadIdx.x * kElements; at < rows.size; at += step) {
    float x[kElements];
    load_elements(input + at, x);
    store_normed(rows, row, at, scale, x);
  }
}

template <class T>
void launch_row_norm(const NormRows<T>& rows, const LaunchOptions& options) {
  if (rows.num_rows == 0) return;
  const bool aligned =
      aligned_to_vectors(rows.input, rows.addend, rows.sum, rows.gain, rows.output);
  const RowPlan plan = row_plan(aligned ? vectors_per_row<T>(rows.size) : 0);
  const std::size_t num_warps = plan.threads_per_row / kThreadsPerWarp;
  const LaunchShape shape{.grid = grid_of(ceil_div(rows.num_rows, plan.rows_per_cta)),
                          .cta = {plan.threads_per_row, plan.rows_per_cta},
                          .shared_bytes = RowThreads::scratch_size(num_warps, 1) * sizeof(float)};
  if (plan.variant == RowVariant::scalar)
    return launch(norm_streamed_kernel<T, 1>, shape, options, rows);
  if (plan.variant == RowVariant::streamed)
    return launch(norm_streamed_kernel<T, kWidth<T>>, shape, options, rows);
  launch(plan.slices_per_thread == kRowFewSlices ? norm_registers_kernel<T, kRowFewSlices>
                                                 : norm_registers_kernel<T, kRowManySlices>,
         shape, options, rows);
}

}  // namespace depthcost::cuda
