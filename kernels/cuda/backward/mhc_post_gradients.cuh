// Gradients behind a layer of mHC, for up to four streams: products of gradients and rows, and the
// mix. kernels/operations/backward/mhc.hpp has the equations.
#pragma once

#include "kernels/cuda/backward/row_share.cuh"
#include "kernels/operations/backward/mhc.hpp"

namespace depthcost::cuda {

inline constexpr unsigned kPostStreams = kMixFewStreams;
inline constexpr unsigned kPostColumns = kPostStreams + 1;  // X_j, then f
inline constexpr unsigned kPostProducts =
    32;  // of kPostStreams kPostColumns, the next power of two
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
  __device__ void gradient(unsigned i, float (&to)[kElements]) const {
    unpack_stored<T, kElements>(gradients[i], to);
  }
  __device__ void stream(unsigned j, float (&to)[kElements]) const {
    unpack_stored<T, kElements>(streams[j], to);
  }
  __device__ void layer(float (&to)[kElements]) const {
    unpack_stored<T, kElements>(layer_output, to);
  }
};

/// Adds the products of dX'_i to `sums`. `in` is PostColumns, or has its functions.
template <unsigned kElements, class Columns>
__device__ void add_post_products(const Columns& in, unsigned num_streams,
                                  float (&sums)[kPostProducts]) {
  float f[kElements];
  in.layer(f);
#pragma unroll
  for (unsigned i = 0; i < kPostStreams; ++i) {
    if (i >= num_streams) break;
    float g[kElements];
    in.gradient(i, g);
#pragma unroll
    for (unsigned j = 0; j < kPostStreams; ++j) {
      if (j >= num_streams) break;
      float x[kElements];
      in.stream(j, x);
      sums[i * kPostColumns + j] = dot(g, x, sums[i * kPostColumns + j]);
    }
    sums[i * kPostColumns + kPostStreams] = dot(g, f, sums[i * kPostColumns + kPostStreams]);
  }
}

/// dX_j = sum_i H_res[i][j] dX'_i, and df = sum_i H_post[i] dX'_i where j is kPostStreams.
template <unsigned kElements, class T, class Columns>
__device__ void mix_post_column(const Columns& in, unsigned num_streams, const float* coefficients,
                                unsigned j, T* to) {
  float out[kElements] = {};
#pragma unroll
  for (unsigned i = 0; i < kPostStreams; ++i) {
    if (i >= num_streams) break;
    const float weight = coefficients[i * kPostColumns + j];
    float g[kElements];
    in.gradient(i, g);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) out[e] = fmaf(weight, g[e], out[e]);
  }
  store_elements(to, out);
}

/// Stores a token's products, from what RowThreads::sums has given each lane.
template <class T>
__device__ void store_post_products(const MhcPostBackward<T>& op, std::size_t token,
                                    float product) {
  const auto m = static_cast<unsigned>(op.num_streams);
  const unsigned i = lane_id() / kPostColumns;
  const unsigned j = lane_id() % kPostColumns;
  if (threadIdx.x < kWarpSize && i < m && (j < m || j == kPostStreams))
    store_product(op, token, i, j == kPostStreams ? m : j, product);
}

}  // namespace depthcost::cuda
