// altup_predict, altup_laurel, altup_middle, altup_correct. A CTA takes a token, LAuReL's
// kAltupTokens of them, so that its matrices are read less often. Rows are read again through the
// caches, each element by the thread that has read or written it before.
//   vectors  16-byte accesses
//   scalar   the same kernels, one element at a time: rows that are not whole vectors, or many
//            copies
#include <stdexcept>
#include <string>

#include "kernels/cuda/primitives/combine_norm.cuh"

namespace depthcost::cuda {
namespace {

using AltupRouter = BasicAltupRouter<float>;

/// Squares and the dot products with M: a power of two for warp_sums.
template <unsigned kMaxCopies>
inline constexpr unsigned kRouterSums = std::bit_ceil(kMaxCopies + 1);

__device__ float* altup_scratch() { return reinterpret_cast<float*>(shared_memory()); }

/// The threads of a CTA that share a row, with room for `max_values` sums.
__device__ RowThreads altup_threads(unsigned max_values) {
  return {altup_scratch(), threadIdx.x / kWarpSize, blockDim.x / kWarpSize, 0, max_values};
}

__device__ float rms_scale(float sum_of_squares, std::size_t size, float eps) {
  return rsqrtf(sum_of_squares / static_cast<float>(size) + eps);
}

/// body(at) for the columns of this thread.
template <unsigned kElements, class Body>
__device__ void each_column(std::size_t size, const Body& body) {
  const std::size_t step = std::size_t{blockDim.x} * kElements;
  for (std::size_t at = threadIdx.x * kElements; at < size; at += step) body(at);
}

/// x *= scale o gain.
template <unsigned kElements>
__device__ void scale_by(const float* gain, float scale, float (&x)[kElements]) {
  float factor[kElements];
  load_parameters(gain, factor);
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) x[e] *= scale * factor[e];
}

/// Adds columns of the router's row to its sums: squares first, then M (g o x).
template <unsigned kMaxCopies, unsigned kElements>
__device__ void add_router_sums(const AltupRouter& router, unsigned num_copies, std::size_t size,
                                std::size_t at, float (&x)[kElements],
                                float (&sums)[kRouterSums<kMaxCopies>]) {
  sums[0] += squares_of(x);
  scale_by(router.norm.gain + at, 1, x);
#pragma unroll
  for (unsigned k = 0; k < kMaxCopies; ++k) {
    if (k >= num_copies) break;
    float row[kElements];
    load_parameters(router.matrix + k * size + at, row);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) sums[1 + k] = fmaf(row[e], x[e], sums[1 + k]);
  }
}

/// weights[i] = sum_k coefficients[i][k] m_k, in shared memory, behind a barrier. m follows from
/// `sums`, as RowThreads::sums lays them out.
template <unsigned kMaxCopies>
__device__ void write_weights(const AltupRouter& router, const float* coefficients,
                              unsigned num_weights, unsigned num_copies, std::size_t size,
                              float sums, float* weights) {
  constexpr unsigned kLanes = kLanesPerValue<kRouterSums<kMaxCopies>>;
  const float squares = __shfl_sync(kFullMask, sums, 0);
  const float scale = rms_scale(squares, size, router.norm.eps) / static_cast<float>(size);
  const float own = tanhf(scale * sums);  // m, but in the lanes of the squares
  for (unsigned first = 0; first < num_weights; first += blockDim.x) {
    const unsigned i = first + threadIdx.x;
    float weight = 0;
    for (unsigned k = 0; k < num_copies; ++k) {
      const float m = __shfl_sync(kFullMask, own, (1 + k) * kLanes);
      if (i < num_weights) weight = fmaf(coefficients[i * num_copies + k], m, weight);
    }
    if (i < num_weights) weights[i] = weight;
  }
  __syncthreads();
}

/// output = stored o gain / rms, of a row that this CTA has stored.
template <unsigned kElements, class T>
__device__ void store_normed_row(const T* stored, const NextNorm& norm, float squares,
                                 std::size_t size, T* output) {
  const float scale = rms_scale(squares, size, norm.eps);
  each_column<kElements>(size, [&](std::size_t at) {
    float x[kElements];
    load_elements(stored + at, x);
    scale_by(norm.gain + at, scale, x);
    store_elements(output + at, x);
  });
}

/// p_i = sum_j (1 + P)_ij h_j of the columns at `at`; returns the squares of p_0.
template <unsigned kMaxCopies, unsigned kElements, class T>
__device__ float predict_columns(T* copies, const float* weights, unsigned num_copies,
                                 std::size_t size) {
  float in[kMaxCopies][kElements];
#pragma unroll
  for (unsigned j = 0; j < kMaxCopies; ++j)
    if (j < num_copies) load_elements(copies + j * size, in[j]);
  float squares = 0;
#pragma unroll 1  // all at a time, registers run out
  for (unsigned i = 0; i < num_copies; ++i) {
    float out[kElements] = {};
#pragma unroll
    for (unsigned j = 0; j < kMaxCopies; ++j) {
      if (j >= num_copies) break;
      const float weight = weights[i * num_copies + j] + (i == j ? 1 : 0);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) out[e] = fmaf(weight, in[j][e], out[e]);
    }
    store_elements(copies + i * size, out);
    if (i == 0) squares = squares_of(out);
  }
  return squares;
}

template <class T, unsigned kMaxCopies, unsigned kElements>
__global__ void __launch_bounds__(kAltupThreads)
    altup_predict_kernel(const __grid_constant__ AltupPredict<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  constexpr unsigned kSums = kRouterSums<kMaxCopies>;
  const std::size_t d = op.hidden_size;
  const auto A = static_cast<unsigned>(op.num_copies);
  T* copies = op.copies + blockIdx.x * A * d;
  float sums[kSums] = {};
  each_column<kElements>(d, [&](std::size_t at) {
    float h[kElements];
    load_elements(copies + at, h);
    add_router_sums<kMaxCopies>(op.router, A, d, at, h, sums);
  });
  RowThreads threads = altup_threads(kSums);
  float* weights = altup_scratch() + RowThreads::scratch_size(blockDim.x / kWarpSize, kSums);
  write_weights<kMaxCopies>(op.router, op.coefficients, A * A, A, d, threads.sums(sums), weights);
  float squares = 0;
  each_column<kElements>(d, [&](std::size_t at) {
    squares += predict_columns<kMaxCopies, kElements>(copies + at, weights, A, d);
  });
  store_normed_row<kElements>(copies, op.norm, threads.sum(squares), d, op.output + blockIdx.x * d);
}

/// The squares of a row, of all threads.
template <unsigned kElements, class T>
__device__ float row_squares(const T* row, std::size_t size, RowThreads& threads) {
  float squares = 0;
  each_column<kElements>(size, [&](std::size_t at) {
    float x[kElements];
    load_elements(row + at, x);
    squares += squares_of(x);
  });
  return threads.sum(squares);
}

template <class T, unsigned kElements>
__global__ void __launch_bounds__(kAltupThreads)
    altup_middle_kernel(const __grid_constant__ AltupMiddle<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  constexpr float kRootOfHalf = 0.70710678F;
  const std::size_t d = op.hidden_size;
  const T* p = op.copies + blockIdx.x * op.num_copies * d;
  const T* f = op.layer_output + blockIdx.x * d;
  T* laurel = op.laurel + blockIdx.x * d;
  RowThreads threads = altup_threads(1);
  const float scale = rms_scale(row_squares<kElements>(f, d, threads), d, op.output_norm.eps);
  float squares = 0;
  each_column<kElements>(d, [&](std::size_t at) {
    float q[kElements];
    float active[kElements];
    float branch[kElements];
    load_elements(f + at, q);
    load_elements(p + at, active);
    load_elements(laurel + at, branch);
    scale_by(op.output_norm.gain + at, scale, q);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) q[e] = (q[e] + active[e] + branch[e]) * kRootOfHalf;
    store_elements(laurel + at, q);
    squares += squares_of(q);
  });
  store_normed_row<kElements>(laurel, op.norm, threads.sum(squares), d, op.output + blockIdx.x * d);
}

/// a = q + norm(f) of the columns at `at`.
template <unsigned kElements, class T>
__device__ void load_activated(const AltupCorrect<T>& op, float scale, std::size_t at,
                               float (&a)[kElements]) {
  const std::size_t row = blockIdx.x * op.hidden_size + at;
  float q[kElements];
  load_elements(op.layer_output + row, a);
  load_elements(op.middle + row, q);
  scale_by(op.output_norm.gain + at, scale, a);
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) a[e] += q[e];
}

template <class T, unsigned kMaxCopies, unsigned kElements>
__global__ void __launch_bounds__(kAltupThreads)
    altup_correct_kernel(const __grid_constant__ AltupCorrect<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  constexpr unsigned kSums = kRouterSums<kMaxCopies>;
  const std::size_t d = op.hidden_size;
  const auto A = static_cast<unsigned>(op.num_copies);
  RowThreads threads = altup_threads(kSums);
  const float squares = row_squares<kElements>(op.layer_output + blockIdx.x * d, d, threads);
  const float scale = rms_scale(squares, d, op.output_norm.eps);
  float sums[kSums] = {};
  each_column<kElements>(d, [&](std::size_t at) {
    float a[kElements];
    load_activated(op, scale, at, a);
    add_router_sums<kMaxCopies>(op.router, A, d, at, a, sums);
  });
  float* weights = altup_scratch() + RowThreads::scratch_size(blockDim.x / kWarpSize, kSums);
  write_weights<kMaxCopies>(op.router, op.coefficients, A, A, d, threads.sums(sums), weights);
  T* copies = op.copies + blockIdx.x * A * d;
  each_column<kElements>(d, [&](std::size_t at) {
    float change[kElements];
    float p[kElements];
    load_activated(op, scale, at, change);
    load_elements(copies + at, p);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) change[e] -= p[e];
    for (unsigned i = 0; i < A; ++i) {
      load_elements(copies + i * d + at, p);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) p[e] = fmaf(weights[i] + 1, change[e], p[e]);
      store_elements(copies + i * d + at, p);
    }
  });
}

/// L x of the tokens of a CTA, a rank for each warp, in `inner` (tokens, r).
template <unsigned kElements, class T>
__device__ void project_down(const AltupLaurel<T>& op, const T* const (&x)[kAltupTokens],
                             float* inner) {
  const std::size_t d = op.hidden_size;
  const unsigned num_warps = blockDim.x / kWarpSize;
  for (std::size_t j = threadIdx.x / kWarpSize; j < op.rank; j += num_warps) {
    float dots[kAltupTokens] = {};
    for (std::size_t at = lane_id() * kElements; at < d; at += kWarpSize * kElements) {
      float row[kElements];
      load_parameters(op.down + j * d + at, row);
#pragma unroll
      for (unsigned t = 0; t < kAltupTokens; ++t) {
        float in[kElements];
        load_elements(x[t] + at, in);
#pragma unroll
        for (unsigned e = 0; e < kElements; ++e) dots[t] = fmaf(row[e], in[e], dots[t]);
      }
    }
    const float dot = warp_sums(dots);
    constexpr unsigned kLanes = kLanesPerValue<kAltupTokens>;
    if (lane_id() % kLanes == 0) inner[lane_id() / kLanes * op.rank + j] = dot;
  }
}

/// R (L x) of the tokens of a CTA, a column for each warp, in `branch` (tokens, d).
template <class T>
__device__ void project_up(const AltupLaurel<T>& op, const float* inner, float* branch) {
  const unsigned num_warps = blockDim.x / kWarpSize;
  for (std::size_t i = threadIdx.x / kWarpSize; i < op.hidden_size; i += num_warps) {
    float dots[kAltupTokens] = {};
    for (std::size_t j = lane_id(); j < op.rank; j += kWarpSize) {
      const float weight = op.up[i * op.rank + j];
#pragma unroll
      for (unsigned t = 0; t < kAltupTokens; ++t)
        dots[t] = fmaf(weight, inner[t * op.rank + j], dots[t]);
    }
    const float dot = warp_sums(dots);
    constexpr unsigned kLanes = kLanesPerValue<kAltupTokens>;
    if (lane_id() % kLanes == 0) branch[lane_id() / kLanes * op.hidden_size + i] = dot;
  }
}

/// Tokens behind the last are the last one again, and not stored.
template <class T, unsigned kElements>
__global__ void __launch_bounds__(kAltupThreads)
    altup_laurel_kernel(const __grid_constant__ AltupLaurel<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t d = op.hidden_size;
  const std::size_t first = std::size_t{blockIdx.x} * kAltupTokens;
  const T* x[kAltupTokens];
#pragma unroll
  for (unsigned t = 0; t < kAltupTokens; ++t)
    x[t] = op.input + min(first + t, op.num_tokens - 1) * d;
  float* branch = altup_scratch() + RowThreads::scratch_size(blockDim.x / kWarpSize, 1);
  float* inner = branch + kAltupTokens * d;
  project_down<kElements>(op, x, inner);
  __syncthreads();
  project_up(op, inner, branch);
  __syncthreads();
  RowThreads threads = altup_threads(1);
#pragma unroll
  for (unsigned t = 0; t < kAltupTokens; ++t) {
    float squares = 0;
    for (std::size_t i = threadIdx.x; i < d; i += blockDim.x)
      squares = fmaf(branch[t * d + i], branch[t * d + i], squares);
    const float scale = rms_scale(threads.sum(squares), d, op.norm.eps);
    if (first + t >= op.num_tokens) continue;
    each_column<kElements>(d, [&](std::size_t at) {
      float l[kElements];
      float y[kElements];
      load_elements(x[t] + at, l);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) y[e] = branch[t * d + at + e];
      scale_by(op.norm.gain + at, scale, y);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) l[e] += y[e];
      store_elements(op.output + (first + t) * d + at, l);
    });
  }
}

/// A CTA for each of `num_ctas`, with room for sums of `max_values` and `floats` beside them.
LaunchShape altup_shape(std::size_t num_ctas, std::size_t max_values, std::size_t floats) {
  constexpr std::size_t kWarps = kAltupThreads / kThreadsPerWarp;
  return {.grid = grid_of(num_ctas),
          .cta = kAltupThreads,
          .shared_bytes = (RowThreads::scratch_size(kWarps, max_values) + floats) * sizeof(float)};
}

void check_num_copies(const char* operation, std::size_t num_copies) {
  if (num_copies > kAltupMostCopies)
    throw std::invalid_argument(std::string(operation) + ": num_copies is " +
                                std::to_string(num_copies) + " (must be at most " +
                                std::to_string(kAltupMostCopies) + " under CUDA)");
}

template <class T>
bool are_vectors(std::size_t size, bool aligned) {
  return aligned && vectors_per_row<T>(size) > 0;
}

}  // namespace

template <class T>
void run(const AltupPredict<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  check_num_copies("altup_predict", op.num_copies);
  if (op.num_tokens == 0) return;
  const std::size_t num_weights = op.num_copies * op.num_copies;
  const bool vectors = are_vectors<T>(
      op.hidden_size, aligned_to_vectors(op.copies, op.router.matrix, op.router.norm.gain,
                                         op.norm.gain, op.output));
  if (vectors && op.num_copies <= kAltupFewCopies)
    return launch(altup_predict_kernel<T, kAltupFewCopies, kWidth<T>>,
                  altup_shape(op.num_tokens, kRouterSums<kAltupFewCopies>, num_weights), options,
                  op);
  launch(altup_predict_kernel<T, kAltupMostCopies, 1>,
         altup_shape(op.num_tokens, kRouterSums<kAltupMostCopies>, num_weights), options, op);
}

template <class T>
void run(const AltupLaurel<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const bool vectors = are_vectors<T>(
      op.hidden_size, aligned_to_vectors(op.input, op.down, op.norm.gain, op.output));
  LaunchShape shape = altup_shape(ceil_div(op.num_tokens, kAltupTokens), 1,
                                  kAltupTokens * (op.hidden_size + op.rank));
  shape.shared_size = {"altup_laurel", "hidden_size", op.hidden_size};
  launch(vectors ? altup_laurel_kernel<T, kWidth<T>> : altup_laurel_kernel<T, 1>, shape, options,
         op);
}

template <class T>
void run(const AltupMiddle<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const bool vectors = are_vectors<T>(
      op.hidden_size, aligned_to_vectors(op.copies, op.layer_output, op.laurel, op.output_norm.gain,
                                         op.norm.gain, op.output));
  launch(vectors ? altup_middle_kernel<T, kWidth<T>> : altup_middle_kernel<T, 1>,
         altup_shape(op.num_tokens, 1, 0), options, op);
}

template <class T>
void run(const AltupCorrect<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  check_num_copies("altup_correct", op.num_copies);
  if (op.num_tokens == 0) return;
  const bool vectors = are_vectors<T>(
      op.hidden_size, aligned_to_vectors(op.copies, op.layer_output, op.middle, op.output_norm.gain,
                                         op.router.matrix, op.router.norm.gain));
  if (vectors && op.num_copies <= kAltupFewCopies)
    return launch(altup_correct_kernel<T, kAltupFewCopies, kWidth<T>>,
                  altup_shape(op.num_tokens, kRouterSums<kAltupFewCopies>, op.num_copies), options,
                  op);
  launch(altup_correct_kernel<T, kAltupMostCopies, 1>,
         altup_shape(op.num_tokens, kRouterSums<kAltupMostCopies>, op.num_copies), options, op);
}

#define DEPTHCOST_INSTANTIATE(Op)                            \
  template void run(const Op<float>&, const LaunchOptions&); \
  template void run(const Op<Bf16>&, const LaunchOptions&);
DEPTHCOST_INSTANTIATE(AltupPredict)
DEPTHCOST_INSTANTIATE(AltupLaurel)
DEPTHCOST_INSTANTIATE(AltupMiddle)
DEPTHCOST_INSTANTIATE(AltupCorrect)
#undef DEPTHCOST_INSTANTIATE

}  // namespace depthcost::cuda
