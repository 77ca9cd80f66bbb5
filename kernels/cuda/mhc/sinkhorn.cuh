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

/// The logarithm of what normalising the exponentials of every line gives. No line of the other
/// kind can vanish, however far its logits lie below those of its neighbours.
template <unsigned kStreams, Lines kLines>
__device__ void normalise_logits(float (&matrix)[kStreams * kStreams]) {
#pragma unroll
  for (unsigned line = 0; line < kStreams; ++line) {
    float largest = matrix[place<kStreams, kLines>(line, 0)];
#pragma unroll
    for (unsigned i = 1; i < kStreams; ++i)
      largest = fmaxf(largest, matrix[place<kStreams, kLines>(line, i)]);
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kStreams; ++i)
      sum += expf(matrix[place<kStreams, kLines>(line, i)] - largest);
    const float log_sum = largest + logf(sum);
#pragma unroll
    for (unsigned i = 0; i < kStreams; ++i) matrix[place<kStreams, kLines>(line, i)] -= log_sum;
  }
}

/// exp(logits), every line relative to its largest logit: its sum divides that factor out again.
template <unsigned kStreams, Lines kLines>
__device__ void exponentiate(float (&matrix)[kStreams * kStreams]) {
#pragma unroll
  for (unsigned line = 0; line < kStreams; ++line) {
    float largest = matrix[place<kStreams, kLines>(line, 0)];
#pragma unroll
    for (unsigned i = 1; i < kStreams; ++i)
      largest = fmaxf(largest, matrix[place<kStreams, kLines>(line, i)]);
#pragma unroll
    for (unsigned i = 0; i < kStreams; ++i) {
      float& element = matrix[place<kStreams, kLines>(line, i)];
      element = expf(element - largest);
    }
  }
}

/// The first iteration, of which half is done on logits.
template <unsigned kStreams, Lines kFirst, Lines kSecond>
__device__ void balance_once(float (&matrix)[kStreams * kStreams]) {
  normalise_logits<kStreams, kFirst>(matrix);
  exponentiate<kStreams, kSecond>(matrix);
  normalise<kStreams, kSecond>(matrix);
}

/// Sinkhorn(exp(logits)), iterations >= 1.
template <unsigned kStreams>
__device__ void balance_logits(float (&matrix)[kStreams * kStreams], std::size_t iterations,
                               SinkhornOrder order) {
  if (order == SinkhornOrder::col_row)
    balance_once<kStreams, Lines::columns, Lines::rows>(matrix);
  else
    balance_once<kStreams, Lines::rows, Lines::columns>(matrix);
  balance<kStreams>(matrix, iterations - 1, order);
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

/// The largest logit of a line.
__device__ inline float largest_of(const float* first, unsigned step, unsigned m) {
  float largest = first[0];
  for (unsigned i = 1; i < m; ++i) largest = fmaxf(largest, first[i * step]);
  return largest;
}

__device__ inline void normalise_logits_shared(float* matrix, unsigned m, Lines lines) {
  const unsigned step = lines == Lines::rows ? 1 : m;
  for (unsigned line = threadIdx.x % kWarpSize; line < m; line += kWarpSize) {
    float* first = matrix + line * (lines == Lines::rows ? m : 1);
    const float largest = largest_of(first, step, m);
    float sum = 0;
    for (unsigned i = 0; i < m; ++i) sum += expf(first[i * step] - largest);
    const float log_sum = largest + logf(sum);
    for (unsigned i = 0; i < m; ++i) first[i * step] -= log_sum;
  }
  __syncwarp();
}

__device__ inline void exponentiate_shared(float* matrix, unsigned m, Lines lines) {
  const unsigned step = lines == Lines::rows ? 1 : m;
  for (unsigned line = threadIdx.x % kWarpSize; line < m; line += kWarpSize) {
    float* first = matrix + line * (lines == Lines::rows ? m : 1);
    const float largest = largest_of(first, step, m);
    for (unsigned i = 0; i < m; ++i) first[i * step] = expf(first[i * step] - largest);
  }
  __syncwarp();
}

__device__ inline void balance_logits_shared(float* matrix, unsigned m, std::size_t iterations,
                                             SinkhornOrder order) {
  const bool columns_first = order == SinkhornOrder::col_row;
  const Lines second = columns_first ? Lines::rows : Lines::columns;
  normalise_logits_shared(matrix, m, columns_first ? Lines::columns : Lines::rows);
  exponentiate_shared(matrix, m, second);
  normalise_shared(matrix, m, second);
  balance_shared(matrix, m, iterations - 1, order);
}

}  // namespace depthcost::cuda
