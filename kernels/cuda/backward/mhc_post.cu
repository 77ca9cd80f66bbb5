// mhc_post_backward.
//   vectors  up to four streams: all rows of a token go by once, and their products are added up
//            beside the mix
//   scalar   any number of streams and any size, element by element; products first, from memory,
//            then the mix, whose columns wait in shared memory
#include "kernels/cuda/backward/mhc_post_gradients.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

template <class T, unsigned kElements>
__global__ void __launch_bounds__(kMixThreads)
    post_backward_kernel(const __grid_constant__ MhcPostBackward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  const auto m = static_cast<unsigned>(op.num_streams);
  RowThreads threads = cta_row_threads(kPostProducts);
  float* coefficients = reinterpret_cast<float*>(shared_memory()) +
                        RowThreads::scratch_size(blockDim.x / kWarpSize, kPostProducts);
  load_post_coefficients(op, token, coefficients);
  __syncthreads();
  float sums[kPostProducts] = {};
  for (std::size_t at = threadIdx.x * kElements; at < op.hidden_size;
       at += blockDim.x * kElements) {
    const PostColumns<T, kElements> in(op, token, at);
    add_post_products<kElements>(in, m, sums);
#pragma unroll 1  // two at a time, stores of float fall apart
    for (unsigned j = 0; j < m; ++j)
      mix_post_column<kElements>(in, m, coefficients, j,
                                 op.gradients + (token * m + j) * op.hidden_size + at);
    mix_post_column<kElements>(in, m, coefficients, kPostStreams,
                               op.layer_gradient + token * op.hidden_size + at);
  }
  store_post_products(op, token, threads.sums(sums));
}

/// dX'_i . X_j, or dX'_i . f where j is m.
template <class T>
__device__ float product_of_rows(const MhcPostBackward<T>& op, std::size_t token, std::size_t i,
                                 std::size_t j, RowThreads& threads) {
  const std::size_t d = op.hidden_size;
  const T* g = op.gradients + (token * op.num_streams + i) * d;
  const T* x = j < op.num_streams ? op.streams + (token * op.num_streams + j) * d
                                  : op.layer_output + token * d;
  float sum = 0;
  for (std::size_t e = threadIdx.x; e < d; e += kMixWideThreads)
    sum = fmaf(to_float(g[e]), to_float(x[e]), sum);
  return threads.sum(sum);
}

template <class T>
__global__ void __launch_bounds__(kMixWideThreads)
    post_backward_wide_kernel(const __grid_constant__ MhcPostBackward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t token = blockIdx.x;
  const std::size_t m = op.num_streams;
  RowThreads threads = cta_row_threads(1);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j <= m; ++j) {
      const float product = product_of_rows(op, token, i, j, threads);
      if (threadIdx.x == 0) store_product(op, token, i, j, product);
    }
  // All have read dX' before the first dX is written: the last sum was behind a barrier.
  float* in = reinterpret_cast<float*>(shared_memory()) +
              RowThreads::scratch_size(kMixWideThreads / kWarpSize, 1) + threadIdx.x;
  const auto mixed = [&](const float* coefficients, std::size_t stride) {
    float out = 0;
    for (std::size_t i = 0; i < m; ++i)
      out = fmaf(coefficients[i * stride], in[i * kMixWideThreads], out);
    return rounded_to<T>(out);
  };
  for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kMixWideThreads) {
    T* gradients = op.gradients + token * m * op.hidden_size + e;
    for (std::size_t i = 0; i < m; ++i)
      in[i * kMixWideThreads] = to_float(gradients[i * op.hidden_size]);
    for (std::size_t j = 0; j < m; ++j)
      gradients[j * op.hidden_size] = mixed(op.residual + token * m * m + j, m);
    op.layer_gradient[token * op.hidden_size + e] = mixed(op.post + token * m, 1);
  }
}

template <class T>
void launch_wide_post(const MhcPostBackward<T>& op, const LaunchOptions& options) {
  const std::size_t floats = RowThreads::scratch_size(kMixWideThreads / kThreadsPerWarp, 1) +
                             op.num_streams * kMixWideThreads;
  launch(post_backward_wide_kernel<T>,
         {.grid = grid_of(op.num_tokens),
          .cta = kMixWideThreads,
          .shared_bytes = floats * sizeof(float),
          .shared_size = {"mhc_post_backward", "the number of streams", op.num_streams}},
         options, op);
}

}  // namespace

template <class T>
void run(const MhcPostBackward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const std::size_t vectors =
      aligned_to_vectors(op.streams, op.layer_output, op.gradients, op.layer_gradient)
          ? vectors_per_row<T>(op.hidden_size)
          : 0;
  if (vectors == 0 || op.num_streams > kPostStreams) return launch_wide_post(op, options);
  const auto threads =
      static_cast<unsigned>(std::min<std::size_t>(whole_warps(vectors), kMixThreads));
  const std::size_t floats = RowThreads::scratch_size(threads / kThreadsPerWarp, kPostProducts) +
                             std::size_t{kPostStreams} * kPostColumns;
  launch(post_backward_kernel<T, kWidth<T>>,
         {.grid = grid_of(op.num_tokens), .cta = threads, .shared_bytes = floats * sizeof(float)},
         options, op);
}

template void run(const MhcPostBackward<float>&, const LaunchOptions&);
template void run(const MhcPostBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
