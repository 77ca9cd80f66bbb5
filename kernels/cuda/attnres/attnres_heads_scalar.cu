// The ablations of AttnRes for any shape.
//   scalar  a CTA per token and a warp per head, element by element; sources are read for the
//           scores and again for the mix, twice where a norm follows, from L2
#include "kernels/cuda/attnres/attnres_heads.cuh"
#include "kernels/cuda/attnres/token_sources.cuh"

namespace depthcost::cuda {
namespace {

/// 1 / rms of every source over the row, to shared memory.
template <class T>
__device__ void norms_of_rows(const TokenSources<T, T>& sources, RowThreads& threads,
                              float* norms) {
  const DepthAttention<T, T>& op = sources.op;
  for (std::size_t i = 0; i < sources.count(); ++i) {
    float squares = 0;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads)
      squares = fmaf(sources.value(i, e), sources.value(i, e), squares);
    const float sum = threads.sum(squares);
    if (threadIdx.x == 0) norms[i] = rsqrtf(sum / static_cast<float>(op.hidden_size) + op.key_eps);
  }
  __syncthreads();
}

/// The heads of one token that one warp computes. `weights` belong to the warp.
template <class T>
struct WarpHeads {
  const HeadAttention<T>& heads;
  const TokenSources<T, T>& sources;
  const float* row_norms;
  float* weights;

  __device__ std::size_t head_size() const { return heads.attention.hidden_size / heads.num_heads; }
  __device__ float query(std::size_t e) const {
    if (heads.token_queries == nullptr) return heads.attention.query[e];
    return to_float(heads.token_queries[sources.place(e)]);
  }

  __device__ float score(std::size_t head, std::size_t source) const {
    const std::size_t first = head * head_size();
    float dot = 0;
    float square = 0;
    for (std::size_t e = first + lane_id(); e < first + head_size(); e += kWarpSize) {
      const float v = sources.value(source, e);
      dot = fmaf(query(e), v, dot);
      square = fmaf(v, v, square);
    }
    dot = warp_sum(dot);
    if (heads.key_norm == KeyNorm::none) return dot;
    if (heads.key_norm == KeyNorm::row) return dot * row_norms[source];
    const float mean_square = warp_sum(square) / static_cast<float>(head_size());
    return dot * rsqrtf(mean_square + heads.attention.key_eps);
  }

  /// Every lane takes the same steps; each stores some.
  __device__ void weigh() const {
    const bool is_softmax = heads.weighting == DepthWeighting::softmax;
    float maximum = -INFINITY;
    float sum = 0;
    if (is_softmax) {
      for (std::size_t i = 0; i < sources.count(); ++i) maximum = fmaxf(maximum, weights[i]);
      for (std::size_t i = 0; i < sources.count(); ++i) sum += expf(weights[i] - maximum);
    }
    __syncwarp();
    for (std::size_t i = lane_id(); i < sources.count(); i += kWarpSize)
      weights[i] = is_softmax ? expf(weights[i] - maximum) / sum : sigmoid(weights[i]);
    __syncwarp();
  }

  /// visit(e, h) for this warp's heads.
  template <class Visit>
  __device__ void each_element(const Visit& visit) const {
    for (std::size_t head = threadIdx.x / kWarpSize; head < heads.num_heads; head += kScalarWarps) {
      for (std::size_t i = 0; i < sources.count(); ++i) {
        const float logit = score(head, i);
        if (lane_id() == 0) weights[i] = logit;
      }
      __syncwarp();
      weigh();
      const std::size_t first = head * head_size();
      for (std::size_t e = first + lane_id(); e < first + head_size(); e += kWarpSize) {
        float h = 0;
        for (std::size_t i = 0; i < sources.count(); ++i)
          h = fmaf(weights[i], sources.value(i, e), h);
        visit(e, h);
      }
      __syncwarp();
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kScalarThreads, 1)
    heads_scalar_kernel(const __grid_constant__ HeadAttention<T> heads) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const DepthAttention<T, T>& op = heads.attention;
  const TokenSources<T, T> sources{op, blockIdx.x};
  const unsigned warp = threadIdx.x / kWarpSize;
  float* const scratch = reinterpret_cast<float*>(shared_memory());
  float* const row_norms = scratch + RowThreads::scratch_size(kScalarWarps, 1);
  RowThreads threads(scratch, warp, kScalarWarps, 0, 1);
  sources.store_sum();
  __syncthreads();
  if (heads.key_norm == KeyNorm::row) norms_of_rows(sources, threads, row_norms);
  const WarpHeads<T> own{heads, sources, row_norms, row_norms + (1 + warp) * sources.count()};
  float scale = 1;
  if (op.norm.gain != nullptr) {
    float squares = 0;
    own.each_element([&](std::size_t, float h) { squares = fmaf(h, h, squares); });
    scale = rsqrtf(threads.sum(squares) / static_cast<float>(op.hidden_size) + op.norm.eps);
  }
  own.each_element([&](std::size_t e, float h) {
    const float gain = op.norm.gain != nullptr ? op.norm.gain[e] : 1;
    op.output[sources.place(e)] = rounded_to<T>(h * scale * gain);
  });
}

}  // namespace

template <class T>
void launch_heads_scalar(const HeadAttention<T>& op, const LaunchOptions& options) {
  const std::size_t num_floats =
      RowThreads::scratch_size(kScalarWarps, 1) + (1 + kScalarWarps) * (op.attention.num_rows + 1);
  launch(heads_scalar_kernel<T>,
         {.grid = grid_of(op.attention.num_tokens),
          .cta = kScalarThreads,
          .shared_bytes = num_floats * sizeof(float),
          .shared_size = {"attnres_single_pass", "the number of sources",
                          op.attention.num_rows + (op.attention.partial_sum != nullptr ? 1 : 0)}},
         options, op);
}

template void launch_heads_scalar(const HeadAttention<float>&, const LaunchOptions&);
template void launch_heads_scalar(const HeadAttention<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
