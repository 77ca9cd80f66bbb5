// Gated Residual: arguments, the choice of a variant, and those for any shape.
//   scalar  a CTA per token, element by element; rows of matrices come from L2 for each token
#include "kernels/cuda/gated_residual/gated_residual.cuh"

#include "kernels/cuda/primitives/reduce.cuh"

namespace depthcost::cuda {
namespace {

/// The row threads of a CTA whose scratch lies behind `used` floats.
__device__ RowThreads scalar_threads(std::size_t used) {
  return {reinterpret_cast<float*>(shared_memory()) + used, threadIdx.x / kWarpSize, kScalarWarps,
          0, 1};
}

/// X_i + lambda_i f, stored; 1 / rms of each stream to `factors`.
template <class T>
__device__ void update_streams(const GatedApplyDown<T>& op, RowThreads& threads, float* factors) {
  const std::size_t token = blockIdx.x;
  for (std::size_t i = 0; i < op.num_streams; ++i) {
    const std::size_t stream = token * op.num_streams + i;
    const float lambda = op.inject[stream];
    float squares = 0;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
      const float f = to_float(op.layer_output[token * op.hidden_size + e]);
      const std::size_t at = stream * op.hidden_size + e;
      const T x = rounded_to<T>(fmaf(lambda, f, to_float(op.streams[at])));
      op.next_streams[at] = x;
      squares = fmaf(to_float(x), to_float(x), squares);
    }
    const float mean = threads.sum(squares) / static_cast<float>(op.hidden_size);
    if (threadIdx.x == 0) op.inverse_rms[stream] = factors[i] = rsqrtf(mean + op.eps);
  }
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    scalar_apply_down_kernel(const __grid_constant__ GatedApplyDown<T> op, unsigned num_rows) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  float* factors = reinterpret_cast<float*>(shared_memory());
  RowThreads threads = scalar_threads(op.num_streams);
  update_streams(op, threads, factors);
  const T* streams = op.next_streams + blockIdx.x * op.num_streams * op.hidden_size;
  for (std::size_t row = 0; row < num_rows; ++row) {
    const T* weights = gate_row(op, row);
    float sum = 0;
    for (std::size_t i = 0; i < op.num_streams; ++i)
      for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
        const std::size_t at = i * op.hidden_size + e;
        const float scale = fmaf(factors[i], to_float(op.gain[at]), factors[i]);
        sum = fmaf(to_float(weights[at]), to_float(streams[at]) * scale, sum);
      }
    const float product = threads.sum(sum);
    if (threadIdx.x == 0) store_gate_row(op, blockIdx.x, row, product);
  }
}

/// A warp for each element of x.
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    scalar_up_mix_kernel(const __grid_constant__ GatedUpMix<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  const float* activation = op.activation + token * op.rank;
  for (std::size_t e = threadIdx.x / kWarpSize; e < op.hidden_size; e += kScalarWarps) {
    float x = 0;
    for (std::size_t i = 0; i < op.num_streams; ++i) {
      const T* weights = op.up + (i * op.hidden_size + e) * op.rank;
      float z = 0;
      for (std::size_t k = lane_id(); k < op.rank; k += kWarpSize)
        z = fmaf(to_float(weights[k]), activation[k], z);
      const std::size_t stream = token * op.num_streams + i;
      const float factor = op.inverse_rms[stream];
      const float scale = fmaf(factor, to_float(op.gain[i * op.hidden_size + e]), factor);
      x = fmaf(gate_sigmoid(warp_sum(z)), to_float(op.streams[stream * op.hidden_size + e]) * scale,
               x);
    }
    if (lane_id() == 0)
      op.output[token * op.hidden_size + e] = rounded_to<T>(x / static_cast<float>(op.num_streams));
  }
}

template <class T>
void launch_scalar_apply_down(const GatedApplyDown<T>& op, const LaunchOptions& options) {
  const std::size_t floats = op.num_streams + RowThreads::scratch_size(kScalarWarps, 1);
  launch(scalar_apply_down_kernel<T>,
         {.grid = grid_of(op.num_tokens),
          .cta = kScalarThreads,
          .shared_bytes = floats * sizeof(float),
          .shared_size = {"gated_residual_apply_down", "num_streams", op.num_streams}},
         options, op, static_cast<unsigned>(gate_rows(op)));
}

}  // namespace

template <class T>
void run(const GatedApplyDown<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  if constexpr (sizeof(T) == 2) {
    const GatePlan plan =
        gate_plan(planned_tokens(op.num_tokens, options), vectors_per_row<T>(op.hidden_size),
                  op.num_streams, gate_rows(op), device_limits());
    if (plan.variant == GateVariant::cluster_tile) return launch_gate_tile(op, plan.tile, options);
    if (plan.variant == GateVariant::split_rows) return launch_gate_split_rows(op, options);
  }
  launch_scalar_apply_down(op, options);
}

template <class T>
void run(const GatedUpMix<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  if constexpr (sizeof(T) == 2) {
    if (holds_up_rows(vectors_per_row<T>(op.hidden_size), op.num_streams, op.rank))
      return launch_gate_held_mix(op, options);
  }
  launch(scalar_up_mix_kernel<T>, {.grid = grid_of(op.num_tokens), .cta = kScalarThreads}, options,
         op);
}

template void run(const GatedApplyDown<float>&, const LaunchOptions&);
template void run(const GatedApplyDown<Bf16>&, const LaunchOptions&);
template void run(const GatedUpMix<float>&, const LaunchOptions&);
template void run(const GatedUpMix<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
