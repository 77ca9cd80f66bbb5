// mhc_post_backward.
//   vectors  up to four streams: all rows of a token go by once, and their products are added up
//            beside the mix
//   scalar   any number of streams and any size, element by element; products first, from memory,
//            then the mix, whose columns wait in shared memory
#include "kernels/cuda/backward/row_share.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

constexpr unsigned kPostStreams = kMixFewStreams;
constexpr unsigned kPostColumns = kPostStreams + 1;  // X_j, then f
constexpr unsigned kPostProducts = 32;  // of kPostStreams kPostColumns, the next power of two
static_assert(kPostStreams * kPostColumns <= kPostProducts);

/// dX'_i . X_j and dX'_i . f are the gradients of H_res[i][j] and H_post[i].
template <class T>
__device__ void store_product(const MhcPostBackward<T>& op, std::size_t token, std::size_t i,
                              std::size_t j, float product) {
  const std::size_t row = token * op.num_streams + i;
  if (j < op.num_streams)
    op.residual_gradients[row * op.num_streams + j] = product;
  else
    op.post_gradients[row] = product;
}

/// H_res and H_post of a token: a row of kPostColumns for each stream, in shared memory.
template <class T>
__device__ void load_post_coefficients(const MhcPostBackward<T>& op, std::size_t token, float* to) {
  const auto m = static_cast<unsigned>(op.num_streams);
  for (unsigned k = threadIdx.x; k < kPostStreams * kPostColumns; k += blockDim.x) {
    const unsigned i = k / kPostColumns;
    const unsigned j = k % kPostColumns;
    const std::size_t row = token * m + i;
    float value = 0;
    if (i < m && j < m) value = op.residual[row * m + j];
    if (i < m && j == kPostStreams) value = op.post[row];
    to[k] = value;
  }
}

/// The elements at `at` of all rows of a token.
template <class T, unsigned kElements>
struct PostColumns {
  Stored<T, kElements> streams[kPostStreams], gradients[kPostStreams], layer_output;

  __device__ PostColumns(const MhcPostBackward<T>& op, std::size_t token, std::size_t at) {
#pragma unroll
    for (unsigned i = 0; i < kPostStreams; ++i) {
      if (i >= op.num_streams) break;
      const std::size_t row = (token * op.num_streams + i) * op.hidden_size + at;
      gradients[i] = load_stored<T, kElements>(op.gradients + row);
      streams[i] = load_stored<T, kElements>(op.streams + row);
    }
    layer_output = load_stored<T, kElements>(op.layer_output + token * op.hidden_size + at);
  }
};

/// Adds the products of dX'_i to `sums`.
template <class T, unsigned kElements>
__device__ void add_post_products(const PostColumns<T, kElements>& in, unsigned num_streams,
                                  float (&sums)[kPostProducts]) {
  float f[kElements];
  unpack_stored<T, kElements>(in.layer_output, f);
#pragma unroll
  for (unsigned i = 0; i < kPostStreams; ++i) {
    if (i >= num_streams) break;
    float g[kElements];
    unpack_stored<T, kElements>(in.gradients[i], g);
#pragma unroll
    for (unsigned j = 0; j < kPostStreams; ++j) {
      if (j >= num_streams) break;
      float x[kElements];
      unpack_stored<T, kElements>(in.streams[j], x);
      sums[i * kPostColumns + j] = dot(g, x, sums[i * kPostColumns + j]);
    }
    sums[i * kPostColumns + kPostStreams] = dot(g, f, sums[i * kPostColumns + kPostStreams]);
  }
}

/// dX_j = sum_i H_res[i][j] dX'_i, and df = sum_i H_post[i] dX'_i where j is kPostStreams.
template <class T, unsigned kElements>
__device__ void mix_post_column(const PostColumns<T, kElements>& in, unsigned num_streams,
                                const float* coefficients, unsigned j, T* to) {
  float out[kElements] = {};
#pragma unroll
  for (unsigned i = 0; i < kPostStreams; ++i) {
    if (i >= num_streams) break;
    const float weight = coefficients[i * kPostColumns + j];
    float g[kElements];
    unpack_stored<T, kElements>(in.gradients[i], g);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) out[e] = fmaf(weight, g[e], out[e]);
  }
  store_elements(to, out);
}

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
    add_post_products(in, m, sums);
#pragma unroll 1  // two at a time, stores of float fall apart
    for (unsigned j = 0; j < m; ++j)
      mix_post_column(in, m, coefficients, j, op.gradients + (token * m + j) * op.hidden_size + at);
    mix_post_column(in, m, coefficients, kPostStreams,
                    op.layer_gradient + token * op.hidden_size + at);
  }
  const float product = threads.sums(sums);
  const unsigned i = lane_id() / kPostColumns;
  const unsigned j = lane_id() % kPostColumns;
  if (threadIdx.x < kWarpSize && i < m && (j < m || j == kPostStreams))
    store_product(op, token, i, j == kPostStreams ? m : j, product);
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
         {.grid = static_cast<unsigned>(op.num_tokens),
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
         {.grid = static_cast<unsigned>(op.num_tokens),
          .cta = threads,
          .shared_bytes = floats * sizeof(float)},
         options, op);
}

template void run(const MhcPostBackward<float>&, const LaunchOptions&);
template void run(const MhcPostBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
