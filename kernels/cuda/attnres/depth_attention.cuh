// Attention over depth of one query: what attnres_single_pass and attnres_phase2 have in common,
// and the arithmetic that their variants share.
#pragma once

#include <bit>

#include "kernels/cuda/attnres/depth_attention_variants.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"

namespace depthcost::cuda {

/// Sources are `num_rows` rows and, if it is there, the newest: b, or b + f. The result of Phase 1,
/// which O stores, is merged if it is there. A sliding window leaves out rows behind the first of
/// the bank.
template <class T, class O>
struct DepthAttention {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t row_stride = 0;  // T d
  std::size_t num_rows = 0;
  std::size_t num_skipped_rows = 0;
  const T* rows = nullptr;          // (rows, T, d), with those that are skipped
  const T* partial_sum = nullptr;   // b (T, d), or null
  const T* layer_output = nullptr;  // f (T, d), or null
  T* stored_sum = nullptr;          // (T, d), where b + f is stored, or null
  const float* query = nullptr;     // (d)
  float key_eps = 0;
  const O* phase1_output = nullptr;  // o (T, d), or null
  const float* maximum = nullptr;    // m (T)
  const float* sum = nullptr;        // l (T)
  NextNorm norm;
  T* output = nullptr;  // (T, d)

  /// Row i of the token whose vectors begin at `at` = token * d.
  __device__ const T* row(std::size_t i, std::size_t at) const {
    const std::size_t place = i == 0 ? 0 : i + num_skipped_rows;
    return rows + place * row_stride + at;
  }
};

/// Scores that are summed at once for up to kRows rows and the newest source.
template <unsigned kRows>
inline constexpr unsigned kPairsFor = std::bit_ceil(kRows + 1);

/// The vectors of a row that a thread works on: every `step`-th element from `first` before `end`.
struct RowPart {
  unsigned first = 0;
  unsigned step = 0;
  unsigned end = 0;

  __device__ unsigned at(unsigned slice) const { return first + slice * step; }
  __device__ bool has(unsigned slice) const { return at(slice) < end; }
};

template <class T, unsigned kSlices>
__device__ void load_part(const T* row, const RowPart& part, uint4 (&slices)[kSlices]) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    slices[s] = {0, 0, 0, 0};
    if (part.has(s)) slices[s] = load_vector(row + part.at(s));
  }
}

template <unsigned kSlices, unsigned kElements>
__device__ void load_parameters(const float* from, const RowPart& part,
                                float (&x)[kSlices][kElements]) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[s][e] = 0;
    if (part.has(s)) load_floats(from + part.at(s), x[s]);
  }
}

/// x = the floats of `slices`.
template <class T, unsigned kSlices>
__device__ void unpack_part(const uint4 (&slices)[kSlices], float (&x)[kSlices][kWidth<T>]) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) unpack<T>(slices[s], x[s]);
}

/// x += f. If `sum` is there, x is rounded and stored to it.
template <class T, unsigned kSlices>
__device__ void add_part(const uint4 (&f)[kSlices], const RowPart& part, T* sum,
                         float (&x)[kSlices][kWidth<T>]) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    float addend[kWidth<T>];
    unpack<T>(f[s], addend);
#pragma unroll
    for (unsigned e = 0; e < kWidth<T>; ++e) x[s][e] += addend[e];
    if (sum != nullptr && part.has(s)) store_elements(sum + part.at(s), x[s]);
  }
}

/// This thread's share of w . v and v . v.
template <unsigned kSlices, unsigned kElements>
__device__ void add_products(const float (&w)[kSlices][kElements],
                             const float (&v)[kSlices][kElements], float& dot, float& square) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) {
      dot = fmaf(w[s][e], v[s][e], dot);
      square = fmaf(v[s][e], v[s][e], square);
    }
  }
}

/// The same for the first `count` of `rows`, from shares[0] on.
template <class T, unsigned kRows, unsigned kSlices, unsigned kShares>
__device__ void add_products_of_rows(const float (&w)[kSlices][kWidth<T>],
                                     const uint4 (&rows)[kRows][kSlices], unsigned count,
                                     float (&shares)[kShares]) {
#pragma unroll
  for (unsigned p = 0; p < kRows; ++p) {
    if (p >= count) break;
    float v[kSlices][kWidth<T>];
    unpack_part<T>(rows[p], v);
    add_products(w, v, shares[2 * p], shares[2 * p + 1]);
  }
}

/// Rows in groups of nearly the same size. The host forms them: a division would stand before a
/// kernel's first load.
struct RowGroups {
  unsigned num_rows = 0;
  unsigned per_group = 1;

  RowGroups(std::size_t rows, std::size_t most_rows)
      : num_rows(static_cast<unsigned>(rows)),
        per_group(rows == 0 ? 1
                            : static_cast<unsigned>(ceil_div(rows, ceil_div(rows, most_rows)))) {}

  __device__ unsigned count(unsigned first) const { return min(per_group, num_rows - first); }
};

/// Scores of kPairs sources from shares (w . v, v . v) of all threads of the row: w . RMSNorm(v).
template <class Threads, unsigned kPairs>
__device__ void scores_of(Threads& threads, float (&shares)[2 * kPairs], std::size_t hidden_size,
                          float eps, float (&scores)[kPairs]) {
  constexpr unsigned kLanes = kLanesPerValue<2 * kPairs>;
  const float total = threads.sums(shares);
  const float square = __shfl_down_sync(kFullMask, total, kLanes);
  const float score = total * rsqrtf(square / static_cast<float>(hidden_size) + eps);
#pragma unroll
  for (unsigned p = 0; p < kPairs; ++p) scores[p] = __shfl_sync(kFullMask, score, 2 * p * kLanes);
}

/// Softmax whose terms arrive one after the other: sum_i e^{s_i - maximum} v_i and the sum of the
/// weights.
template <unsigned kSlices, unsigned kElements>
struct OnlineSoftmax {
  float maximum = -INFINITY;
  float sum = 0;
  float mix[kSlices][kElements] = {};

  __device__ void scale(float factor) {
#pragma unroll
    for (unsigned s = 0; s < kSlices; ++s)
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) mix[s][e] *= factor;
  }

  /// Makes all terms relative to a maximum of at least `score`.
  __device__ void raise_maximum(float score) {
    const float higher = fmaxf(maximum, score);
    const float factor = __expf(maximum - higher);
    maximum = higher;
    sum *= factor;
    scale(factor);
  }

  /// Adds `v` with `weight`, which counts `mass` in the sum.
  __device__ void add(float weight, float mass, const float (&v)[kSlices][kElements]) {
    sum = fmaf(weight, mass, sum);
#pragma unroll
    for (unsigned s = 0; s < kSlices; ++s)
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) mix[s][e] = fmaf(weight, v[s][e], mix[s][e]);
  }

  /// Adds the first `count` of `rows`, with their scores.
  template <class T, unsigned kRows, unsigned kPairs>
  __device__ void add_rows(const uint4 (&rows)[kRows][kSlices], unsigned count,
                           const float (&scores)[kPairs]) {
    float highest = maximum;
#pragma unroll
    for (unsigned p = 0; p < kRows; ++p)
      if (p < count) highest = fmaxf(highest, scores[p]);
    raise_maximum(highest);
#pragma unroll
    for (unsigned p = 0; p < kRows; ++p) {
      if (p >= count) break;
      float v[kSlices][kElements];
      unpack_part<T>(rows[p], v);
      add(__expf(scores[p] - maximum), 1, v);
    }
  }

  /// What has been added so far becomes one source with `score`.
  __device__ void start_from(float score) {
    maximum = score;
    sum = 1;
  }

  /// The mean square of mix / sum over the row, for the next norm.
  template <class Threads>
  __device__ float mean_square(Threads& threads, std::size_t hidden_size) const {
    float squares = 0;
#pragma unroll
    for (unsigned s = 0; s < kSlices; ++s)
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) squares = fmaf(mix[s][e], mix[s][e], squares);
    return threads.sum(squares) / (sum * sum * static_cast<float>(hidden_size));
  }
};

// The launcher of each kernel; attnres.cu chooses.

template <class T, class O>
void launch_scalar(const DepthAttention<T, O>& op, const LaunchOptions& options);
template <class T, class O>
void launch_split_row(const DepthAttention<T, O>& op, const AttentionPlan& plan,
                      const LaunchOptions& options);
template <class T>
void launch_row_ring(const DepthAttention<T, T>& op, const AttentionPlan& plan,
                     const DeviceLimits& device, const LaunchOptions& options);

}  // namespace depthcost::cuda
