// Phase 1 on tensor cores.
//   cluster_tile  a cluster shares out d. Each CTA holds its part of all sources of some tokens, so
//                 that they are read once and the queries come from L2 once per tile: scores by
//                 tensor cores, sums to the rank that owns the token, weights back to all ranks,
//                 mix by tensor cores.
#include "kernels/cuda/attnres/attnres_phase1_tile.cuh"

namespace depthcost::cuda {
namespace {

using namespace phase1;

/// Loads the rows of the bank into their columns, with zeros where there is no source, token or
/// element.
template <class O>
__device__ void load_bank(const Tile<O>& tile) {
  const unsigned vectors = tile.layout.padded_size / kWidth<Bf16>;
  const unsigned count = tile.layout.num_columns * vectors;
  const std::size_t row_size = tile.op.num_tokens * tile.op.hidden_size;
  for (unsigned first = threadIdx.x; first < count; first += kTileThreads * kPhase1LoadsInFlight) {
    uint4 loaded[kPhase1LoadsInFlight];
#pragma unroll
    for (unsigned i = 0; i < kPhase1LoadsInFlight; ++i) {
      const unsigned item = first + i * kTileThreads;
      const unsigned column = item / vectors;
      const unsigned token = column / tile.layout.columns_per_token;
      const unsigned source = column % tile.layout.columns_per_token;
      const unsigned e = item % vectors * kWidth<Bf16>;
      loaded[i] = {0, 0, 0, 0};
      if (item < count && source < tile.op.num_bank_sources && tile.has_token(token) &&
          e < tile.part.size)
        loaded[i] = load_vector(tile.op.bank + source * row_size + tile.at(token) + e);
    }
#pragma unroll
    for (unsigned i = 0; i < kPhase1LoadsInFlight; ++i) {
      const unsigned item = first + i * kTileThreads;
      if (item < count)
        store_vector(tile.column(item / vectors) + item % vectors * kWidth<Bf16>, loaded[i]);
    }
  }
}

/// Writes b + f to the bank and to the column behind the bank's sources. A barrier separates it
/// from load_bank.
template <class O>
__device__ void close_block(const Tile<O>& tile) {
  const unsigned vectors = tile.part.size / kWidth<Bf16>;
  Bf16* row = tile.op.bank + tile.op.bank_row * tile.op.num_tokens * tile.op.hidden_size;
  for (unsigned item = threadIdx.x; item < tile.layout.num_tokens * vectors; item += kTileThreads) {
    const unsigned token = item / vectors;
    const unsigned e = item % vectors * kWidth<Bf16>;
    if (!tile.has_token(token)) break;
    float b[kWidth<Bf16>];
    float f[kWidth<Bf16>];
    load_elements(tile.op.partial_sum + tile.at(token) + e, b);
    load_elements(tile.op.layer_output + tile.at(token) + e, f);
#pragma unroll
    for (unsigned i = 0; i < kWidth<Bf16>; ++i) b[i] += f[i];
    store_elements(row + tile.at(token) + e, b);
    const unsigned column =
        token * tile.layout.columns_per_token + static_cast<unsigned>(tile.op.num_bank_sources);
    store_vector(tile.column(column) + e, pack<Bf16>(b));
  }
}

/// Sends this rank's share of w . v and v . v, summed over the warps, to the ranks that own the
/// tokens.
template <class O>
__device__ void send_products(const Tile<O>& tile, unsigned first_query) {
  const AttnResPhase1<Bf16, O>& op = tile.op;
  const unsigned warp = threadIdx.x / kWarpSize;
  const unsigned num_tiles = tile.layout.num_columns / kTileColumns;
  const unsigned num_queries = static_cast<unsigned>(op.num_queries) - first_query;
  Projection<Phase1Layout::kMaxTiles> projection;
  for (unsigned k = warp * kProjectionStep; k < tile.layout.padded_size;
       k += kTileWarps * kProjectionStep) {
    const unsigned e = k + lane_quarter() * 8;
    SplitRows rows;
    rows.load(op.queries + first_query * op.hidden_size + tile.part.begin + e, op.hidden_size,
              num_queries, e < tile.part.size);
    projection.add(rows, reinterpret_cast<const std::byte*>(tile.column(0) + e),
                   tile.layout.column_bytes, num_tiles);
  }
  const unsigned count = tile.layout.num_columns * kValuesPerColumn;
  float* partial = tile.floats(tile.layout.partial);
  projection.store(partial + warp * count, num_tiles);
  __syncthreads();
  const unsigned token_values = tile.layout.columns_per_token * kValuesPerColumn;
  float* received =
      tile.floats(tile.layout.received) + tile.rank * tile.layout.owned_columns * kValuesPerColumn;
  for (unsigned i = threadIdx.x; i < count; i += kTileThreads) {
    float sum = 0;
    for (unsigned w = 0; w < kTileWarps; ++w) sum += partial[w * count + i];
    const unsigned token = i / token_values;
    store_to_rank(received + token / tile.num_ranks * token_values + i % token_values,
                  token % tile.num_ranks, sum);
  }
}

/// Adds up the sums of all ranks, in the place of the first rank's.
template <class O>
__device__ void add_received(const Tile<O>& tile) {
  const unsigned count = tile.layout.owned_columns * kValuesPerColumn;
  float* received = tile.floats(tile.layout.received);
  for (unsigned i = threadIdx.x; i < count; i += kTileThreads) {
    float sum = 0;
    for (unsigned rank = 0; rank < tile.num_ranks; ++rank) sum += received[rank * count + i];
    received[i] = sum;
  }
}

/// Softmax of one token and query, from `columns`, the sums of the token. Sends the weights e^{s -
/// m} to all ranks, those of query 1 divided by l, and stores (m, l) of the other queries. Scores
/// and then weights take the place of the products, which nobody else reads.
template <class O>
__device__ void send_weights(const Tile<O>& tile, unsigned token, unsigned query,
                             unsigned first_query, float* columns) {
  const AttnResPhase1<Bf16, O>& op = tile.op;
  const auto sources = static_cast<unsigned>(num_sources(op));
  const auto value = [&](unsigned source) -> float& {
    return columns[source * kValuesPerColumn + query];
  };
  float maximum = -INFINITY;
  for (unsigned i = 0; i < sources; ++i) {
    const float square = columns[i * kValuesPerColumn + kTileRows];
    value(i) *= rsqrtf(square / static_cast<float>(op.hidden_size) + op.key_eps);
    maximum = fmaxf(maximum, value(i));
  }
  float sum = 0;
  for (unsigned i = 0; i < sources; ++i) {
    value(i) = expf(value(i) - maximum);
    sum += value(i);
  }
  const std::size_t index = first_query + query;
  const float scale = index == 0 ? 1 / sum : 1;
  float* weights = tile.floats(tile.layout.weights) +
                   token * tile.layout.columns_per_token * Phase1Layout::kWeightRow + query;
  for (unsigned i = 0; i < tile.layout.columns_per_token; ++i) {
    const float weight = i < sources ? value(i) * scale : 0;
    for (unsigned rank = 0; rank < tile.num_ranks; ++rank)
      store_to_rank(weights + i * Phase1Layout::kWeightRow, rank, weight);
  }
  if (index == 0 || index >= op.num_queries || !tile.has_token(token)) return;
  const std::size_t at = (index - 1) * op.num_tokens + tile.token(token);
  op.maxima[at] = maximum;
  op.sums[at] = sum;
}

template <class O>
__device__ void send_weights_of_owned(const Tile<O>& tile, unsigned first_query) {
  add_received(tile);
  __syncthreads();
  for (unsigned i = threadIdx.x;; i += kTileThreads) {
    const unsigned owned = i / kTileRows;
    const unsigned token = owned * tile.num_ranks + tile.rank;
    if (token >= tile.layout.num_tokens) break;
    send_weights(tile, token, i % kTileRows, first_query,
                 tile.floats(tile.layout.received) +
                     owned * tile.layout.columns_per_token * kValuesPerColumn);
  }
}

/// Weights of eight sources as first operands: their high halves, then their low ones. Of a lane's
/// quarter q they are sources q and q + 4, which only has to agree with the second operands.
__device__ inline void load_weights(const float* weights, std::uint32_t (&a)[2][4]) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    const float* of_row =
        weights + lane_quarter() * Phase1Layout::kWeightRow + lane_group() + 8 * i;
    split_pair(of_row[0], of_row[4 * Phase1Layout::kWeightRow], a[i / 2][i % 2],
               a[i / 2][i % 2 + 2]);
  }
}

/// Where in a chunk the eight elements of result column `column` begin: four lanes then store 64
/// consecutive bytes.
__device__ inline unsigned place_in_chunk(unsigned column) {
  return (column / 2 + column % 2 * 4) * 8;
}

/// mix[j] = 32 queries by 8 columns, of which column c stands for element j behind
/// place_in_chunk(c). `columns` are the token's.
template <class O>
__device__ void mix_chunk(const Tile<O>& tile, unsigned token, unsigned chunk,
                          float (&mix)[8][2][4]) {
  const unsigned e = chunk * kPhase1Chunk + place_in_chunk(lane_group());
  const unsigned first = token * tile.layout.columns_per_token;
  for (unsigned group = 0; group < tile.layout.columns_per_token; group += kTileColumns) {
    std::uint32_t a[2][4];
    load_weights(tile.floats(tile.layout.weights) + (first + group) * Phase1Layout::kWeightRow, a);
    uint4 lower = {0, 0, 0, 0};
    uint4 upper = {0, 0, 0, 0};
    if (e < tile.part.size) {
      const unsigned column = first + group + lane_quarter();
      lower = load_vector(tile.column(column) + e);
      upper = load_vector(tile.column(column + 4) + e);
    }
    const std::uint32_t low_words[4] = {lower.x, lower.y, lower.z, lower.w};
    const std::uint32_t high_words[4] = {upper.x, upper.y, upper.z, upper.w};
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
      const std::uint32_t b =
          permuted_bytes(low_words[j / 2], high_words[j / 2], j % 2 == 0 ? 0x5410 : 0x7632);
      mma_bf16(mix[j][0], a[0], b, b);
      mma_bf16(mix[j][1], a[1], b, b);
    }
  }
}

/// Stores eight elements of a row of O.
template <class O>
__device__ void store_eight(O* to, const float (&x)[8]) {
#pragma unroll
  for (unsigned first = 0; first < 8; first += kWidth<O>) {
    float part[kWidth<O>];
#pragma unroll
    for (unsigned e = 0; e < kWidth<O>; ++e) part[e] = x[first + e];
    store_elements(to + first, part);
  }
}

/// Stores the outputs of queries 2..S, and keeps the mix of query 1 in shared memory.
template <class O>
__device__ void store_chunk(const Tile<O>& tile, unsigned token, unsigned chunk,
                            unsigned first_query, const float (&mix)[8][2][4]) {
  const AttnResPhase1<Bf16, O>& op = tile.op;
  float* query1 = tile.floats(tile.layout.partial) + token * tile.layout.padded_size;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const std::size_t query = first_query + i / 4 * 16 + i % 4 / 2 * 8 + lane_group();
    const unsigned e = chunk * kPhase1Chunk + place_in_chunk(2 * lane_quarter() + i % 2);
    if (query >= op.num_queries || e >= tile.part.size) continue;
    float x[8];
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) x[j] = mix[j][i / 4][i % 4];
    if (query > 0) {
      store_eight(op.outputs + (query - 1) * op.num_tokens * op.hidden_size + tile.at(token) + e,
                  x);
      continue;
    }
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) query1[e + j] = x[j];
  }
}

template <class O>
__device__ void mix_tile(const Tile<O>& tile, unsigned first_query) {
  const unsigned chunks = (tile.part.size + kPhase1Chunk - 1) / kPhase1Chunk;
  for (unsigned item = threadIdx.x / kWarpSize; item < tile.layout.num_tokens * chunks;
       item += kTileWarps) {
    const unsigned token = item / chunks;
    if (!tile.has_token(token)) break;
    float mix[8][2][4] = {};
    mix_chunk(tile, token, item % chunks, mix);
    store_chunk(tile, token, item % chunks, first_query, mix);
  }
}

/// Stores the next layer's input, from the mix of query 1 in shared memory.
template <class O>
__device__ void store_next_input(const Tile<O>& tile) {
  const AttnResPhase1<Bf16, O>& op = tile.op;
  const bool normalises = op.norm.gain != nullptr;
  float* squares = tile.floats(tile.layout.squares);
  const unsigned warp = threadIdx.x / kWarpSize;
  for (unsigned token = warp; normalises && token < tile.layout.num_tokens; token += kTileWarps) {
    const float* h = tile.floats(tile.layout.partial) + token * tile.layout.padded_size;
    float sum = 0;
    for (unsigned e = lane_id(); e < tile.part.size; e += kWarpSize) sum = fmaf(h[e], h[e], sum);
    sum = warp_sum(sum);
    if (lane_id() < tile.num_ranks)
      store_to_rank(squares + tile.rank * tile.layout.num_tokens + token, lane_id(), sum);
  }
  cluster_arrive();
  cluster_wait();
  for (unsigned token = warp; token < tile.layout.num_tokens; token += kTileWarps) {
    if (!tile.has_token(token)) break;
    float sum = 0;
    for (unsigned rank = 0; normalises && rank < tile.num_ranks; ++rank)
      sum += squares[rank * tile.layout.num_tokens + token];
    const float scale = rsqrtf(sum / static_cast<float>(op.hidden_size) + op.norm.eps);
    const float* h = tile.floats(tile.layout.partial) + token * tile.layout.padded_size;
    for (unsigned e = lane_id() * 8; e < tile.part.size; e += kWarpSize * 8) {
      float x[8];
      float gain[8];
      load_floats(h + e, x);
      if (normalises) load_floats(op.norm.gain + tile.part.begin + e, gain);
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) x[i] *= normalises ? scale * gain[i] : 1;
      store_elements(op.output + tile.at(token) + e, x);
    }
  }
}

template <class O>
__global__ void __launch_bounds__(kTileThreads)
    cluster_tile_kernel(const __grid_constant__ AttnResPhase1<Bf16, O> op,
                        const __grid_constant__ Phase1Layout layout) {
  cluster_arrive();
  wait_for_previous_kernel();
  let_next_kernel_start();
  const Tile<O> tile(op, layout);
  load_bank(tile);
  __syncthreads();
  if (op.layer_output != nullptr) close_block(tile);
  cluster_wait();
  __syncthreads();
  for (unsigned first_query = 0; first_query < op.num_queries; first_query += kTileRows) {
    send_products(tile, first_query);
    cluster_arrive();
    cluster_wait();
    send_weights_of_owned(tile, first_query);
    cluster_arrive();
    cluster_wait();
    mix_tile(tile, first_query);
    __syncthreads();
    if (first_query == 0) store_next_input(tile);
    __syncthreads();
  }
}

}  // namespace

template <class O>
void launch_phase1_tile(const AttnResPhase1<Bf16, O>& op, const TilePlan& plan,
                        const LaunchOptions& options) {
  launch(cluster_tile_kernel<O>,
         {.grid = grid_of(plan.num_ctas(op.num_tokens)),
          .cta = kTileThreads,
          .cluster_size = plan.cluster_size,
          .shared_bytes = plan.shared_bytes},
         options, op, Phase1Layout(plan, num_sources(op)));
}

template void launch_phase1_tile(const AttnResPhase1<Bf16, Bf16>&, const TilePlan&,
                                 const LaunchOptions&);
template void launch_phase1_tile(const AttnResPhase1<Bf16, float>&, const TilePlan&,
                                 const LaunchOptions&);

}  // namespace depthcost::cuda
