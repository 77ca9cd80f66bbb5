// Attention over depth for any shape.
//   scalar  a CTA per token, element by element; sources are read for their scores and once or
//           twice more for the mix, from L2
#include "kernels/cuda/attention.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kThreads = 256;

/// The sources of one token. A stored sum is read back by the thread that wrote it.
template <class T, class O>
struct TokenSources {
  const DepthAttention<T, O>& op;
  std::size_t token;

  __device__ std::size_t count() const { return op.num_rows + (op.partial_sum != nullptr ? 1 : 0); }
  __device__ std::size_t place(std::size_t e) const { return token * op.hidden_size + e; }

  __device__ void store_sum() const {
    if (op.stored_sum == nullptr) return;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kThreads)
      op.stored_sum[place(e)] =
          rounded_to<T>(to_float(op.partial_sum[place(e)]) + to_float(op.layer_output[place(e)]));
  }
  __device__ float value(std::size_t source, std::size_t e) const {
    if (source < op.num_rows) return to_float(op.row(source, token)[e]);
    if (op.stored_sum != nullptr) return to_float(op.stored_sum[place(e)]);
    const float b = to_float(op.partial_sum[place(e)]);
    return op.layer_output == nullptr ? b : b + to_float(op.layer_output[place(e)]);
  }
  __device__ float score(std::size_t source, RowThreads& threads) const {
    float shares[2] = {};
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kThreads) {
      const float v = value(source, e);
      shares[0] = fmaf(op.query[e], v, shares[0]);
      shares[1] = fmaf(v, v, shares[1]);
    }
    float scores[1];
    scores_of(threads, shares, op.hidden_size, op.key_eps, scores);
    return scores[0];
  }
};

/// Scores become weights e^{s - m} / l; the weight of Phase 1's o is returned. Every thread takes
/// the same steps; one stores.
template <class T, class O>
__device__ float weights_of_scores(const TokenSources<T, O>& sources, float* scores) {
  const DepthAttention<T, O>& op = sources.op;
  const bool merges = op.phase1_output != nullptr;
  float maximum = merges ? op.maximum[sources.token] : -INFINITY;
  for (std::size_t i = 0; i < sources.count(); ++i) maximum = fmaxf(maximum, scores[i]);
  const float phase1_weight = merges ? expf(op.maximum[sources.token] - maximum) : 0;
  float sum = merges ? phase1_weight * op.sum[sources.token] : 0;
  for (std::size_t i = 0; i < sources.count(); ++i) sum += expf(scores[i] - maximum);
  __syncthreads();
  for (std::size_t i = threadIdx.x; i < sources.count(); i += kThreads)
    scores[i] = expf(scores[i] - maximum) / sum;
  __syncthreads();
  return phase1_weight / sum;
}

template <class T, class O>
__global__ void __launch_bounds__(kThreads, 1)
    scalar_kernel(const __grid_constant__ DepthAttention<T, O> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  constexpr unsigned kWarps = kThreads / kWarpSize;
  float* scratch = reinterpret_cast<float*>(shared_memory());
  float* weights = scratch + RowThreads::scratch_size(kWarps, 1, 2);
  RowThreads threads(scratch, threadIdx.x / kWarpSize, kWarps, 0, 2);
  const TokenSources<T, O> sources{op, blockIdx.x};
  sources.store_sum();
  for (std::size_t i = 0; i < sources.count(); ++i) {
    const float score = sources.score(i, threads);
    if (threadIdx.x == 0) weights[i] = score;
  }
  __syncthreads();
  const float phase1_weight = weights_of_scores(sources, weights);
  const auto mixed = [&](std::size_t e) {
    float h = phase1_weight == 0 ? 0 : phase1_weight * to_float(op.phase1_output[sources.place(e)]);
    for (std::size_t i = 0; i < sources.count(); ++i) h = fmaf(weights[i], sources.value(i, e), h);
    return h;
  };
  float scale = 1;
  if (op.norm.gain != nullptr) {
    float squares = 0;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kThreads)
      squares += mixed(e) * mixed(e);
    scale = rsqrtf(threads.sum(squares) / static_cast<float>(op.hidden_size) + op.norm.eps);
  }
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kThreads) {
    const float gain = op.norm.gain != nullptr ? op.norm.gain[e] : 1;
    op.output[sources.place(e)] = rounded_to<T>(mixed(e) * scale * gain);
  }
}

}  // namespace

template <class T, class O>
void launch_scalar(const DepthAttention<T, O>& op, const LaunchOptions& options) {
  const std::size_t num_floats =
      RowThreads::scratch_size(kThreads / kThreadsPerWarp, 1, 2) + op.num_rows + 1;
  launch(scalar_kernel<T, O>,
         {.grid = static_cast<unsigned>(op.num_tokens),
          .cta = kThreads,
          .shared_bytes = num_floats * sizeof(float)},
         options, op);
}

template void launch_scalar(const DepthAttention<float, float>&, const LaunchOptions&);
template void launch_scalar(const DepthAttention<Bf16, Bf16>&, const LaunchOptions&);
template void launch_scalar(const DepthAttention<Bf16, float>&, const LaunchOptions&);

}  // namespace depthcost::cuda
