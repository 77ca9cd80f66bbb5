// Attention over depth for any shape.
//   scalar  a CTA per token, element by element; sources are read for their scores and once or
//           twice more for the mix, from L2
#include "kernels/cuda/attnres/token_sources.cuh"

namespace depthcost::cuda {
namespace {

template <class T, class O>
__device__ float score_of(const TokenSources<T, O>& sources, std::size_t source,
                          RowThreads& threads) {
  const DepthAttention<T, O>& op = sources.op;
  float shares[2] = {};
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
    const float v = sources.value(source, e);
    shares[0] = fmaf(op.query[e], v, shares[0]);
    shares[1] = fmaf(v, v, shares[1]);
  }
  float scores[1];
  scores_of(threads, shares, op.hidden_size, op.key_eps, scores);
  return scores[0];
}

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
  for (std::size_t i = threadIdx.x; i < sources.count(); i += kScalarThreads)
    scores[i] = expf(scores[i] - maximum) / sum;
  __syncthreads();
  return phase1_weight / sum;
}

template <class T, class O>
__global__ void __launch_bounds__(kScalarThreads, 1)
    scalar_kernel(const __grid_constant__ DepthAttention<T, O> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  float* scratch = reinterpret_cast<float*>(shared_memory());
  float* weights = scratch + RowThreads::scratch_size(kScalarWarps, 2);
  RowThreads threads(scratch, threadIdx.x / kWarpSize, kScalarWarps, 0, 2);
  const TokenSources<T, O> sources{op, blockIdx.x};
  sources.store_sum();
  for (std::size_t i = 0; i < sources.count(); ++i) {
    const float score = score_of(sources, i, threads);
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
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads)
      squares += mixed(e) * mixed(e);
    scale = rsqrtf(threads.sum(squares) / static_cast<float>(op.hidden_size) + op.norm.eps);
  }
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads) {
    const float gain = op.norm.gain != nullptr ? op.norm.gain[e] : 1;
    op.output[sources.place(e)] = rounded_to<T>(mixed(e) * scale * gain);
  }
}

}  // namespace

template <class T, class O>
void launch_scalar(const DepthAttention<T, O>& op, const LaunchOptions& options) {
  const std::size_t num_floats = RowThreads::scratch_size(kScalarWarps, 2) + op.num_rows + 1;
  launch(scalar_kernel<T, O>,
         {.grid = grid_of(op.num_tokens),
          .cta = kScalarThreads,
          .shared_bytes = num_floats * sizeof(float),
          .shared_size = {"attnres_single_pass", "the number of sources",
                          op.num_rows + (op.partial_sum != nullptr ? 1 : 0)}},
         options, op);
}

template void launch_scalar(const DepthAttention<float, float>&, const LaunchOptions&);
template void launch_scalar(const DepthAttention<Bf16, Bf16>&, const LaunchOptions&);
template void launch_scalar(const DepthAttention<Bf16, float>&, const LaunchOptions&);

}  // namespace depthcost::cuda
