// Sinkhorn's iteration on an m x m matrix that one thread holds in registers.
#pragma once

#include "kernels/cuda/primitives/ptx.cuh"
#include "kernels/operations/mhc.hpp"

namespace depthcost::cuda {

enum class Lines { columns, rows };

template <unsigned kStreams, Lines kLines>
__device__ constexpr unsigned place(unsigned line, unsigned i) {
  return kLines == Lines::rows ? line * kStreams + i : i * kStreams + line;
}

/// Divides every column or row by its sum.
template <unsigned kStreams, Lines kLines>
__device__ void normalise(float (&matrix)[kStreams * kStreams]) {
#pragma unroll
  for (unsigned line = 0; line < kStreams; ++line) {
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kStreams; ++i) sum += matrix[place<kStreams, kLines>(line, i)];
    const float scale = __fdividef(1.0F, sum);
#pragma unroll
    for (unsigned i = 0; i < kStreams; ++i) matrix[place<kStreams, kLines>(line, i)] *= scale;
  }
}

template <unsigned kStreams>
__device__ void balance(float (&matrix)[kStreams * kStreams], std::size_t iterations,
                        SinkhornOrder order) {
#pragma unroll 1
  for (std::size_t i = 0; i < iterations; ++i) {
    if (order == SinkhornOrder::row_col) normalise<kStreams, Lines::rows>(matrix);
    normalise<kStreams, Lines::columns>(matrix);
    if (order == SinkhornOrder::col_row) normalise<kStreams, Lines::rows>(matrix);
  }
}

/// exp(logits), where each line that is normalised first is taken relative to its largest logit.
/// Its sum divides that factor out again.
template <unsigned kStreams, Lines kFirst>
__device__ void exponentiate(float (&matrix)[kStreams * kStreams]) {
#pragma unroll
  for (unsigned line = 0; line < kStreams; ++line) {
    float largest = matrix[place<kStreams, kFirst>(line, 0)];
#pragma unroll
    for (unsigned i = 1; i < kStreams; ++i)
      largest = fmaxf(largest, matrix[place<kStreams, kFirst>(line, i)]);
#pragma unroll
    for (unsigned i = 0; i < kStreams; ++i) {
      float& element = matrix[place<kStreams, kFirst>(line, i)];
      element = expf(element - largest);
    }
  }
}

template <unsigned kStreams>
__device__ void balance_logits(float (&matrix)[kStreams * kStreams], std::size_t iterations,
                               SinkhornOrder order) {
  if (order == SinkhornOrder::col_row)
    exponentiate<kStreams, Lines::columns>(matrix);
  else
    exponentiate<kStreams, Lines::rows>(matrix);
  balance<kStreams>(matrix, iterations, order);
}

/// The same for any m, by one warp, on a matrix in shared memory. A lane takes a line.
__device__ inline void normalise_shared(float* matrix, unsigned m, Lines lines) {
  const unsigned step = lines == Lines::rows ? 1 : m;
  for (unsigned line = threadIdx.x % kWarpSize; line < m; line += kWarpSize) {
    float* first = matrix + line * (lines == Lines::rows ? m : 1);
    float sum = 0;
    for (unsigned i = 0; i < m; ++i) sum += first[i * step];
    const float scale = __fdividef(1.0F, sum);
    for (unsigned i = 0; i < m; ++i) first[i * step] *= scale;
  }
  __syncwarp();
}

__device__ inline void balance_shared(float* matrix, unsigned m, std::size_t iterations,
                                      SinkhornOrder order) {
  for (std::size_t i = 0; i < iterations; ++i) {
    if (order == SinkhornOrder::row_col) normalise_shared(matrix, m, Lines::rows);
    normalise_shared(matrix, m, Lines::columns);
    if (order == SinkhornOrder::col_row) normalise_shared(matrix, m, Lines::rows);
  }
}

__device__ inline void exponentiate_shared(float* matrix, unsigned m, SinkhornOrder order) {
  const bool columns = order == SinkhornOrder::col_row;
  for (unsigned line = threadIdx.x % kWarpSize; line < m; line += kWarpSize) {
    float* first = matrix + line * (columns ? 1 : m);
    const unsigned step = columns ? m : 1;
    float largest = first[0];
    for (unsigned i = 1; i < m; ++i) largest = fmaxf(largest, first[i * step]);
    for (unsigned i = 0; i < m; ++i) first[i * step] = expf(first[i * step] - largest);
  }
  __syncwarp();
}

}  // namespace depthcost::cuda
