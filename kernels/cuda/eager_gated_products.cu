// The products of Gated Residual in eager mode: unfused_gate_down, unfused_gate_up.
//   tile    bf16 on tensor cores: a warp has sixteen rows of the matrix, which come from L2, and
//           meets the tokens of a tile, which the CTA puts into shared memory piece by piece
//   scalar  a warp for each product, element by element: any shape, and storage in float
#include "kernels/cuda/eager_gated_variants.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/primitives/held_rows.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kRowsOfCta = kProductWarps * 16;
constexpr unsigned kTokenTiles = kProductTokens / kTileColumns;
constexpr unsigned kPieceSteps = kProductPiece / kProjectionStep;
constexpr unsigned kPieceVectors = kProductPiece / 8;
/// A vector more than a piece, so that lanes that read several tokens meet different banks.
constexpr unsigned kPieceRow = kProductPiece + 8;
constexpr unsigned kLoads = kProductTokens * kPieceVectors / kProductThreads;
/// The same of the products, which take the place of the tokens at the end.
template <class Out>
constexpr unsigned kProductRow = kRowsOfCta + 16 / sizeof(Out);

/// products[t][row] = scale sum_k columns[t][k] rows[row][k].
template <class T, class In, class Out>
struct ColumnProduct {
  std::size_t num_tokens = 0;
  std::size_t num_rows = 0;
  std::size_t size = 0;
  const In* columns = nullptr;  // (T, size)
  const T* rows = nullptr;      // (rows, size)
  float scale = 1;
  Out* products = nullptr;  // (T, rows)
};

/// Eight elements as bf16. Floats need no alignment.
__device__ uint4 load_eight(const Bf16* from) { return load_vector(from); }
__device__ uint4 load_eight(const float* from) {
  float x[8];
#pragma unroll
  for (unsigned e = 0; e < 8; ++e) x[e] = from[e];
  return pack<Bf16>(x);
}

/// The rows and tokens of a CTA, and its shared memory.
template <class In, class Out>
struct ProductTile {
  const ColumnProduct<Bf16, In, Out>& op;
  std::size_t first_row;
  std::size_t first_token;
  unsigned num_tokens;

  __device__ explicit ProductTile(const ColumnProduct<Bf16, In, Out>& product) : op(product) {
    const std::size_t num_groups = (op.num_rows + kRowsOfCta - 1) / kRowsOfCta;
    first_row = blockIdx.x % num_groups * kRowsOfCta;
    first_token = blockIdx.x / num_groups * kProductTokens;
    num_tokens =
        static_cast<unsigned>(min(std::size_t{kProductTokens}, op.num_tokens - first_token));
  }

  __device__ static Bf16* piece(unsigned token) {
    return reinterpret_cast<Bf16*>(shared_memory()) + token * kPieceRow;
  }
  __device__ static Out* products(unsigned token) {
    return reinterpret_cast<Out*>(shared_memory()) + token * kProductRow<Out>;
  }

  /// This thread's vectors of the piece that begins with element `begin`; zeros where there is no
  /// token or element.
  __device__ void load_piece(std::size_t begin, uint4 (&vectors)[kLoads]) const {
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      const unsigned item = i * kProductThreads + threadIdx.x;
      const unsigned token = item / kPieceVectors;
      const std::size_t k = begin + item % kPieceVectors * 8;
      vectors[i] = {0, 0, 0, 0};
      if (token < num_tokens && k < op.size)
        vectors[i] = load_eight(op.columns + (first_token + token) * op.size + k);
    }
  }
  __device__ static void store_piece(const uint4 (&vectors)[kLoads]) {
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      const unsigned item = i * kProductThreads + threadIdx.x;
      store_vector(piece(item / kPieceVectors) + item % kPieceVectors * 8, vectors[i]);
    }
  }

  /// The lane's vector of a row at element `k`.
  __device__ uint4 load_row(unsigned row, std::size_t k) const {
    const std::size_t at = first_row + threadIdx.x / kWarpSize * 16 + row;
    if (at >= op.num_rows || k >= op.size) return {0, 0, 0, 0};
    return load_vector(op.rows + at * op.size + k);
  }

  /// Adds the products of the piece in shared memory.
  __device__ void add_piece(std::size_t begin, float (&sums)[kTokenTiles][4]) const {
#pragma unroll
    for (unsigned step = 0; step < kPieceSteps; ++step) {
      const unsigned e = step * kProjectionStep + lane_quarter() * 8;
      const RowPair rows{load_row(lane_group(), begin + e), load_row(lane_group() + 8, begin + e)};
#pragma unroll
      for (unsigned tile = 0; tile < kTokenTiles; ++tile) {
        if (tile * kTileColumns >= num_tokens) break;
        rows.multiply(load_vector(piece(tile * kTileColumns + lane_group()) + e), sums[tile]);
      }
    }
  }

  /// Rounds the sums into shared memory, from where they leave row by row.
  __device__ void store_products(const float (&sums)[kTokenTiles][4]) const {
    const unsigned warp_row = threadIdx.x / kWarpSize * 16 + lane_group();
#pragma unroll
    for (unsigned tile = 0; tile < kTokenTiles; ++tile)
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
        products(tile * kTileColumns + 2 * lane_quarter() + i % 2)[warp_row + i / 2 * 8] =
            rounded_to<Out>(op.scale * sums[tile][i]);
    __syncthreads();
    if (sizeof(Out) == 2 && op.num_rows % 8 == 0)
      write<uint4>();
    else
      write<Out>();
  }

  /// One Access, of some elements, at a time.
  template <class Access>
  __device__ void write() const {
    constexpr unsigned kElements = sizeof(Access) / sizeof(Out);
    constexpr unsigned kItems = kRowsOfCta / kElements;
    for (unsigned i = threadIdx.x; i < num_tokens * kItems; i += kProductThreads) {
      const unsigned token = i / kItems;
      const unsigned at = i % kItems * kElements;
      Out* to = op.products + (first_token + token) * op.num_rows + first_row + at;
      if (first_row + at < op.num_rows)
        *reinterpret_cast<Access*>(to) = *reinterpret_cast<const Access*>(products(token) + at);
    }
  }
};

/// The next piece of the tokens is on its way while a piece meets the rows.
template <class In, class Out>
__global__ void __launch_bounds__(kProductThreads)
    gate_product_kernel(const __grid_constant__ ColumnProduct<Bf16, In, Out> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const ProductTile<In, Out> tile(op);
  uint4 next[kLoads];
  float sums[kTokenTiles][4] = {};
  tile.load_piece(0, next);
  for (std::size_t begin = 0; begin < op.size; begin += kProductPiece) {
    tile.store_piece(next);
    __syncthreads();
    tile.load_piece(begin + kProductPiece, next);
    tile.add_piece(begin, sums);
    __syncthreads();
  }
  tile.store_products(sums);
}

template <class T, class In, class Out>
__global__ void __launch_bounds__(kScalarThreads)
    scalar_product_kernel(const __grid_constant__ ColumnProduct<T, In, Out> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t product = std::size_t{blockIdx.x} * kScalarWarps + threadIdx.x / kWarpSize;
  if (product >= op.num_tokens * op.num_rows) return;
  const In* column = op.columns + product / op.num_rows * op.size;
  const T* row = op.rows + product % op.num_rows * op.size;
  float sum = 0;
  for (std::size_t k = lane_id(); k < op.size; k += kWarpSize)
    sum = fmaf(to_float(row[k]), to_float(column[k]), sum);
  sum = warp_sum(sum);
  if (lane_id() == 0) op.products[product] = rounded_to<Out>(op.scale * sum);
}

template <class T, class In, class Out>
void launch_product(const ColumnProduct<T, In, Out>& op, const LaunchOptions& options) {
  if (op.num_tokens == 0) return;
  if constexpr (sizeof(T) == 2) {
    if (vectors_per_row<T>(op.size) > 0) {
      const std::size_t num_ctas =
          ceil_div(op.num_rows, kRowsOfCta) * ceil_div(op.num_tokens, kProductTokens);
      constexpr std::size_t kBytes = std::max(kProductTokens * kPieceRow * sizeof(Bf16),
                                              kProductTokens * kProductRow<Out> * sizeof(Out));
      return launch(gate_product_kernel<In, Out>,
                    {.grid = grid_of(num_ctas), .cta = kProductThreads, .shared_bytes = kBytes},
                    options, op);
    }
  }
  launch(
      scalar_product_kernel<T, In, Out>,
      {.grid = grid_of(ceil_div(op.num_tokens * op.num_rows, kScalarWarps)), .cta = kScalarThreads},
      options, op);
}

}  // namespace

template <class T>
void run(const UnfusedGateDown<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_product(ColumnProduct<T, T, float>{.num_tokens = op.num_tokens,
                                            .num_rows = op.num_outputs,
                                            .size = op.num_streams * op.hidden_size,
                                            .columns = op.input,
                                            .rows = op.weights,
                                            .scale = 1.0F / static_cast<float>(op.num_streams),
                                            .products = op.output},
                 options);
}

template <class T>
void run(const UnfusedGateUp<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_product(ColumnProduct<T, float, T>{.num_tokens = op.num_tokens,
                                            .num_rows = op.num_streams * op.hidden_size,
                                            .size = op.rank,
                                            .columns = op.activation,
                                            .rows = op.up,
                                            .products = op.output},
                 options);
}

template void run(const UnfusedGateDown<float>&, const LaunchOptions&);
template void run(const UnfusedGateDown<Bf16>&, const LaunchOptions&);
template void run(const UnfusedGateUp<float>&, const LaunchOptions&);
template void run(const UnfusedGateUp<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
