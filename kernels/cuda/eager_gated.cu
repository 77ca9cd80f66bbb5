// Gated Residual in eager mode, launch by launch: unfused_gated_norm, unfused_activation,
// unfused_gate_product, unfused_stream_mean. Accesses are of 16 bytes where rows are whole vectors,
// else element by element. The products with matrices are in eager_gated_products.cu.
#include "kernels/cuda/eager_gated_variants.hpp"
#include "kernels/cuda/gated_residual/gated_residual.cuh"
#include "kernels/cuda/primitives/elementwise.cuh"
#include "kernels/cuda/primitives/row_norm.cuh"

namespace depthcost::cuda {
namespace {

struct GateSigmoid {
  static constexpr unsigned kInputs = 1;
  __device__ static float of(float z, float /*same*/) { return gate_sigmoid(z); }
};
struct GateTwiceSigmoid {
  static constexpr unsigned kInputs = 1;
  __device__ static float of(float z, float /*same*/) { return 2 * gate_sigmoid(z); }
};
struct GateSilu {
  static constexpr unsigned kInputs = 1;
  __device__ static float of(float z, float /*same*/) { return z * gate_sigmoid(z); }
};
struct GateTimes {
  static constexpr unsigned kInputs = 2;
  __device__ static float of(float gate, float x) { return gate * x; }
};

/// A CTA for each stream of a token. The second pass finds the row in L1.
template <class T, unsigned kElements>
__global__ void __launch_bounds__(kMixThreads)
    gated_norm_kernel(const __grid_constant__ UnfusedGatedNorm<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t row = blockIdx.x;
  const T* X = op.streams + row * op.hidden_size;
  const T* gain = op.gain + row % op.num_streams * op.hidden_size;
  const std::size_t step = std::size_t{blockDim.x} * kElements;
  float squares = 0;
  for (std::size_t at = threadIdx.x * kElements; at < op.hidden_size; at += step) {
    float x[kElements];
    load_elements(X + at, x);
    squares += sum_of_squares(x);
  }
  RowThreads threads(reinterpret_cast<float*>(shared_memory()), threadIdx.x / kWarpSize,
                     blockDim.x / kWarpSize, 0, 1);
  const float scale = inverse_rms(threads.sum(squares), op.hidden_size, op.eps);
  for (std::size_t at = threadIdx.x * kElements; at < op.hidden_size; at += step) {
    float x[kElements];
    float g[kElements];
    load_elements(X + at, x);
    load_elements(gain + at, g);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[e] *= fmaf(scale, g[e], scale);
    store_elements(op.output + row * op.hidden_size + at, x);
  }
}

/// A thread for kElements of x.
template <class T, unsigned kElements>
__global__ void __launch_bounds__(kEagerThreads)
    stream_mean_kernel(const __grid_constant__ UnfusedStreamMean<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t at =
      (std::size_t{blockIdx.x} * kEagerThreads + threadIdx.x) * kElements;  // of x
  if (at >= op.num_tokens * op.hidden_size) return;
  const std::size_t token = at / op.hidden_size;
  const T* first = op.streams + token * (op.num_streams - 1) * op.hidden_size + at;
  float sum[kElements] = {};
#pragma unroll 4
  for (std::size_t i = 0; i < op.num_streams; ++i) {
    float y[kElements];
    load_elements(first + i * op.hidden_size, y);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) sum[e] += y[e];
  }
  const float share = 1.0F / static_cast<float>(op.num_streams);
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) sum[e] *= share;
  store_elements(op.output + at, sum);
}

template <class Op>
std::size_t streams_size(const Op& op) {
  return op.num_tokens * op.num_streams * op.hidden_size;
}

}  // namespace

template <class T>
void run(const UnfusedGatedNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const std::size_t vectors = vectors_per_row<T>(op.hidden_size);
  const unsigned num_threads = gated_norm_threads(vectors, op.hidden_size);
  const std::size_t floats = RowThreads::scratch_size(num_threads / kThreadsPerWarp, 1);
  launch(vectors > 0 ? gated_norm_kernel<T, kWidth<T>> : gated_norm_kernel<T, 1>,
         {.grid = grid_of(op.num_tokens * op.num_streams),
          .cta = num_threads,
          .shared_bytes = floats * sizeof(float)},
         options, op);
}

template <class T>
void run(const UnfusedActivation<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const Elementwise<T, 1> elements{op.output, {op.input}, streams_size(op)};
  switch (op.function) {
    case GateFunction::sigmoid:
      return launch_elementwise<GateSigmoid>(elements, options);
    case GateFunction::twice_sigmoid:
      return launch_elementwise<GateTwiceSigmoid>(elements, options);
    case GateFunction::silu:
      return launch_elementwise<GateSilu>(elements, options);
  }
}

template <class T>
void run(const UnfusedGateProduct<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_elementwise<GateTimes>(
      Elementwise<T, 2>{op.output, {op.gates, op.input}, streams_size(op)}, options);
}

template <class T>
void run(const UnfusedStreamMean<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const bool vectors = vectors_per_row<T>(op.hidden_size) > 0;
  const std::size_t num_threads =
      op.num_tokens * op.hidden_size / (vectors ? kWidth<T> : std::size_t{1});
  launch(vectors ? stream_mean_kernel<T, kWidth<T>> : stream_mean_kernel<T, 1>,
         {.grid = grid_of(ceil_div(num_threads, kEagerThreads)), .cta = kEagerThreads}, options,
         op);
}

template void run(const UnfusedGatedNorm<float>&, const LaunchOptions&);
template void run(const UnfusedGatedNorm<Bf16>&, const LaunchOptions&);
template void run(const UnfusedActivation<float>&, const LaunchOptions&);
template void run(const UnfusedActivation<Bf16>&, const LaunchOptions&);
template void run(const UnfusedGateProduct<float>&, const LaunchOptions&);
template void run(const UnfusedGateProduct<Bf16>&, const LaunchOptions&);
template void run(const UnfusedStreamMean<float>&, const LaunchOptions&);
template void run(const UnfusedStreamMean<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
