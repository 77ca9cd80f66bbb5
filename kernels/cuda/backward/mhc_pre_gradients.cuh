// Gradients in front of a layer of mHC. A CTA takes tiles of a slice's tokens: it makes z again,
// then the scalars, a warp for each token; the caller makes all that is as wide as a row. A second
// launch makes dphi, a product of dz / R and X; a third adds up the slices.
#pragma once

#include "kernels/cuda/backward/mhc_gradients.cuh"
#include "kernels/cuda/backward/slice_launch.cuh"

namespace depthcost::cuda {

inline constexpr unsigned kPreTileSums = kPreBackwardTokens * kPreBackwardRows;
static_assert(kPreTileSums == kWarpSize);

/// Some tokens of a slice, and their scalars.
template <class T, unsigned kElements>
struct PreTile {
  const MhcPreBackward<T>& op;
  const PreScalars& scalars;
  std::size_t first;
  unsigned count;

  __device__ std::size_t width() const { return op.num_streams * op.hidden_size; }
  /// X, all streams, of token i.
  __device__ const T* streams(unsigned i) const { return op.streams + (first + i) * width(); }
  __device__ T* gradients(unsigned i) const { return op.gradients + (first + i) * width(); }
  __device__ const T* dx(unsigned i) const {
    return op.output_gradient + (first + i) * op.hidden_size;
  }

  /// u of token i.
  __device__ void mix(unsigned i, std::size_t at, float (&u)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) u[e] = 0;
    for (std::size_t j = 0; j < op.num_streams; ++j) {
      float x[kElements];
      load_elements(streams(i) + j * op.hidden_size + at, x);
      const float weight = scalars.pre(i)[j];
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) u[e] = fmaf(weight, x[e], u[e]);
    }
  }
};

/// X . X of every token.
template <class T, unsigned kElements>
__device__ void square_streams(const PreTile<T, kElements>& tile, RowThreads& threads) {
  float sums[kPreBackwardTokens] = {};
  RowShare<kInMemory, kElements>{tile.width()}.each([&](unsigned, std::size_t at) {
#pragma unroll
    for (unsigned i = 0; i < kPreBackwardTokens; ++i) {
      if (i >= tile.count) break;
      float x[kElements];
      load_elements(tile.streams(i) + at, x);
      sums[i] = dot(x, x, sums[i]);
    }
  });
  const float total = threads.sums(sums);
  const unsigned i = lane_id() / kLanesPerValue<kPreBackwardTokens>;
  if (threadIdx.x < kWarpSize && lane_id() % kLanesPerValue<kPreBackwardTokens> == 0)
    tile.scalars.squares()[i] = total;
}

/// phi . X of every token, kPreBackwardRows rows of phi at a time.
template <class T, unsigned kElements>
__device__ void project(const PreTile<T, kElements>& tile, RowThreads& threads) {
  const std::size_t num_rows = num_mapping_rows(tile.op.num_streams);
  for (std::size_t row = 0; row < num_rows; row += kPreBackwardRows) {
    float sums[kPreTileSums] = {};
    RowShare<kInMemory, kElements>{tile.width()}.each([&](unsigned, std::size_t at) {
      float x[kPreBackwardTokens][kElements] = {};
#pragma unroll
      for (unsigned i = 0; i < kPreBackwardTokens; ++i)
        if (i < tile.count) load_elements(tile.streams(i) + at, x[i]);
#pragma unroll
      for (unsigned r = 0; r < kPreBackwardRows; ++r) {
        if (row + r >= num_rows) break;
        float phi[kElements];
        load_parameters(tile.op.mapping.phi + (row + r) * tile.width() + at, phi);
#pragma unroll
        for (unsigned i = 0; i < kPreBackwardTokens; ++i)
          sums[i * kPreBackwardRows + r] = dot(phi, x[i], sums[i * kPreBackwardRows + r]);
      }
    });
    const float total = threads.sums(sums);
    const std::size_t r = row + lane_id() % kPreBackwardRows;
    if (threadIdx.x < kWarpSize && r < num_rows)
      tile.scalars.z(lane_id() / kPreBackwardRows)[r] = total;
  }
}

/// u . X_j and (g o dx) . X_j of token i, some streams at a time.
template <class T, unsigned kElements>
__device__ void meet_streams(const PreTile<T, kElements>& tile, unsigned i, RowThreads& threads) {
  constexpr unsigned kStreams = kBackwardMet / 2;
  const std::size_t d = tile.op.hidden_size;
  for (std::size_t first = 0; first < tile.op.num_streams; first += kStreams) {
    float sums[kBackwardMet] = {};
    RowShare<kInMemory, kElements>{d}.each([&](unsigned, std::size_t at) {
      float u[kElements];
      float gradient[kElements];
      tile.mix(i, at, u);
      load_elements(tile.dx(i) + at, gradient);
      apply_gain(tile.op.norm.gain, at, gradient);
#pragma unroll
      for (unsigned j = 0; j < kStreams; ++j) {
        if (first + j >= tile.op.num_streams) break;
        float x[kElements];
        load_elements(tile.streams(i) + (first + j) * d + at, x);
        sums[2 * j] = dot(u, x, sums[2 * j]);
        sums[2 * j + 1] = dot(gradient, x, sums[2 * j + 1]);
      }
    });
    const float total = threads.sums(sums);
    const unsigned value = lane_id() / kLanesPerValue<kBackwardMet>;
    const std::size_t j = first + value / 2;
    const bool writes = threadIdx.x < kWarpSize && lane_id() % kLanesPerValue<kBackwardMet> == 0;
    if (!writes || j >= tile.op.num_streams) continue;
    (value % 2 == 0 ? tile.scalars.with_mix(i) : tile.scalars.with_gradient(i))[j] = total;
  }
}

/// du of the elements at `at` of token i, and its part of the gain's gradient.
template <class T, unsigned kElements>
__device__ void make_mix_gradient_of(const PreTile<T, kElements>& tile, unsigned i, std::size_t at,
                                     float (&du)[kElements], float (&gain_part)[kElements]) {
  load_elements(tile.dx(i) + at, du);
  if (tile.op.norm.gain == nullptr) return;
  const NormFactors norm = tile.scalars.norms()[i];
  float u[kElements];
  float part[kElements];
  tile.mix(i, at, u);
  make_gain_part(norm, du, u, part);
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) gain_part[e] += part[e];
  apply_gain(tile.op.norm.gain, at, du);
  make_mix_gradient(norm, du, u, du);
}

/// du of every token for the elements at `at`, and their part of the gain's gradient.
template <class T, unsigned kElements>
__device__ void make_mix_gradients(const PreTile<T, kElements>& tile, std::size_t at,
                                   float (&du)[kPreBackwardTokens][kElements],
                                   float (&gain_part)[kElements]) {
#pragma unroll
  for (unsigned i = 0; i < kPreBackwardTokens; ++i)
    if (i < tile.count) make_mix_gradient_of(tile, i, at, du[i], gain_part);
}

/// To what the slice has already.
template <class T, unsigned kElements>
__device__ void add_gain_part(const PreTile<T, kElements>& tile, std::size_t at,
                              const float (&gain_part)[kElements], float* gain_sums) {
  if (tile.op.norm.gain == nullptr) return;
  for (unsigned e = 0; e < kElements; ++e)  // behind three scales, where no vector begins
    gain_sums[at + e] += gain_part[e];
}

/// dX_j + H_pre[j] du + of_stream X_j + phi_j^T dz / R for the elements at `at` of every token.
template <class T, unsigned kElements>
__device__ void make_stream_gradients(const PreTile<T, kElements>& tile, std::size_t j,
                                      std::size_t at,
                                      const float (&du)[kPreBackwardTokens][kElements],
                                      float (&sums)[kPreBackwardTokens][kElements]) {
  const std::size_t place = j * tile.op.hidden_size + at;
#pragma unroll
  for (unsigned i = 0; i < kPreBackwardTokens; ++i) {
    if (i >= tile.count) break;
    float x[kElements];
    load_elements(tile.gradients(i) + place, sums[i]);
    load_elements(tile.streams(i) + place, x);
    const float of_mix = tile.scalars.pre(i)[j];
    const float of_stream = tile.scalars.of_stream()[i];
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e)
      sums[i][e] = fmaf(of_stream, x[e], fmaf(of_mix, du[i][e], sums[i][e]));
  }
  const std::size_t num_rows = num_mapping_rows(tile.op.num_streams);
#pragma unroll 2  // more would not fit beside the products of a boundary
  for (std::size_t r = 0; r < num_rows; ++r) {
    float phi[kElements];
    load_parameters(tile.op.mapping.phi + r * tile.width() + place, phi);
#pragma unroll
    for (unsigned i = 0; i < kPreBackwardTokens; ++i) {
      const float dz = tile.scalars.dz(i)[r];
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) sums[i][e] = fmaf(dz, phi[e], sums[i][e]);
    }
  }
}

/// The scalars of the tile's tokens, a warp for each.
template <class T, unsigned kElements>
__device__ void settle_tile(const PreTile<T, kElements>& tile, RowThreads& threads) {
  square_streams(tile, threads);
  project(tile, threads);
  __syncthreads();
  const unsigned warp = threadIdx.x / kWarpSize;
  const unsigned num_warps = blockDim.x / kWarpSize;
  for (unsigned i = warp; i < tile.count; i += num_warps) map_logits(tile.op, tile.scalars, i);
  __syncthreads();
  for (unsigned i = 0; i < tile.count; ++i) meet_streams(tile, i, threads);
  __syncthreads();
  for (unsigned i = warp; i < tile.count; i += num_warps)
    map_gradients(tile.op, tile.scalars, i, tile.first + i);
  __syncthreads();
}

/// A slice of the tokens, tile by tile: leave(tile, of_gain, threads) is called when a tile's
/// scalars are known.
template <unsigned kElements, class T, class Leave>
__device__ void pre_backward_slice(const MhcPreBackward<T>& op, const Leave& leave) {
  const std::size_t rows = num_mapping_rows(op.num_streams);
  const PreScalars scalars(reinterpret_cast<float*>(shared_memory()) +
                               RowThreads::scratch_size(blockDim.x / kWarpSize, kPreTileSums),
                           op.num_streams, op.mapping.iterations);
  RowThreads threads = cta_row_threads(kPreTileSums);
  float* of_bias = op.slices.sums + blockIdx.x * depthcost::num_parameters(op) +
                   rows * op.num_streams * op.hidden_size;
  float* of_gain = of_bias + rows + 3;
  const std::size_t num_gains = op.norm.gain == nullptr ? 0 : op.hidden_size;
  for (std::size_t k = threadIdx.x; k < rows + 3 + num_gains; k += blockDim.x) of_bias[k] = 0;
  const TokenSlice tokens = token_slice(op.num_tokens, op.slices.count, blockIdx.x);
  for (std::size_t first = tokens.begin; first < tokens.end; first += kPreBackwardTokens) {
    const auto count = static_cast<unsigned>(
        tokens.end - first < kPreBackwardTokens ? tokens.end - first : kPreBackwardTokens);
    const PreTile<T, kElements> tile{op, scalars, first, count};
    __syncthreads();  // all have left the scalars of the tile before
    settle_tile(tile, threads);
    add_scalar_gradients(scalars, count, of_bias);
    leave(tile, of_gain, threads);
  }
}

/// dphi of every slice, from dz / R; behind the kernel that left it.
template <class T>
void launch_phi_product(const MhcPreBackward<T>& op, const LaunchOptions& options);

/// Adds the slices to the gradients of all parameters.
template <class T>
void launch_add_mapping_slices(const MhcPreBackward<T>& op, const LaunchOptions& options) {
  const std::size_t rows = num_mapping_rows(op.num_streams);
  const std::size_t of_phi = rows * op.num_streams * op.hidden_size;
  launch_add_slices({.sums = op.slices.sums,
                     .num_slices = op.slices.count,
                     .num_parameters = num_parameters(op),
                     .gradients = {{op.into.phi, 0, of_phi},
                                   {op.into.bias, of_phi, rows},
                                   {op.into.scales, of_phi + rows, 3},
                                   {op.gain_gradient, of_phi + rows + 3,
                                    op.norm.gain == nullptr ? 0 : op.hidden_size}}},
                    options);
}

}  // namespace depthcost::cuda
