// Elementwise operations.
//   vectors  16-byte accesses, several in flight per thread
//   scalar   the same kernel, one element at a time: rows that are not whole vectors
// Flat: residual_add, unfused_mhc_merge. Streams combined by a small matrix per token: mhc_post,
// unfused_mhc_pre, unfused_mhc_post, unfused_mhc_residual.
#include "kernels/check.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/vector.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kAddThreads = 256;
constexpr unsigned kAddVectors = 4;  // per thread, all in flight at once

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
         {.grid = static_cast<unsigned>(num_ctas), .cta = kAddThreads}, options, sum, a, b, size);
}

/// Per token, out_i = sum_j matrix[i][j] in_j + column[i] extra. A matrix or a column that is null
/// is not there; a matrix without its own rows is one row.
template <class T>
struct Combination {
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

/// The token's coefficients, a row of kMaxRows + 1 for each output: matrix, then column.
template <class T, unsigned kMaxRows>
__device__ void load_coefficients(const Combination<T>& op, std::size_t token, float* to) {
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

/// Elements `at` of all inputs of the token; zero beyond the row.
template <class T, unsigned kMaxRows, unsigned kElements>
__device__ void load_inputs(const Combination<T>& op, std::size_t token, std::size_t at,
                            float (&in)[kMaxRows + 1][kElements]) {
  if (at >= op.size) return;
#pragma unroll
  for (unsigned j = 0; j < kMaxRows; ++j)
    if (j < op.num_inputs)
      load_elements(op.inputs + (token * op.num_inputs + j) * op.size + at, in[j]);
  if (op.extra != nullptr) load_elements(op.extra + token * op.size + at, in[kMaxRows]);
}

/// Up to kMaxRows inputs, all in registers before the first output is written. The first of them
/// are on their way before the coefficients are asked for.
template <class T, unsigned kMaxRows, unsigned kElements>
__global__ void __launch_bounds__(256) combine_kernel(const Combination<T> op) {
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

constexpr unsigned kWideThreads = 64;

/// Any number of inputs: those of an element wait in shared memory, a column for each thread.
template <class T>
__global__ void __launch_bounds__(kWideThreads) combine_wide_kernel(const Combination<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  float* in = reinterpret_cast<float*>(shared_memory()) + threadIdx.x;
  for (std::size_t at = threadIdx.x; at < op.size; at += kWideThreads) {
    for (unsigned j = 0; j < op.num_inputs; ++j)
      in[j * kWideThreads] = to_float(op.inputs[(token * op.num_inputs + j) * op.size + at]);
    const float extra = op.extra != nullptr ? to_float(op.extra[token * op.size + at]) : 0;
    for (unsigned i = 0; i < op.num_outputs; ++i) {
      const std::size_t output = token * op.num_outputs + i;
      float out = op.column != nullptr ? op.column[output] * extra : 0;
      for (unsigned j = 0; j < op.num_inputs; ++j)
        out = fmaf(op.matrix[output * op.num_inputs + j], in[j * kWideThreads], out);
      op.outputs[output * op.size + at] = rounded_to<T>(out);
    }
  }
}

template <class T>
void launch_wide(const Combination<T>& op, const LaunchOptions& options) {
  launch(combine_wide_kernel<T>,
         {.grid = static_cast<unsigned>(op.num_tokens),
          .cta = kWideThreads,
          .shared_bytes = op.num_inputs * kWideThreads * sizeof(float)},
         options, op);
}

template <class T, unsigned kMaxRows, unsigned kElements>
void launch_rows(const Combination<T>& op, const LaunchOptions& options) {
  const TokenPlan plan = token_plan(op.size / kElements);
  const std::size_t num_coefficients =
      std::size_t{plan.tokens_per_cta} * op.num_outputs * (kMaxRows + 1);
  launch(combine_kernel<T, kMaxRows, kElements>,
         {.grid = static_cast<unsigned>(ceil_div(op.num_tokens, plan.tokens_per_cta)),
          .cta = {plan.threads_per_token, plan.tokens_per_cta},
          .shared_bytes = num_coefficients * sizeof(float)},
         options, op);
}

template <class T>
void launch_combination(const Combination<T>& op, const LaunchOptions& options) {
  constexpr unsigned kFew = 4;
  constexpr unsigned kMany = 8;
  if (op.num_tokens == 0) return;
  if (op.num_inputs > kMany) return launch_wide(op, options);
  const bool vectors =
      vectors_per_row<T>(op.size) > 0 && aligned_to_vectors(op.inputs, op.extra, op.outputs);
  if (!vectors) return launch_rows<T, kMany, 1>(op, options);
  if (op.num_inputs <= kFew) return launch_rows<T, kFew, kWidth<T>>(op, options);
  launch_rows<T, kMany, kWidth<T>>(op, options);
}

}  // namespace

template <class T>
void residual_add(const ResidualAdd<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_add(op.hidden_state, const_cast<const T*>(op.hidden_state), op.layer_output,
             op.num_tokens * op.hidden_size, options);
}

template <class T>
void unfused_mhc_merge(const UnfusedMhcMerge<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_add(op.next_streams, op.mixed, op.spread, op.num_tokens * op.num_streams * op.hidden_size,
             options);
}

template <class T>
void mhc_post(const MhcPost<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const auto m = static_cast<unsigned>(op.num_streams);
  launch_combination<T>({.num_tokens = op.num_tokens,
                         .size = op.hidden_size,
                         .num_inputs = m,
                         .num_outputs = m,
                         .inputs = op.streams,
                         .extra = op.layer_output,
                         .matrix = op.residual,
                         .column = op.post,
                         .outputs = op.next_streams},
                        options);
}

template <class T>
void unfused_mhc_pre(const UnfusedMhcPre<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_combination<T>({.num_tokens = op.num_tokens,
                         .size = op.hidden_size,
                         .num_inputs = static_cast<unsigned>(op.num_streams),
                         .num_outputs = 1,
                         .inputs = op.streams,
                         .matrix = op.pre,
                         .outputs = op.output},
                        options);
}

template <class T>
void unfused_mhc_post(const UnfusedMhcPost<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_combination<T>({.num_tokens = op.num_tokens,
                         .size = op.hidden_size,
                         .num_outputs = static_cast<unsigned>(op.num_streams),
                         .extra = op.layer_output,
                         .column = op.post,
                         .outputs = op.spread},
                        options);
}

template <class T>
void unfused_mhc_residual(const UnfusedMhcResidual<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const auto m = static_cast<unsigned>(op.num_streams);
  launch_combination<T>({.num_tokens = op.num_tokens,
                         .size = op.hidden_size,
                         .num_inputs = m,
                         .num_outputs = m,
                         .inputs = op.streams,
                         .matrix = op.residual,
                         .outputs = op.mixed},
                        options);
}

template void residual_add(const ResidualAdd<float>&, const LaunchOptions&);
template void residual_add(const ResidualAdd<Bf16>&, const LaunchOptions&);
template void unfused_mhc_merge(const UnfusedMhcMerge<float>&, const LaunchOptions&);
template void unfused_mhc_merge(const UnfusedMhcMerge<Bf16>&, const LaunchOptions&);
template void mhc_post(const MhcPost<float>&, const LaunchOptions&);
template void mhc_post(const MhcPost<Bf16>&, const LaunchOptions&);
template void unfused_mhc_pre(const UnfusedMhcPre<float>&, const LaunchOptions&);
template void unfused_mhc_pre(const UnfusedMhcPre<Bf16>&, const LaunchOptions&);
template void unfused_mhc_post(const UnfusedMhcPost<float>&, const LaunchOptions&);
template void unfused_mhc_post(const UnfusedMhcPost<Bf16>&, const LaunchOptions&);
template void unfused_mhc_residual(const UnfusedMhcResidual<float>&, const LaunchOptions&);
template void unfused_mhc_residual(const UnfusedMhcResidual<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
