// A function of the elements of one tensor, or of two.
//   vectors  16-byte accesses, several in flight per thread
//   scalar   the same kernel, one element at a time: data that is not aligned
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {

/// output = function(inputs...), of `size` elements.
template <class T, unsigned kInputs>
struct Elementwise {
  T* output = nullptr;
  const T* inputs[kInputs] = {};
  std::size_t size = 0;
};

/// kElements at a time but for the last.
template <class T, class Function, unsigned kElements>
__global__ void __launch_bounds__(kEagerThreads, 1)
    elementwise_kernel(const __grid_constant__ Elementwise<T, Function::kInputs> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  constexpr unsigned kInputs = Function::kInputs;
  constexpr std::size_t kStep = kEagerThreads * kElements;
  const std::size_t first =
      std::size_t{blockIdx.x} * kStep * kElementwiseVectors + std::size_t{threadIdx.x} * kElements;
  Stored<T, kElements> stored[kElementwiseVectors][kInputs];
#pragma unroll
  for (unsigned i = 0; i < kElementwiseVectors; ++i)
#pragma unroll
    for (unsigned input = 0; input < kInputs; ++input)
      if (first + i * kStep + kElements <= op.size)
        stored[i][input] = load_stored<T, kElements>(op.inputs[input] + first + i * kStep);
#pragma unroll
  for (unsigned i = 0; i < kElementwiseVectors; ++i) {
    const std::size_t at = first + i * kStep;
    float x[kInputs][kElements];
    if (at + kElements <= op.size) {
#pragma unroll
      for (unsigned input = 0; input < kInputs; ++input)
        unpack_stored<T, kElements>(stored[i][input], x[input]);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) x[0][e] = Function::of(x[0][e], x[kInputs - 1][e]);
      store_elements(op.output + at, x[0]);
      continue;
    }
#pragma unroll 1
    for (std::size_t e = at; e < op.size; ++e)
      op.output[e] = rounded_to<T>(
          Function::of(to_float(op.inputs[0][e]), to_float(op.inputs[kInputs - 1][e])));
  }
}

template <class Function, class T, unsigned kInputs>
void launch_elementwise(const Elementwise<T, kInputs>& op, const LaunchOptions& options) {
  if (op.size == 0) return;
  const bool vectors = aligned_to_vectors(op.output, op.inputs[0], op.inputs[kInputs - 1]);
  const std::size_t num_elements = vectors ? kWidth<T> : 1;
  const std::size_t num_ctas =
      ceil_div(op.size, kEagerThreads * kElementwiseVectors * num_elements);
  launch(vectors ? elementwise_kernel<T, Function, kWidth<T>> : elementwise_kernel<T, Function, 1>,
         {.grid = grid_of(num_ctas), .cta = kEagerThreads}, options, op);
}

}  // namespace depthcost::cuda
