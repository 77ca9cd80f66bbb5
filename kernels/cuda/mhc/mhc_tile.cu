// The coefficients of mHC on tensor cores, with the streams on chip between their uses.
//   cluster_tile  a cluster shares out d and holds all streams of some tokens: the copy engine
//   reads
//                 them once, all at the same time; they are updated in place, stored, projected by
//                 phi (which comes from L2 once per tile), and mixed into the next layer's input.
#include "kernels/cuda/mhc/mhc.cuh"
#include "kernels/cuda/mhc/sinkhorn.cuh"
#include "kernels/cuda/primitives/projection.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kMaxStreams = MhcLayout::kMaxStreams;

/// A CTA's view of its tile.
struct Tile {
  const MhcStep<Bf16>& op;
  const MhcLayout& layout;
  RankPart part;
  std::size_t first_token;
  unsigned num_streams;
  unsigned rank;
  unsigned num_ranks;
  ClusterExchange exchange;

  __device__ Tile(const MhcStep<Bf16>& step, const MhcLayout& tile_layout)
      : op(step),
        layout(tile_layout),
        part(step.hidden_size, tile_layout.padded_size),
        first_token(std::size_t{cluster_index()} * tile_layout.num_tokens),
        num_streams(static_cast<unsigned>(step.num_streams)),
        rank(cluster_rank()),
        num_ranks(cluster_size()),
        exchange(floats(tile_layout.exchange)) {}

  __device__ float* floats(std::size_t at) const {
    return reinterpret_cast<float*>(shared_memory() + at);
  }
  __device__ Bf16* stream(unsigned token, unsigned index) const {
    return reinterpret_cast<Bf16*>(shared_memory() + token * layout.column_bytes) +
           index * layout.padded_size;
  }
  __device__ float* coefficients(unsigned token) const {
    return floats(layout.coefficients) + token * kMaxStreams * (kMaxStreams + 1);
  }
  /// Counts the bytes of the streams of up to kTileColumns tokens.
  __device__ std::uint64_t* fetched(unsigned token) const {
    return reinterpret_cast<std::uint64_t*>(shared_memory() + layout.fetched) +
           token / kTileColumns;
  }
  __device__ unsigned num_fetches() const {
    return part.size == 0 ? 0 : (count_tokens() + kTileColumns - 1) / kTileColumns;
  }
  __device__ std::size_t token(unsigned index) const { return first_token + index; }
  __device__ bool has_token(unsigned index) const {
    return index < layout.num_tokens && token(index) < op.num_tokens;
  }
  __device__ unsigned count_tokens() const {
    return static_cast<unsigned>(min(std::size_t{layout.num_tokens}, op.num_tokens - first_token));
  }
  /// `value` to where `target` lies in the shared memory of a rank.
  __device__ void push(float* target, unsigned to_rank, float value) const {
    if (num_ranks == 1)
      *target = value;
    else
      exchange.push(target, to_rank, value);
  }
  /// Until every rank has pushed `num_floats`, to all ranks.
  __device__ void receive(unsigned num_floats) {
    if (num_ranks == 1) return __syncthreads();
    if (threadIdx.x == 0) exchange.expect(num_ranks * num_floats);
    exchange.finish();
  }
  /// Element of a (T, m, d) buffer where this rank's part of the stream begins.
  __device__ std::size_t at(unsigned token_index, unsigned index) const {
    return (token(token_index) * num_streams + index) * op.hidden_size + part.begin;
  }
};

/// Brings this rank's share of phi into L2 while the previous kernel still runs. The clusters share
/// out its lines, since all of them need all of it.
__device__ void prefetch_phi(const Tile& tile) {
  constexpr unsigned kLineFloats = 32;
  const unsigned lines = (tile.part.size + kLineFloats - 1) / kLineFloats;
  const unsigned num_clusters = gridDim.x / tile.num_ranks;
  const unsigned rows = static_cast<unsigned>(tile.op.num_rows()) * tile.num_streams;
  const unsigned warp = cluster_index() * kTileWarps + threadIdx.x / kWarpSize;
  for (unsigned row = warp; row < rows; row += num_clusters * kTileWarps)
    for (unsigned line = lane_id(); line < lines; line += kWarpSize)
      prefetch_to_l2(tile.op.mapping.phi + row * tile.op.hidden_size + tile.part.begin +
                     line * kLineFloats);
}

/// Loads H_res and H_post of the layer before, with zeros for streams that are not there.
__device__ void load_coefficients(const Tile& tile) {
  constexpr unsigned kRow = kMaxStreams + 1;
  const unsigned m = tile.num_streams;
  for (unsigned item = threadIdx.x; item < tile.layout.num_tokens * kMaxStreams * kRow;
       item += kTileThreads) {
    const unsigned token = item / (kMaxStreams * kRow);
    const unsigned i = item / kRow % kMaxStreams;
    const unsigned j = item % kRow;
    float value = 0;
    if (tile.has_token(token) && i < m) {
      const std::size_t row = tile.token(token) * m + i;
      if (j < m) value = tile.op.residual[row * m + j];
      if (j == kMaxStreams) value = tile.op.post[row];
    }
    tile.floats(tile.layout.coefficients)[item] = value;
  }
}

/// One thread, once: a barrier for the streams of each group of tokens.
__device__ void start_fetches(const Tile& tile) {
  if (threadIdx.x != 0) return;
  for (unsigned first = 0; first < tile.count_tokens(); first += kTileColumns)
    init_barrier(tile.fetched(first),
                 tile.num_streams * min(kTileColumns, tile.count_tokens() - first));
  fence_barrier_init();
}

/// Lets the copy engine bring all streams to their places: each warp has tokens, each lane a
/// stream.
__device__ void fetch_streams(const Tile& tile) {
  if (tile.part.size == 0 || lane_id() >= tile.num_streams) return;
  const auto bytes = static_cast<std::uint32_t>(tile.part.size * sizeof(Bf16));
  for (unsigned token = threadIdx.x / kWarpSize; token < tile.count_tokens(); token += kTileWarps) {
    arrive_expecting(tile.fetched(token), bytes);
    bulk_copy(tile.stream(token, lane_id()), tile.op.streams + tile.at(token, lane_id()), bytes,
              tile.fetched(token));
  }
}

/// The same by all threads, for devices without a copy engine. A barrier of the CTA must follow.
__device__ void copy_streams(const Tile& tile) {
  const unsigned vectors = tile.part.size / kWidth<Bf16>;
  for (unsigned item = threadIdx.x; item < tile.count_tokens() * vectors; item += kTileThreads) {
    const unsigned token = item / vectors;
    const unsigned e = item % vectors * kWidth<Bf16>;
#pragma unroll
    for (unsigned j = 0; j < kMaxStreams; ++j)
      if (j < tile.num_streams)
        store_vector(tile.stream(token, j) + e,
                     load_vector(tile.op.streams + tile.at(token, j) + e));
  }
}

/// Zeros where a tile has no token or element.
__device__ void clear_absent(const Tile& tile) {
  const unsigned vectors = tile.layout.padded_size / kWidth<Bf16>;
  const unsigned present = tile.part.size / kWidth<Bf16>;
  const unsigned tokens = tile.count_tokens();
  for (unsigned token = 0; token < tile.layout.num_columns; ++token)
    for (unsigned v = threadIdx.x + (token < tokens ? present : 0); v < vectors; v += kTileThreads)
      for (unsigned j = 0; j < tile.num_streams; ++j)
        store_vector(tile.stream(token, j) + v * kWidth<Bf16>, uint4{0, 0, 0, 0});
}

/// X_i = sum_j H_res[i][j] X_j + H_post[i] f, rounded and stored, `e` elements into the rank's
/// part.
__device__ void update_streams(const Tile& tile, unsigned token, unsigned e, const uint4& f) {
  constexpr unsigned kElements = kWidth<Bf16>;
  float x[kMaxStreams + 1][kElements];
#pragma unroll
  for (unsigned j = 0; j < kMaxStreams; ++j) {
    uint4 stream = {0, 0, 0, 0};
    if (j < tile.num_streams) stream = load_vector(tile.stream(token, j) + e);
    unpack<Bf16>(stream, x[j]);
  }
  unpack<Bf16>(f, x[kMaxStreams]);
  const float* coefficients = tile.coefficients(token);
#pragma unroll
  for (unsigned i = 0; i < kMaxStreams; ++i) {
    if (i >= tile.num_streams) break;
    float sum[kElements] = {};
#pragma unroll
    for (unsigned j = 0; j <= kMaxStreams; ++j) {
      const float weight = coefficients[i * (kMaxStreams + 1) + j];
#pragma unroll
      for (unsigned k = 0; k < kElements; ++k) sum[k] = fmaf(weight, x[j][k], sum[k]);
    }
    const uint4 updated = pack<Bf16>(sum);
    store_vector(tile.op.updated_streams + tile.at(token, i) + e, updated);
    store_vector(tile.stream(token, i) + e, updated);
  }
}

/// Updates the tile where it lies. The vectors of f come several at a time, while streams arrive.
__device__ void update_tile(const Tile& tile) {
  constexpr unsigned kAhead = kMhcLayerOutputsInFlight;
  const unsigned vectors = tile.part.size / kWidth<Bf16>;
  const unsigned num_items = tile.count_tokens() * vectors;
  for (unsigned first = threadIdx.x; first < num_items; first += kAhead * kTileThreads) {
    uint4 f[kAhead];
#pragma unroll
    for (unsigned a = 0; a < kAhead; ++a) {
      const unsigned item = first + a * kTileThreads;
      if (item < num_items)
        f[a] = load_vector(tile.op.layer_output + tile.token(item / vectors) * tile.op.hidden_size +
                           tile.part.begin + item % vectors * kWidth<Bf16>);
    }
    // Not unrolled: the text of an update is long.
#pragma unroll 1
    for (unsigned a = 0; a < kAhead; ++a) {
      const unsigned item = first + a * kTileThreads;
      if (item >= num_items) break;
      const unsigned token = item / vectors;
      wait(tile.fetched(token), 0);
      update_streams(tile, token, item % vectors * kWidth<Bf16>, f[0]);
#pragma unroll
      for (unsigned next = 1; next < kAhead; ++next) f[next - 1] = f[next];
    }
  }
}

/// The tile in shared memory, updated if there is an f.
__device__ void load_tile(const Tile& tile) {
  const bool updates = tile.op.layer_output != nullptr;
  if constexpr (kHasBulkCopies)
    fetch_streams(tile);
  else
    copy_streams(tile);
  clear_absent(tile);
  if (updates) {
    load_coefficients(tile);
    __syncthreads();
    update_tile(tile);
  } else {
    for (unsigned i = 0; i < tile.num_fetches(); ++i) wait(tile.fetched(i * kTileColumns), 0);
  }
  __syncthreads();
}

/// Sends this rank's share of phi . vec(X) and of the squares of vec(X), summed over the warps, to
/// all ranks.
__device__ void send_products(const Tile& tile) {
  const unsigned warp = threadIdx.x / kWarpSize;
  const unsigned num_tiles = tile.layout.num_columns / kTileColumns;
  const unsigned steps = tile.layout.padded_size / kProjectionStep;
  const std::size_t row_size = tile.num_streams * tile.op.hidden_size;
  Projection<MhcLayout::kMaxTiles> projection;
#pragma unroll 2
  for (unsigned step = warp; step < tile.num_streams * steps; step += kTileWarps) {
    const unsigned stream = step / steps;
    const unsigned e = step % steps * kProjectionStep + lane_quarter() * 8;
    SplitRows rows;
    rows.load(tile.op.mapping.phi + stream * tile.op.hidden_size + tile.part.begin + e, row_size,
              static_cast<unsigned>(tile.op.num_rows()), e < tile.part.size);
    projection.add(rows, reinterpret_cast<const std::byte*>(tile.stream(0, stream) + e),
                   tile.layout.column_bytes, num_tiles);
  }
  const unsigned count = tile.layout.num_columns * kValuesPerColumn;
  float* partial = tile.floats(tile.layout.partial);
  projection.store(partial + warp * count, num_tiles);
  __syncthreads();
  float* received = tile.floats(tile.layout.received) + tile.rank * count;
  for (unsigned i = threadIdx.x; i < count; i += kTileThreads) {
    float sum = 0;
    for (unsigned w = 0; w < kTileWarps; ++w) sum += partial[w * count + i];
    for (unsigned rank = 0; rank < tile.num_ranks; ++rank) tile.push(received + i, rank, sum);
  }
}

/// Returns to lane `row` the token's coefficient of that row of phi.
__device__ float coefficient_of_lane(const Tile& tile, unsigned token) {
  const unsigned count = tile.layout.num_columns * kValuesPerColumn;
  const float* column = tile.floats(tile.layout.received) + token * kValuesPerColumn;
  const unsigned row = min(lane_id(), static_cast<unsigned>(tile.op.num_rows()) - 1);
  float z = 0;
  float square = 0;
  for (unsigned rank = 0; rank < tile.num_ranks; ++rank) {
    z += column[rank * count + row];
    square += column[rank * count + kTileRows];
  }
  const auto size = static_cast<float>(tile.num_streams * tile.op.hidden_size);
  z *= rsqrtf(square / size + tile.op.mapping.eps);
  return coefficient(tile.op.mapping, tile.num_streams, row, z);
}

/// Every lane runs Sinkhorn on the logits that lanes from 2 m on hold, and stores one element.
template <unsigned kStreams>
__device__ void store_residual(const MhcMapping& mapping, float coefficient_of_row, float* to) {
  constexpr unsigned kElements = kStreams * kStreams;
  float matrix[kElements];
#pragma unroll
  for (unsigned i = 0; i < kElements; ++i)
    matrix[i] = __shfl_sync(kFullMask, coefficient_of_row, 2 * kStreams + i);
  balance_logits<kStreams>(matrix, mapping.iterations, mapping.order);
#pragma unroll
  for (unsigned i = 0; i < kElements; ++i)
    if (lane_id() == i) to[i] = matrix[i];
}

/// values[i] of registers, which have no addresses.
template <unsigned kCount>
__device__ float element(const float (&values)[kCount], unsigned i) {
  float chosen = values[0];
#pragma unroll
  for (unsigned k = 1; k < kCount; ++k)
    if (i == k) chosen = values[k];
  return chosen;
}

__device__ void store_coefficients(const Tile& tile, unsigned token, float value) {
  const unsigned m = tile.num_streams;
  const std::size_t at = tile.token(token) * m;
  // This comes behind the last barrier, since other ranks read until then what it overwrites.
  if (tile.op.next_pre != nullptr && tile.op.pre == nullptr && lane_id() < m)
    tile.op.next_pre[at + lane_id()] = value;
  if (lane_id() >= m && lane_id() < 2 * m) tile.op.next_post[at + lane_id() - m] = value;
  float* residual = tile.op.next_residual + at * m;
  switch (m) {
    case 1:
      return store_residual<1>(tile.op.mapping, value, residual);
    case 2:
      return store_residual<2>(tile.op.mapping, value, residual);
    case 3:
      return store_residual<3>(tile.op.mapping, value, residual);
    default:
      return store_residual<4>(tile.op.mapping, value, residual);
  }
}

/// The coefficient of the mix in lane j < m: H_pre[j], or the A[j] that is given in its place.
__device__ float mixing_coefficient_of_lane(const Tile& tile, unsigned token, float coefficient) {
  if (tile.op.pre == nullptr) return coefficient;
  const unsigned m = tile.num_streams;
  return lane_id() < m ? tile.op.pre[tile.token(token) * m + lane_id()] : 0;
}

/// Stores H_pre, by one of the ranks. Lane j < m holds H_pre[j].
__device__ void store_next_pre(const Tile& tile, unsigned token, float value) {
  const unsigned m = tile.num_streams;
  if (token % tile.num_ranks == tile.rank && lane_id() < m)
    tile.op.next_pre[tile.token(token) * m + lane_id()] = value;
}

/// Eight elements of sum_j H_pre[j] X_j; lane j holds H_pre[j].
__device__ void mix_streams(const Tile& tile, unsigned token, unsigned e,
                            const float (&pre)[kMaxStreams], float (&x)[8]) {
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) x[k] = 0;
#pragma unroll
  for (unsigned j = 0; j < kMaxStreams; ++j) {
    if (j >= tile.num_streams) break;
    float stream[8];
    load_elements(tile.stream(token, j) + e, stream);
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) x[k] = fmaf(pre[j], stream[k], x[k]);
  }
}

/// Sends the squares of the mix over this rank's part to all ranks.
__device__ void send_squares(const Tile& tile, unsigned token, const float (&pre)[kMaxStreams]) {
  float sum = 0;
  for (unsigned e = lane_id() * 8; e < tile.part.size; e += kWarpSize * 8) {
    float x[8];
    mix_streams(tile, token, e, pre, x);
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) sum = fmaf(x[k], x[k], sum);
  }
  sum = warp_sum(sum);
  if (lane_id() < tile.num_ranks)
    tile.push(tile.floats(tile.layout.squares) + tile.rank * tile.layout.num_tokens + token,
              lane_id(), sum);
}

__device__ void store_next_input(const Tile& tile, unsigned token,
                                 const float (&pre)[kMaxStreams]) {
  const bool normalises = tile.op.norm.gain != nullptr;
  float sum = 0;
  for (unsigned rank = 0; rank < tile.num_ranks; ++rank)
    sum += tile.floats(tile.layout.squares)[rank * tile.layout.num_tokens + token];
  const float scale = rsqrtf(sum / static_cast<float>(tile.op.hidden_size) + tile.op.norm.eps);
  Bf16* output = tile.op.output + tile.token(token) * tile.op.hidden_size + tile.part.begin;
  for (unsigned e = lane_id() * 8; e < tile.part.size; e += kWarpSize * 8) {
    float x[8];
    float gain[8];
    mix_streams(tile, token, e, pre, x);
    if (normalises) load_floats(tile.op.norm.gain + tile.part.begin + e, gain);
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) x[k] *= normalises ? scale * gain[k] : 1;
    store_elements(output + e, x);
  }
}

__global__ void __launch_bounds__(kTileThreads, 2)
    cluster_tile_kernel(const __grid_constant__ MhcStep<Bf16> op,
                        const __grid_constant__ MhcLayout layout) {
  constexpr unsigned kTokensPerWarp = MhcLayout::kMaxTokens / kTileWarps;
  Tile tile(op, layout);
  ClusterExchange::start(tile.floats(layout.exchange));
  start_fetches(tile);
  prefetch_phi(tile);
  __syncthreads();
  wait_for_previous_kernel();
  let_next_kernel_start();
  load_tile(tile);
  cluster_wait();
  send_products(tile);
  tile.receive(layout.num_columns * kValuesPerColumn);

  // From here on each warp has tokens of its own.
  const unsigned warp = threadIdx.x / kWarpSize;
  float coefficients[kTokensPerWarp];
  float pre[kTokensPerWarp][kMaxStreams];
#pragma unroll
  for (unsigned i = 0; i < kTokensPerWarp; ++i) {
    const unsigned token = warp + i * kTileWarps;
    if (!tile.has_token(token)) continue;
    coefficients[i] = coefficient_of_lane(tile, token);
    const float mixing = mixing_coefficient_of_lane(tile, token, coefficients[i]);
#pragma unroll
    for (unsigned j = 0; j < kMaxStreams; ++j) pre[i][j] = __shfl_sync(kFullMask, mixing, j);
    if (op.output != nullptr) send_squares(tile, token, pre[i]);
  }
  // One rank runs Sinkhorn for a token while the sums of the others arrive. Not unrolled: its text
  // is long.
#pragma unroll 1
  for (unsigned i = 0; i < kTokensPerWarp; ++i) {
    const unsigned token = warp + i * kTileWarps;
    if (tile.has_token(token) && (warp + i) % tile.num_ranks == tile.rank)
      store_coefficients(tile, token, element(coefficients, i));
  }
  if (op.output == nullptr) return;  // then there is no next_pre to wait for either
  tile.receive(tile.count_tokens());
#pragma unroll
  for (unsigned i = 0; i < kTokensPerWarp; ++i) {
    const unsigned token = warp + i * kTileWarps;
    if (tile.has_token(token)) store_next_input(tile, token, pre[i]);
    if (op.pre != nullptr && tile.has_token(token)) store_next_pre(tile, token, coefficients[i]);
  }
}

}  // namespace

void launch_mhc_tile(const MhcStep<Bf16>& op, const TilePlan& plan, const LaunchOptions& options) {
  launch(cluster_tile_kernel,
         {.grid = grid_of(plan.num_ctas(op.num_tokens)),
          .cta = kTileThreads,
          .cluster_size = plan.cluster_size,
          .shared_bytes = plan.shared_bytes},
         options, op, MhcLayout(plan, op.num_streams));
}

}  // namespace depthcost::cuda
