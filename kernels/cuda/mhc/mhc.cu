// mhc_pre, mhc_boundary, single_pass_mhc and unfused_mhc_coefficients: arguments, the choice of a
// variant, and the one for any shape.
//   scalar  a CTA per token, element by element; streams are read for each row of phi, from L1
//           and L2
#include "kernels/cuda/mhc/mhc.cuh"

#include "kernels/cuda/mhc/sinkhorn.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {
namespace {

/// mhc_post of the CTA's token. The streams of an element wait in `scratch` (m, kScalarThreads),
/// since the updated ones may take their place.
template <class T>
__device__ void update_streams(const MhcStep<T>& op, float* scratch) {
  if (op.layer_output == nullptr) return;
  const std::size_t token = blockIdx.x;
  const std::size_t m = op.num_streams;
  float* x = scratch + threadIdx.x;
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
    for (std::size_t j = 0; j < m; ++j)
      x[j * kScalarThreads] = to_float(op.streams[(token * m + j) * op.hidden_size + e]);
    const float f = to_float(op.layer_output[token * op.hidden_size + e]);
    for (std::size_t i = 0; i < m; ++i) {
      float sum = op.post[token * m + i] * f;
      for (std::size_t j = 0; j < m; ++j)
        sum = fmaf(op.residual[(token * m + i) * m + j], x[j * kScalarThreads], sum);
      op.updated_streams[(token * m + i) * op.hidden_size + e] = rounded_to<T>(sum);
    }
  }
  __syncthreads();
}

/// coefficients[row] of all rows of phi, the residual's as logits. `streams` are the token's.
template <class T>
__device__ void store_coefficients(const MhcStep<T>& op, const T* streams, RowThreads& threads,
                                   float* coefficients) {
  const std::size_t size = op.num_streams * op.hidden_size;
  for (std::size_t row = 0; row < op.num_rows(); ++row) {
    float shares[2] = {};
    for (std::size_t e = threadIdx.x; e < size; e += kScalarThreads) {
      const float x = to_float(streams[e]);
      shares[0] = fmaf(op.mapping.phi[row * size + e], x, shares[0]);
      shares[1] = fmaf(x, x, shares[1]);
    }
    const float total = threads.sums(shares);
    const float dot = __shfl_sync(kFullMask, total, 0);
    const float square = __shfl_sync(kFullMask, total, kLanesPerValue<2>);
    const float z = dot * rsqrtf(square / static_cast<float>(size) + op.mapping.eps);
    if (threadIdx.x == 0)
      coefficients[row] = coefficient(op.mapping, static_cast<unsigned>(op.num_streams),
                                      static_cast<unsigned>(row), z);
  }
  __syncthreads();
}

/// The coefficients that mix x, copied before next_pre may overwrite them.
template <class T>
__device__ const float* mixing_coefficients(const MhcStep<T>& op, const float* coefficients,
                                            float* kept) {
  if (op.pre == nullptr) return coefficients;
  for (unsigned i = threadIdx.x; i < op.num_streams; i += kScalarThreads)
    kept[i] = op.pre[blockIdx.x * op.num_streams + i];
  __syncthreads();
  return kept;
}

/// Stores H_pre, H_post and H_res. The first warp runs Sinkhorn.
template <class T>
__device__ void store_next_coefficients(const MhcStep<T>& op, float* coefficients) {
  const auto m = static_cast<unsigned>(op.num_streams);
  const std::size_t at = std::size_t{blockIdx.x} * m;
  if (threadIdx.x >= kWarpSize) return;
  float* residual = coefficients + 2 * m;
  balance_logits_shared(residual, m, op.mapping.iterations, op.mapping.order);
  for (unsigned i = threadIdx.x; i < m; i += kWarpSize) {
    if (op.next_pre != nullptr) op.next_pre[at + i] = coefficients[i];
    op.next_post[at + i] = coefficients[m + i];
  }
  for (unsigned i = threadIdx.x; i < m * m; i += kWarpSize)
    op.next_residual[at * m + i] = residual[i];
}

template <class T>
__device__ void store_next_input(const MhcStep<T>& op, const T* streams, const float* pre,
                                 RowThreads& threads) {
  const auto mixed = [&](std::size_t e) {
    float x = 0;
    for (std::size_t j = 0; j < op.num_streams; ++j)
      x = fmaf(pre[j], to_float(streams[j * op.hidden_size + e]), x);
    return x;
  };
  float scale = 1;
  if (op.norm.gain != nullptr) {
    float squares = 0;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads)
      squares += mixed(e) * mixed(e);
    scale = rsqrtf(threads.sum(squares) / static_cast<float>(op.hidden_size) + op.norm.eps);
  }
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
    const float gain = op.norm.gain != nullptr ? op.norm.gain[e] : 1;
    op.output[blockIdx.x * op.hidden_size + e] = rounded_to<T>(mixed(e) * scale * gain);
  }
}

template <class T>
__global__ void __launch_bounds__(kScalarThreads, 1)
    scalar_kernel(const __grid_constant__ MhcStep<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  float* scratch = reinterpret_cast<float*>(shared_memory());
  float* coefficients = scratch + RowThreads::scratch_size(kScalarWarps, 2);
  float* kept = coefficients + op.num_rows();
  update_streams(op, kept + op.num_streams);
  const T* streams = (op.layer_output != nullptr ? op.updated_streams : op.streams) +
                     blockIdx.x * op.num_streams * op.hidden_size;
  RowThreads threads(scratch, threadIdx.x / kWarpSize, kScalarWarps, 0, 2);
  store_coefficients(op, streams, threads, coefficients);
  const float* pre = mixing_coefficients(op, coefficients, kept);
  store_next_coefficients(op, coefficients);
  if (op.output != nullptr) store_next_input(op, streams, pre, threads);
}

template <class T>
void launch_scalar(const MhcStep<T>& op, const LaunchOptions& options) {
  const std::size_t streams = op.layer_output != nullptr ? op.num_streams * kScalarThreads : 0;
  const std::size_t num_floats =
      RowThreads::scratch_size(kScalarWarps, 2) + op.num_rows() + op.num_streams + streams;
  launch(scalar_kernel<T>,
         {.grid = grid_of(op.num_tokens),
          .cta = kScalarThreads,
          .shared_bytes = num_floats * sizeof(float),
          .shared_size = {"mhc", "num_streams", op.num_streams}},
         options, op);
}

template <class T>
void launch_step(const MhcStep<T>& op, const LaunchOptions& options) {
  if (op.num_tokens == 0) return;
  if constexpr (std::is_same_v<T, Bf16>) {
    const bool aligned = aligned_to_vectors(op.streams, op.layer_output, op.updated_streams,
                                            op.mapping.phi, op.norm.gain, op.output);
    const TilePlan plan =
        mhc_plan(planned_tokens(op.num_tokens, options),
                 aligned ? vectors_per_row<T>(op.hidden_size) : 0, op.num_streams, device_limits());
    if (plan.variant == TileVariant::cluster_tile) return launch_mhc_tile(op, plan, options);
  }
  launch_scalar(op, options);
}

}  // namespace

template <class T>
void run(const MhcPre<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_step<T>({.num_tokens = op.num_tokens,
                  .hidden_size = op.hidden_size,
                  .num_streams = op.num_streams,
                  .streams = op.streams,
                  .mapping = op.mapping,
                  .norm = op.norm,
                  .output = op.output,
                  .next_post = op.post,
                  .next_residual = op.residual},
                 options);
}

template <class T>
void run(const MhcBoundary<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_step<T>({.num_tokens = op.post.num_tokens,
                  .hidden_size = op.post.hidden_size,
                  .num_streams = op.post.num_streams,
                  .streams = op.post.streams,
                  .layer_output = op.post.layer_output,
                  .post = op.post.post,
                  .residual = op.post.residual,
                  .updated_streams = op.post.next_streams,
                  .mapping = op.mapping,
                  .norm = op.norm,
                  .output = op.output,
                  .next_post = op.next_post,
                  .next_residual = op.next_residual},
                 options);
}

template <class T>
void run(const SinglePassMhc<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_step<T>({.num_tokens = op.num_tokens,
                  .hidden_size = op.hidden_size,
                  .num_streams = op.num_streams,
                  .streams = op.streams,
                  .layer_output = op.layer_output,
                  .post = op.post,
                  .residual = op.residual,
                  .updated_streams = op.next_streams,
                  .mapping = op.mapping,
                  .norm = op.norm,
                  .pre = op.pre,
                  .output = op.output,
                  .next_pre = op.next_pre,
                  .next_post = op.next_post,
                  .next_residual = op.next_residual},
                 options);
}

template <class T>
void run(const UnfusedMhcCoefficients<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_step<T>({.num_tokens = op.num_tokens,
                  .hidden_size = op.hidden_size,
                  .num_streams = op.num_streams,
                  .streams = op.streams,
                  .mapping = op.mapping,
                  .next_pre = op.pre,
                  .next_post = op.post,
                  .next_residual = op.residual},
                 options);
}

template void run(const MhcPre<float>&, const LaunchOptions&);
template void run(const MhcPre<Bf16>&, const LaunchOptions&);
template void run(const MhcBoundary<float>&, const LaunchOptions&);
template void run(const MhcBoundary<Bf16>&, const LaunchOptions&);
template void run(const SinglePassMhc<float>&, const LaunchOptions&);
template void run(const SinglePassMhc<Bf16>&, const LaunchOptions&);
template void run(const UnfusedMhcCoefficients<float>&, const LaunchOptions&);
template void run(const UnfusedMhcCoefficients<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
