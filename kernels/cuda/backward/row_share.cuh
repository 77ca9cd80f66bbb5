// What backward kernels do with rows: a thread's share of a row, rows that it holds, and sums for
// gradients of parameters. Each comes in two kinds: in registers, for rows that fit there; and in
// memory, for rows of any size, whose elements are read again from a cache.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"
#include "kernels/operations/backward/slices.hpp"

namespace depthcost::cuda {

/// In place of a number of slices: nothing stays in registers.
inline constexpr unsigned kInMemory = 0;

/// The elements of a row that belong to this thread: kSlices vectors of kElements, or any number.
template <unsigned kSlices, unsigned kElements>
struct RowShare {
  std::size_t size;

  /// body(slice, element) for the first element of every vector.
  template <class Body>
  __device__ void each(const Body& body) const {
    if constexpr (kSlices == kInMemory) {
#pragma unroll 1
      for (std::size_t at = threadIdx.x * kElements; at < size; at += blockDim.x * kElements)
        body(0U, at);
    } else {
#pragma unroll
      for (unsigned s = 0; s < kSlices; ++s) {
        const std::size_t at = std::size_t{s * blockDim.x + threadIdx.x} * kElements;
        if (at < size) body(s, at);
      }
    }
  }
};

/// A row as it is stored, all of which is asked for at once.
template <class T, unsigned kSlices, unsigned kElements>
struct HeldRow {
  Stored<T, kElements> slices[kSlices];

  __device__ HeldRow(const T* row, const RowShare<kSlices, kElements>& share) {
    share.each(
        [&](unsigned s, std::size_t at) { slices[s] = load_stored<T, kElements>(row + at); });
  }
  __device__ void get(unsigned s, std::size_t /*at*/, float (&x)[kElements]) const {
    unpack_stored<T, kElements>(slices[s], x);
  }
};

template <class T, unsigned kElements>
struct HeldRow<T, kInMemory, kElements> {
  const T* row;

  __device__ HeldRow(const T* from, const RowShare<kInMemory, kElements>& /*share*/) : row(from) {}
  __device__ void get(unsigned /*s*/, std::size_t at, float (&x)[kElements]) const {
    load_elements(row + at, x);
  }
};

/// Sums of a parameter's gradient over the tokens of a slice, which end in its row of
/// TokenSlices::sums. The row is aligned to 16 bytes where vectors are used.
template <unsigned kSlices, unsigned kElements>
struct ParameterSums {
  float values[kSlices][kElements] = {};

  __device__ ParameterSums(float* /*row*/, const RowShare<kSlices, kElements>& /*share*/) {}
  __device__ void add(unsigned s, std::size_t /*at*/, const float (&x)[kElements]) {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) values[s][e] += x[e];
  }
  __device__ void store(float* row, const RowShare<kSlices, kElements>& share) const {
    share.each([&](unsigned s, std::size_t at) { store_parameters(row + at, values[s]); });
  }
};

template <unsigned kElements>
struct ParameterSums<kInMemory, kElements> {
  float* sums;

  __device__ ParameterSums(float* row, const RowShare<kInMemory, kElements>& share) : sums(row) {
    if (row == nullptr) return;
    share.each([&](unsigned, std::size_t at) {
      const float zeros[kElements] = {};
      store_parameters(row + at, zeros);
    });
  }
  /// Each thread adds to what it wrote itself.
  __device__ static void add_to(float* to, const float (&x)[kElements]) {
    float sum[kElements];
    load_parameters(to, sum);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) sum[e] += x[e];
    store_parameters(to, sum);
  }
  __device__ void add(unsigned /*s*/, std::size_t at, const float (&x)[kElements]) {
    add_to(sums + at, x);
  }
  __device__ void store(float* /*row*/, const RowShare<kInMemory, kElements>& /*share*/) const {}
};

/// The same, in columns of shared memory that a thread has to itself, where registers are taken by
/// rows.
template <unsigned kSlices, unsigned kElements>
struct ColumnSums {
  float* column;

  __host__ __device__ static constexpr std::size_t num_floats(std::size_t num_threads) {
    return kSlices * kElements * num_threads;
  }
  __device__ ColumnSums(float* columns, float* /*row*/,
                        const RowShare<kSlices, kElements>& /*share*/)
      : column(columns + threadIdx.x) {
#pragma unroll
    for (unsigned k = 0; k < kSlices * kElements; ++k) column[k * blockDim.x] = 0;
  }
  __device__ void add(unsigned s, std::size_t /*at*/, const float (&x)[kElements]) {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) column[(s * kElements + e) * blockDim.x] += x[e];
  }
  __device__ void store(float* row, const RowShare<kSlices, kElements>& share) const {
    share.each([&](unsigned s, std::size_t at) {
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e)
        row[at + e] = column[(s * kElements + e) * blockDim.x];
    });
  }
};

template <unsigned kElements>
struct ColumnSums<kInMemory, kElements> : ParameterSums<kInMemory, kElements> {
  __host__ __device__ static constexpr std::size_t num_floats(std::size_t /*num_threads*/) {
    return 0;
  }
  __device__ ColumnSums(float* /*columns*/, float* row, const RowShare<kInMemory, kElements>& share)
      : ParameterSums<kInMemory, kElements>(row, share) {}
};

/// dh = gain_scale (g o dx) + row_scale h and dg = gain_scale (dx o h): with r = sqrt(mean(h^2) +
/// eps), gain_scale = 1 / r and row_scale = -((g o dx) . h) / (d r^3). Without a norm dh is dx.
struct NormFactors {
  float gain_scale = 1;
  float row_scale = 0;
};

/// From h . h and (g o dx) . h.
__device__ inline NormFactors norm_factors(float squares, float along, std::size_t size,
                                           float eps) {
  const float inverse = rsqrtf(squares / static_cast<float>(size) + eps);
  return {inverse, -along * inverse * inverse * inverse / static_cast<float>(size)};
}

/// dh . h behind a norm: -row_scale d eps. Its two terms, gain_scale u . h and row_scale h . h, are
/// the same but for eps, and f32 would lose all of it.
__device__ inline float product_behind_norm(const NormFactors& norm, std::size_t size, float eps) {
  return -norm.row_scale * static_cast<float>(size) * eps;
}

/// u = g o dx, or dx without a gain.
template <unsigned kElements>
__device__ void apply_gain(const float* gain, std::size_t at, float (&x)[kElements]) {
  if (gain == nullptr) return;
  float g[kElements];
  load_parameters(gain + at, g);
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) x[e] *= g[e];
}

template <unsigned kElements>
__device__ float dot(const float (&a)[kElements], const float (&b)[kElements], float sum) {
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) sum = fmaf(a[e], b[e], sum);
  return sum;
}

/// The threads of a CTA that has a row to itself, with scratch memory for `max_values` sums.
__device__ inline RowThreads cta_row_threads(unsigned max_values) {
  return {reinterpret_cast<float*>(shared_memory()), threadIdx.x / kWarpSize,
          blockDim.x / kWarpSize, 0, max_values};
}

}  // namespace depthcost::cuda
