// Elementwise addition.
//   vectors  16-byte accesses, several in flight per thread
//   scalar   the same kernel, one element at a time: data that is not aligned
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {

/// sum = a + b, of `size` elements, kElements at a time but for the last. `sum` may be `a`.
template <class T, unsigned kElements>
__global__ void __launch_bounds__(kAddThreads, 1)
    add_kernel(T* sum, const T* a, const T* b, std::size_t size) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t first =
      (std::size_t{blockIdx.x} * kAddThreads * kAddVectors + threadIdx.x) * kElements;
  constexpr std::size_t kStep = kAddThreads * kElements;
  Stored<T, kElements> x[kAddVectors];
  Stored<T, kElements> y[kAddVectors];
#pragma unroll
  for (unsigned i = 0; i < kAddVectors; ++i) {
    const std::size_t at = first + i * kStep;
    if (size < at + kElements) continue;
    x[i] = load_stored<T, kElements>(a + at);
    y[i] = load_stored<T, kElements>(b + at);
  }
#pragma unroll
  for (unsigned i = 0; i < kAddVectors; ++i) {
    const std::size_t at = first + i * kStep;
    if (size < at + kElements) {
#pragma unroll 1
      for (std::size_t e = at; e < size; ++e)
        sum[e] = rounded_to<T>(to_float(a[e]) + to_float(b[e]));
      continue;
    }
    float u[kElements];
    float v[kElements];
    unpack_stored<T, kElements>(x[i], u);
    unpack_stored<T, kElements>(y[i], v);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) u[e] += v[e];
    store_elements(sum + at, u);
  }
}

template <class T>
void launch_add(T* sum, const T* a, const T* b, std::size_t size, const LaunchOptions& options) {
  if (size == 0) return;
  const bool vectors = aligned_to_vectors(sum, a, b);
  const std::size_t num_elements = vectors ? kWidth<T> : 1;
  const std::size_t num_ctas = ceil_div(size, kAddThreads * kAddVectors * num_elements);
  launch(vectors ? add_kernel<T, kWidth<T>> : add_kernel<T, 1>,
         {.grid = grid_of(num_ctas), .cta = kAddThreads}, options, sum, a, b, size);
}

}  // namespace depthcost::cuda
