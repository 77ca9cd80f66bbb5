// Streams of a token, combined by a small matrix.
//   vectors  16-byte accesses; all inputs are in registers before the first output is written
//   scalar   the same kernel, one element at a time: rows that are not whole vectors
//   wide     any number of inputs, in shared memory
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {

/// Per token, out_i = sum_j matrix[i][j] in_j + column[i] extra. A matrix or a column that is null
/// counts as zero.
template <class T>
struct StreamMix {
  std::size_t num_tokens = 0;
  std::size_t size = 0;  // d
  unsigned num_inputs = 0;
  unsigned num_outputs = 0;
  const T* inputs = nullptr;      // (T, inputs, d)
  const T* extra = nullptr;       // (T, d)
  const float* matrix = nullptr;  // (T, outputs, inputs)
  const float* column = nullptr;  // (T, outputs)
  T* outputs = nullptr;           // (T, outputs, d), may be `inputs`
};

/// Loads the coefficients of the token, a row of kMaxRows + 1 for each output: matrix, then column.
template <class T, unsigned kMaxRows>
__device__ void load_coefficients(const StreamMix<T>& op, std::size_t token, float* to) {
  const unsigned count = op.num_outputs * (kMaxRows + 1);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const unsigned output = i / (kMaxRows + 1);
    const unsigned input = i % (kMaxRows + 1);
    const std::size_t at = token * op.num_outputs + output;
    float value = 0;
    if (input < op.num_inputs) value = op.matrix[at * op.num_inputs + input];
    if (input == kMaxRows && op.column != nullptr) value = op.column[at];
    to[i] = value;
  }
}

/// Loads the elements at `at` of all inputs of the token.
template <class T, unsigned kMaxRows, unsigned kElements>
__device__ void load_inputs(const StreamMix<T>& op, std::size_t token, std::size_t at,
                            float (&in)[kMaxRows + 1][kElements]) {
  if (at >= op.size) return;
#pragma unroll
  for (unsigned j = 0; j < kMaxRows; ++j)
    if (j < op.num_inputs)
      load_elements(op.inputs + (token * op.num_inputs + j) * op.size + at, in[j]);
  if (op.extra != nullptr) load_elements(op.extra + token * op.size + at, in[kMaxRows]);
}

/// Up to kMaxRows inputs, all of which are in registers before the first output is written. They
/// are requested before the coefficients are.
template <class T, unsigned kMaxRows, unsigned kElements>
__global__ void __launch_bounds__(kMixThreads) mix_streams_kernel(const StreamMix<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  const std::size_t size = token < op.num_tokens ? op.size : 0;
  std::size_t at = threadIdx.x * kElements;
  float in[kMaxRows + 1][kElements] = {};
  if (size > 0) load_inputs<T, kMaxRows>(op, token, at, in);
  float* coefficients =
      reinterpret_cast<float*>(shared_memory()) + threadIdx.y * op.num_outputs * (kMaxRows + 1);
  if (size > 0) load_coefficients<T, kMaxRows>(op, token, coefficients);
  __syncthreads();
  while (at < size) {
#pragma unroll 1  // two at a time, stores of float fall apart
    for (unsigned i = 0; i < op.num_outputs; ++i) {
      float out[kElements] = {};
#pragma unroll
      for (unsigned j = 0; j <= kMaxRows; ++j) {
        const float weight = coefficients[i * (kMaxRows + 1) + j];
#pragma unroll
        for (unsigned e = 0; e < kElements; ++e) out[e] = fmaf(weight, in[j][e], out[e]);
      }
      store_elements(op.outputs + (token * op.num_outputs + i) * op.size + at, out);
    }
    at += blockDim.x * kElements;
    load_inputs<T, kMaxRows>(op, token, at, in);
  }
}

/// Any number of inputs, which are kept in shared memory, a column for each thread.
template <class T>
__global__ void __launch_bounds__(kMixWideThreads) mix_wide_kernel(const StreamMix<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  float* in = reinterpret_cast<float*>(shared_memory()) + threadIdx.x;
  for (std::size_t at = threadIdx.x; at < op.size; at += kMixWideThreads) {
    for (unsigned j = 0; j < op.num_inputs; ++j)
      in[j * kMixWideThreads] = to_float(op.inputs[(token * op.num_inputs + j) * op.size + at]);
    const float extra = op.extra != nullptr ? to_float(op.extra[token * op.size + at]) : 0;
    for (unsigned i = 0; i < op.num_outputs; ++i) {
      const std::size_t output = token * op.num_outputs + i;
      float out = op.column != nullptr ? op.column[output] * extra : 0;
      for (unsigned j = 0; j < op.num_inputs; ++j)
        out = fmaf(op.matrix[output * op.num_inputs + j], in[j * kMixWideThreads], out);
      op.outputs[output * op.size + at] = rounded_to<T>(out);
    }
  }
}

template <class T>
void launch_wide_mix(const StreamMix<T>& op, const LaunchOptions& options) {
  launch(mix_wide_kernel<T>,
         {.grid = grid_of(op.num_tokens),
          .cta = kMixWideThreads,
          .shared_bytes = op.num_inputs * kMixWideThreads * sizeof(float),
          .shared_size = {"a mix of streams", "the number of streams", op.num_inputs}},
         options, op);
}

template <class T, unsigned kMaxRows, unsigned kElements>
void launch_narrow_mix(const StreamMix<T>& op, const LaunchOptions& options) {
  const TokenPlan plan = token_plan(op.size / kElements);
  const std::size_t num_coefficients =
      std::size_t{plan.tokens_per_cta} * op.num_outputs * (kMaxRows + 1);
  launch(mix_streams_kernel<T, kMaxRows, kElements>,
         {.grid = grid_of(ceil_div(op.num_tokens, plan.tokens_per_cta)),
          .cta = {plan.threads_per_token, plan.tokens_per_cta},
          .shared_bytes = num_coefficients * sizeof(float)},
         options, op);
}

template <class T>
void launch_stream_mix(const StreamMix<T>& op, const LaunchOptions& options) {
  if (op.num_tokens == 0) return;
  if (op.num_inputs > kMixManyStreams) return launch_wide_mix(op, options);
  const bool vectors =
      vectors_per_row<T>(op.size) > 0 && aligned_to_vectors(op.inputs, op.extra, op.outputs);
  if (!vectors) return launch_narrow_mix<T, kMixManyStreams, 1>(op, options);
  if (op.num_inputs <= kMixFewStreams)
    return launch_narrow_mix<T, kMixFewStreams, kWidth<T>>(op, options);
  launch_narrow_mix<T, kMixManyStreams, kWidth<T>>(op, options);
}

}  // namespace depthcost::cuda
