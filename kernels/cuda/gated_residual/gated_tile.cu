// The first pass for many tokens.
//   cluster_tile  a cluster shares out d and holds all streams of some tokens: they are read once,
//                 updated, stored, normalised in place, and meet the rows of D and B, which come
//                 from L2 once per tile. A warp has some rows and all tokens; ranks add up their
//                 sums by rows.
#include "kernels/cuda/gated_residual/gated_residual.cuh"
#include "kernels/cuda/primitives/held_rows.cuh"

namespace depthcost::cuda {
namespace {

/// A CTA's view of its tile.
struct GateTile {
  const GatedApplyDown<Bf16>& op;
  const GateTileLayout& layout;
  RankPart part;
  std::size_t first_token;
  unsigned num_streams;
  unsigned rank;
  unsigned num_ranks;

  __device__ GateTile(const GatedApplyDown<Bf16>& operation, const GateTileLayout& tile_layout)
      : op(operation),
        layout(tile_layout),
        part(operation.hidden_size, tile_layout.padded_size),
        first_token(std::size_t{cluster_index()} * tile_layout.num_tokens),
        num_streams(static_cast<unsigned>(operation.num_streams)),
        rank(cluster_rank()),
        num_ranks(cluster_size()) {}

  __device__ float* floats(std::size_t at) const {
    return reinterpret_cast<float*>(shared_memory() + at);
  }
  __device__ Bf16* stream(unsigned token, unsigned index) const {
    return reinterpret_cast<Bf16*>(shared_memory() + token * layout.column_bytes) +
           index * layout.padded_size;
  }
  __device__ std::size_t token(unsigned index) const { return first_token + index; }
  __device__ bool has_token(unsigned index) const {
    return index < layout.num_tokens && token(index) < op.num_tokens;
  }
  /// Element of a (T, n, d) buffer where this rank's part of the stream begins.
  __device__ std::size_t at(unsigned token_index, unsigned index) const {
    return (token(token_index) * num_streams + index) * op.hidden_size + part.begin;
  }
  /// The sum of squares of a stream over the part of rank `of`.
  __device__ float* squares(unsigned of, unsigned token_index, unsigned index) const {
    return floats(layout.squares) + (of * layout.num_tokens + token_index) * num_streams + index;
  }
};

/// visit(token, element) of each vector of each column.
template <class Visit>
__device__ void each_vector(const GateTile& tile, const Visit& visit) {
  const unsigned vectors = tile.layout.padded_size / kWidth<Bf16>;
  for (unsigned item = threadIdx.x; item < tile.layout.num_columns * vectors; item += kTileThreads)
    visit(item / vectors, item % vectors * kWidth<Bf16>);
}

/// X_i + lambda_i f, eight elements of each stream, stored.
__device__ void update(const GateTile& tile, unsigned token, unsigned e,
                       uint4 (&streams)[kGateStreams]) {
#pragma unroll
  for (unsigned i = 0; i < kGateStreams; ++i)
    if (i < tile.num_streams) streams[i] = load_vector(tile.op.streams + tile.at(token, i) + e);
  float f[8];
  load_elements(
      tile.op.layer_output + tile.token(token) * tile.op.hidden_size + tile.part.begin + e, f);
#pragma unroll
  for (unsigned i = 0; i < kGateStreams; ++i) {
    if (i >= tile.num_streams) break;
    const float lambda = tile.op.inject[tile.token(token) * tile.num_streams + i];
    float x[8];
    unpack<Bf16>(streams[i], x);
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) x[k] = fmaf(lambda, f[k], x[k]);
    streams[i] = pack<Bf16>(x);
    store_vector(tile.op.next_streams + tile.at(token, i) + e, streams[i]);
  }
}

/// Updates the tile's streams and leaves them in shared memory, with zeros where there is no token
/// or element.
__device__ void load_tile(const GateTile& tile) {
  each_vector(tile, [&](unsigned token, unsigned e) {
    uint4 streams[kGateStreams] = {};
    if (tile.has_token(token) && e < tile.part.size) update(tile, token, e, streams);
#pragma unroll
    for (unsigned i = 0; i < kGateStreams; ++i)
      if (i < tile.num_streams) store_vector(tile.stream(token, i) + e, streams[i]);
  });
  __syncthreads();
}

/// Sends the squares of each stream over this rank's part to all ranks.
__device__ void send_squares(const GateTile& tile) {
  const unsigned streams = tile.layout.num_tokens * tile.num_streams;
  for (unsigned item = threadIdx.x / kWarpSize; item < streams; item += kTileWarps) {
    const unsigned token = item / tile.num_streams;
    const unsigned index = item % tile.num_streams;
    float sum = 0;
    for (unsigned e = lane_id() * 8; e < tile.part.size; e += kWarpSize * 8) {
      float x[8];
      load_elements(tile.stream(token, index) + e, x);
#pragma unroll
      for (unsigned k = 0; k < 8; ++k) sum = fmaf(x[k], x[k], sum);
    }
    sum = warp_sum(sum);
    if (lane_id() < tile.num_ranks)
      store_to_rank(tile.squares(tile.rank, token, index), lane_id(), sum);
  }
}

/// Xn in the place of X. One of the ranks stores a token's 1 / rms.
__device__ void normalise_tile(const GateTile& tile) {
  float* factors = tile.floats(tile.layout.factors);
  const unsigned streams = tile.layout.num_tokens * tile.num_streams;
  for (unsigned item = threadIdx.x; item < streams; item += kTileThreads) {
    const unsigned token = item / tile.num_streams;
    float sum = 0;
    for (unsigned rank = 0; rank < tile.num_ranks; ++rank)
      sum += *tile.squares(rank, token, item % tile.num_streams);
    factors[item] = rsqrtf(sum / static_cast<float>(tile.op.hidden_size) + tile.op.eps);
    if (tile.has_token(token) && token % tile.num_ranks == tile.rank)
      tile.op.inverse_rms[tile.first_token * tile.num_streams + item] = factors[item];
  }
  __syncthreads();
  each_vector(tile, [&](unsigned token, unsigned e) {
    if (!tile.has_token(token) || e >= tile.part.size) return;
#pragma unroll
    for (unsigned i = 0; i < kGateStreams; ++i) {
      if (i >= tile.num_streams) break;
      const uint4 gain = load_vector(tile.op.gain + i * tile.op.hidden_size + tile.part.begin + e);
      Bf16* stream = tile.stream(token, i) + e;
      store_vector(stream,
                   gate_normed(load_vector(stream), gain, factors[token * tile.num_streams + i]));
    }
  });
  __syncthreads();
}

/// The rows of a warp's tiles of 16, at one step of this rank's part.
struct WarpRows {
  const Bf16* upper[kGateWarpTiles];
  const Bf16* lower[kGateWarpTiles];

  __device__ explicit WarpRows(const GateTile& tile) {
#pragma unroll
    for (unsigned i = 0; i < kGateWarpTiles; ++i) {
      const unsigned row = (threadIdx.x / kWarpSize + i * kTileWarps) * 16 + lane_group();
      upper[i] = gate_row(tile.op, row);
      lower[i] = gate_row(tile.op, row + 8);
    }
  }
  __device__ void load(std::size_t at, bool inside, RowPair (&pairs)[kGateWarpTiles]) const {
#pragma unroll
    for (unsigned i = 0; i < kGateWarpTiles; ++i) {
      pairs[i] = {};
      if (inside && upper[i] != nullptr) pairs[i].upper = load_vector(upper[i] + at);
      if (inside && lower[i] != nullptr) pairs[i].lower = load_vector(lower[i] + at);
    }
  }
};

using GateSums = float[kGateWarpTiles][kGateTiles][4];

/// Products of the warp's rows with the tile's columns, over this rank's part.
__device__ void multiply_tile(const GateTile& tile, GateSums& sums) {
  const WarpRows rows(tile);
  const unsigned num_tiles = tile.layout.num_columns / kTileColumns;
  for (unsigned stream = 0; stream < tile.num_streams; ++stream)
    for (unsigned k = 0; k < tile.layout.padded_size; k += kProjectionStep) {
      const unsigned e = k + lane_quarter() * 8;
      RowPair pairs[kGateWarpTiles];
      rows.load(stream * tile.op.hidden_size + tile.part.begin + e, e < tile.part.size, pairs);
#pragma unroll
      for (unsigned t = 0; t < kGateTiles; ++t) {
        if (t >= num_tiles) break;
        const uint4 column = load_vector(tile.stream(t * kTileColumns + lane_group(), stream) + e);
#pragma unroll
        for (unsigned i = 0; i < kGateWarpTiles; ++i) pairs[i].multiply(column, sums[i][t]);
      }
    }
}

/// Sends the sums to the ranks that own the rows: (ranks, rows, columns) there.
__device__ void send_sums(const GateTile& tile, unsigned num_rows, const GateSums& sums) {
  const unsigned owned = tile.layout.owned_rows;
  float* received = tile.floats(0) + tile.rank * owned * tile.layout.num_columns;
#pragma unroll
  for (unsigned i = 0; i < kGateWarpTiles; ++i)
#pragma unroll
    for (unsigned t = 0; t < kGateTiles; ++t)
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned row =
            (threadIdx.x / kWarpSize + i * kTileWarps) * 16 + j / 2 * 8 + lane_group();
        const unsigned column = t * kTileColumns + 2 * lane_quarter() + j % 2;
        if (row < num_rows && column < tile.layout.num_columns)
          store_to_rank(received + row % owned * tile.layout.num_columns + column, row / owned,
                        sums[i][t][j]);
      }
}

/// Adds up the sums of the rows that this rank owns, in the order of the ranks.
__device__ void store_rows(const GateTile& tile, unsigned num_rows) {
  const unsigned owned = tile.layout.owned_rows;
  const unsigned columns = tile.layout.num_columns;
  for (unsigned item = threadIdx.x; item < owned * tile.layout.num_tokens; item += kTileThreads) {
    const unsigned token = item / owned;
    const unsigned row = tile.rank * owned + item % owned;
    if (row >= num_rows || !tile.has_token(token)) continue;
    float sum = 0;
    for (unsigned rank = 0; rank < tile.num_ranks; ++rank)
      sum += tile.floats(0)[(rank * owned + item % owned) * columns + token];
    store_gate_row(tile.op, tile.token(token), row, sum);
  }
}

__global__ void __launch_bounds__(kTileThreads, 1)
    gate_tile_kernel(const __grid_constant__ GatedApplyDown<Bf16> op,
                     const __grid_constant__ GateTileLayout layout, unsigned num_rows) {
  cluster_arrive_relaxed();
  const GateTile tile(op, layout);
  wait_for_previous_kernel();
  let_next_kernel_start();
  load_tile(tile);
  cluster_wait();
  send_squares(tile);
  cluster_arrive();
  cluster_wait();
  normalise_tile(tile);
  GateSums sums = {};
  multiply_tile(tile, sums);
  // The columns have been read by all: sums take their place.
  cluster_arrive();
  cluster_wait();
  send_sums(tile, num_rows, sums);
  cluster_arrive();
  cluster_wait();
  store_rows(tile, num_rows);
}

}  // namespace

void launch_gate_tile(const GatedApplyDown<Bf16>& op, const TilePlan& plan,
                      const LaunchOptions& options) {
  const std::size_t num_rows = gate_rows(op);
  launch(gate_tile_kernel,
         {.grid = grid_of(plan.num_ctas(op.num_tokens)),
          .cta = kTileThreads,
          .cluster_size = plan.cluster_size,
          .shared_bytes = plan.shared_bytes},
         options, op, GateTileLayout(plan, op.num_streams, num_rows),
         static_cast<unsigned>(num_rows));
}

}  // namespace depthcost::cuda
