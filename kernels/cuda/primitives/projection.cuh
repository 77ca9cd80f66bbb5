// Up to 32 parameter rows times bf16 columns on tensor cores, for the scores of Phase 1 and for phi
// of mHC. The float rows are split into two bf16, high and low, which leaves an error of 2^-17.
// Each warp takes a share of the long dimension; its lanes take eight consecutive elements of it,
// in an order that only the two operands have to agree on, and so need 16-byte loads but no
// transposes.
#pragma once

#include "kernels/cuda/primitives/reduce.cuh"
#include "kernels/cuda/primitives/vector.cuh"
#include "kernels/cuda/tile_plan.hpp"

namespace depthcost::cuda {

/// Row of a 16x8 result tile, or column of the second operand, in which a lane begins; and which
/// quarter of a row's 32 elements, and pair of result columns, is the lane's.
__device__ inline unsigned lane_group() { return lane_id() / 4; }
__device__ inline unsigned lane_quarter() { return lane_id() % 4; }

/// high + low = a + b's bf16 pairs, to 2^-17.
__device__ inline void split_pair(float a, float b, std::uint32_t& high, std::uint32_t& low) {
  high = bf16_pair(a, b);
  low = bf16_pair(a - low_bf16(high), b - high_bf16(high));
}

/// 32 rows by 32 elements of parameters, as first operands: two halves of the elements, two tiles.
struct SplitRows {
  std::uint32_t high[2][2][4];
  std::uint32_t low[2][2][4];

  /// `num_rows` rows stand at `from`, `row_size` apart. They begin with the lane's own eight
  /// elements, which are zero unless `inside`.
  __device__ void load(const float* from, std::size_t row_size, unsigned num_rows, bool inside) {
    float x[4][8];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane_group() + 8 * i;
#pragma unroll
      for (unsigned e = 0; e < 8; ++e) x[i][e] = 0;
      if (inside && row < num_rows) load_floats(from + row * row_size, x[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
#pragma unroll
      for (unsigned e = 0; e < 8; e += 2)
        split_pair(x[i][e], x[i][e + 1], high[e / 4][i / 2][i % 2 + (e % 4)],
                   low[e / 4][i / 2][i % 2 + (e % 4)]);
  }
};

/// Running sums of a warp for up to kTiles tiles of columns.
template <unsigned kTiles>
struct Projection {
  float products[kTiles][2][4] = {};
  float squares[kTiles] = {};

  /// `columns` points to the eight elements of column 0 that belong to the lane.
  __device__ void add(const SplitRows& rows, const std::byte* columns, std::size_t column_bytes,
                      unsigned num_tiles) {
#pragma unroll
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      if (tile >= num_tiles) break;
      const std::size_t column = tile * kTileColumns + lane_group();
      const uint4 vector =
          load_vector(reinterpret_cast<const Bf16*>(columns + column * column_bytes));
      const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
          mma_bf16(products[tile][i], rows.high[half][i], words[2 * half], words[2 * half + 1]);
          mma_bf16(products[tile][i], rows.low[half][i], words[2 * half], words[2 * half + 1]);
        }
      }
      float x[8];
      unpack<Bf16>(vector, x);
#pragma unroll
      for (unsigned e = 0; e < 8; ++e) squares[tile] = fmaf(x[e], x[e], squares[tile]);
    }
  }

  /// Stores the sums to `values`, kValuesPerColumn for each column.
  __device__ void store(float* values, unsigned num_tiles) {
#pragma unroll
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      if (tile >= num_tiles) break;
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        const unsigned row = i / 4 * 16 + i % 4 / 2 * 8 + lane_group();
        const unsigned column = tile * kTileColumns + 2 * lane_quarter() + i % 2;
        values[column * kValuesPerColumn + row] = products[tile][i / 4][i % 4];
      }
      float square = squares[tile];
      square += __shfl_xor_sync(kFullMask, square, 1);
      square += __shfl_xor_sync(kFullMask, square, 2);
      if (lane_quarter() == 0)
        values[(tile * kTileColumns + lane_group()) * kValuesPerColumn + kTileRows] = square;
    }
  }
};

/// The part of a row, in elements, that this rank of a cluster works on.
struct RankPart {
  unsigned begin = 0;
  unsigned size = 0;
  unsigned padded_size = 0;  // whole projection steps; the same for all ranks

  __device__ explicit RankPart(std::size_t hidden_size, unsigned rank_padded_size)
      : padded_size(rank_padded_size) {
    const unsigned vectors = static_cast<unsigned>(hidden_size) / kWidth<Bf16>;
    const unsigned per_rank = (vectors + cluster_size() - 1) / cluster_size();
    const unsigned first = min(cluster_rank() * per_rank, vectors);
    begin = first * kWidth<Bf16>;
    size = min(per_rank, vectors - first) * kWidth<Bf16>;
  }
};

}  // namespace depthcost::cuda
