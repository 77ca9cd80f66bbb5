// attnres_phase1: arguments, the choice of a variant, and the one for any shape.
//   scalar  a CTA per token, element by element; sources are read for each query, from L1 and L2
#include "kernels/cuda/attnres/attnres_phase1.cuh"

#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {
namespace {

/// Element `e` of a source of the token. The source that closes the block is in the bank by now.
template <class T, class O>
__device__ float source_value(const AttnResPhase1<T, O>& op, std::size_t source, std::size_t e) {
  return to_float(op.bank[(source * op.num_tokens + blockIdx.x) * op.hidden_size + e]);
}

/// b + f into the bank. Each thread reads back what it wrote itself.
template <class T, class O>
__device__ void close_block(const AttnResPhase1<T, O>& op) {
  if (op.layer_output == nullptr) return;
  const std::size_t at = blockIdx.x * op.hidden_size;
  T* row = op.bank + op.bank_row * op.num_tokens * op.hidden_size + at;
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads)
    row[e] = rounded_to<T>(to_float(op.partial_sum[at + e]) + to_float(op.layer_output[at + e]));
}

/// scores[i] = w . RMSNorm(source i), by the whole CTA.
template <class T, class O>
__device__ void store_scores(const AttnResPhase1<T, O>& op, const float* query, RowThreads& threads,
                             float* scores) {
  for (std::size_t i = 0; i < num_sources(op); ++i) {
    float shares[2] = {};
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
      const float v = source_value(op, i, e);
      shares[0] = fmaf(query[e], v, shares[0]);
      shares[1] = fmaf(v, v, shares[1]);
    }
    const float total = threads.sums(shares);
    const float dot = __shfl_sync(kFullMask, total, 0);
    const float square = __shfl_sync(kFullMask, total, kLanesPerValue<2>);
    if (threadIdx.x == 0)
      scores[i] = dot * rsqrtf(square / static_cast<float>(op.hidden_size) + op.key_eps);
  }
  __syncthreads();
}

/// Scores become weights e^{s - m}. The same steps in every thread.
__device__ inline void weights_of_scores(float* scores, std::size_t count, float& maximum,
                                         float& sum) {
  maximum = -INFINITY;
  for (std::size_t i = 0; i < count; ++i) maximum = fmaxf(maximum, scores[i]);
  sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += expf(scores[i] - maximum);
  __syncthreads();
  for (std::size_t i = threadIdx.x; i < count; i += kScalarThreads)
    scores[i] = expf(scores[i] - maximum);
  __syncthreads();
}

template <class T, class O>
__device__ float mixed(const AttnResPhase1<T, O>& op, const float* weights, std::size_t e) {
  float o = 0;
  for (std::size_t i = 0; i < num_sources(op); ++i) o = fmaf(weights[i], source_value(op, i, e), o);
  return o;
}

template <class T, class O>
__device__ void store_next_input(const AttnResPhase1<T, O>& op, const float* weights, float sum,
                                 RowThreads& threads) {
  float scale = 1 / sum;
  if (op.norm.gain != nullptr) {
    float squares = 0;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
      const float h = mixed(op, weights, e) / sum;
      squares = fmaf(h, h, squares);
    }
    scale *= rsqrtf(threads.sum(squares) / static_cast<float>(op.hidden_size) + op.norm.eps);
  }
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
    const float gain = op.norm.gain != nullptr ? op.norm.gain[e] : 1;
    op.output[blockIdx.x * op.hidden_size + e] =
        rounded_to<T>(mixed(op, weights, e) * scale * gain);
  }
}

template <class T, class O>
__global__ void __launch_bounds__(kScalarThreads, 1)
    scalar_kernel(const __grid_constant__ AttnResPhase1<T, O> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  float* scratch = reinterpret_cast<float*>(shared_memory());
  float* weights = scratch + RowThreads::scratch_size(kScalarWarps, 2);
  RowThreads threads(scratch, threadIdx.x / kWarpSize, kScalarWarps, 0, 2);
  close_block(op);
  for (std::size_t s = 0; s < op.num_queries; ++s) {
    store_scores(op, op.queries + s * op.hidden_size, threads, weights);
    float maximum;
    float sum;
    weights_of_scores(weights, num_sources(op), maximum, sum);
    if (s == 0) {
      store_next_input(op, weights, sum, threads);
    } else {
      const std::size_t at = (s - 1) * op.num_tokens + blockIdx.x;
      for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads)
        op.outputs[at * op.hidden_size + e] = rounded_to<O>(mixed(op, weights, e));
      if (threadIdx.x == 0) {
        op.maxima[at] = maximum;
        op.sums[at] = sum;
      }
    }
    __syncthreads();
  }
}

template <class T, class O>
void launch_scalar(const AttnResPhase1<T, O>& op, const LaunchOptions& options) {
  const std::size_t num_floats = RowThreads::scratch_size(kScalarWarps, 2) + num_sources(op);
  launch(scalar_kernel<T, O>,
         {.grid = grid_of(op.num_tokens),
          .cta = kScalarThreads,
          .shared_bytes = num_floats * sizeof(float),
          .shared_size = {"attnres_phase1", "the number of sources", num_sources(op)}},
         options, op);
}

}  // namespace

template <class T, class O>
void run(const AttnResPhase1<T, O>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  if constexpr (std::is_same_v<T, Bf16>) {
    const bool aligned = aligned_to_vectors(op.bank, op.partial_sum, op.queries, op.norm.gain);
    const TilePlan plan = phase1_plan(planned_tokens(op.num_tokens, options),
                                      aligned ? vectors_per_row<T>(op.hidden_size) : 0,
                                      num_sources(op), device_limits());
    if (plan.variant == TileVariant::cluster_tile) return launch_phase1_tile(op, plan, options);
  }
  launch_scalar(op, options);
}

template void run(const AttnResPhase1<float, float>&, const LaunchOptions&);
template void run(const AttnResPhase1<Bf16, Bf16>&, const LaunchOptions&);
template void run(const AttnResPhase1<Bf16, float>&, const LaunchOptions&);

}  // namespace depthcost::cuda
