// mhc_boundary_backward: mhc_pre_backward's tiles of a slice's tokens, whose dX' goes on to
// mhc_post_backward through shared memory, where every thread has columns of its own.
//   vectors  up to four streams: products of all tokens of a tile are added up beside the mix
//   scalar   any number of streams and any size, element by element; products first, then the mix,
//            for which dX' is made once more
#include "kernels/cuda/backward/mhc_post_gradients.cuh"
#include "kernels/cuda/backward/mhc_pre_gradients.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

static_assert(kPostProducts <= kPreTileSums, "both kinds of sums share scratch memory");

/// Columns of products that are added up at once, for any number of streams.
constexpr unsigned kBoundaryMet = 4;

/// This thread's elements of dX', of every token and stream of a tile.
template <unsigned kElements>
class StagedGradients {
 public:
  __host__ __device__ static std::size_t num_floats(std::size_t num_streams,
                                                    std::size_t num_threads) {
    return kPreBackwardTokens * num_streams * kElements * num_threads;
  }

  __device__ StagedGradients(float* memory, std::size_t num_streams)
      : column_(memory + threadIdx.x), m_(num_streams) {}

  __device__ void put(unsigned i, std::size_t j, const float (&dx)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) at(i, j, e) = dx[e];
  }
  __device__ void get(unsigned i, std::size_t j, float (&dx)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) dx[e] = at(i, j, e);
  }

 private:
  float* column_;
  std::size_t m_;

  __device__ float& at(unsigned i, std::size_t j, unsigned e) const {
    return column_[((i * m_ + j) * kElements + e) * blockDim.x];
  }
};

/// The place of shared memory behind what pre_backward_slice uses.
template <class T>
__device__ float* behind_scalars(const MhcPreBackward<T>& op) {
  return reinterpret_cast<float*>(shared_memory()) +
         RowThreads::scratch_size(blockDim.x / kWarpSize, kPreTileSums) +
         PreScalars::num_floats(op.num_streams, op.mapping.iterations);
}

/// Leaves dX' of the elements at `at` in `to`.
template <class T, unsigned kElements>
__device__ void stage_gradients(const PreTile<T, kElements>& tile, std::size_t at,
                                const float (&du)[kPreBackwardTokens][kElements],
                                const StagedGradients<kElements>& to) {
#pragma unroll 1
  for (std::size_t j = 0; j < tile.op.num_streams; ++j) {
    float dx[kPreBackwardTokens][kElements] = {};
    make_stream_gradients(tile, j, at, du, dx);
#pragma unroll
    for (unsigned i = 0; i < kPreBackwardTokens; ++i) to.put(i, j, dx[i]);
  }
}

/// As PostColumns, of a token whose dX' is staged.
template <class T, unsigned kElements>
struct BoundaryColumns {
  const StagedGradients<kElements>& staged;
  unsigned of_tile;
  Stored<T, kElements> streams[kPostStreams], layer_output;

  __device__ BoundaryColumns(const MhcPostBackward<T>& op, std::size_t token, std::size_t at,
                             const StagedGradients<kElements>& from, unsigned i)
      : staged(from), of_tile(i) {
#pragma unroll
    for (unsigned j = 0; j < kPostStreams; ++j) {
      if (j >= op.num_streams) break;
      streams[j] = load_stored<T, kElements>(op.streams +
                                             (token * op.num_streams + j) * op.hidden_size + at);
    }
    layer_output = load_stored<T, kElements>(op.layer_output + token * op.hidden_size + at);
  }
  __device__ void gradient(unsigned i, float (&to)[kElements]) const { staged.get(of_tile, i, to); }
  __device__ void stream(unsigned j, float (&to)[kElements]) const {
    unpack_stored<T, kElements>(streams[j], to);
  }
  __device__ void layer(float (&to)[kElements]) const {
    unpack_stored<T, kElements>(layer_output, to);
  }
};

/// Post of one token's elements at `at`.
template <class T, unsigned kElements>
__device__ void map_columns(const MhcPostBackward<T>& op, std::size_t token, std::size_t at,
                            const BoundaryColumns<T, kElements>& in, const float* coefficients,
                            float (&sums)[kPostProducts]) {
  const auto m = static_cast<unsigned>(op.num_streams);
  add_post_products<kElements>(in, m, sums);
#pragma unroll 1
  for (unsigned j = 0; j < m; ++j)
    mix_post_column<kElements>(in, m, coefficients, j,
                               op.gradients + (token * m + j) * op.hidden_size + at);
  mix_post_column<kElements>(in, m, coefficients, kPostStreams,
                             op.layer_gradient + token * op.hidden_size + at);
}

template <class T>
__global__ void __launch_bounds__(kBoundaryThreads, 2)
    boundary_backward_kernel(const __grid_constant__ MhcPreBackward<T> pre,
                             const __grid_constant__ MhcPostBackward<T> post) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  constexpr unsigned kElements = kBoundaryElements;
  constexpr unsigned kCoefficients = kPostStreams * kPostColumns;
  float* const coefficients = behind_scalars(pre);
  const StagedGradients<kElements> staged(coefficients + kPreBackwardTokens * kCoefficients,
                                          pre.num_streams);
  pre_backward_slice<kElements>(
      pre, [&](const PreTile<T, kElements>& tile, float* gain_sums, RowThreads& threads) {
        for (unsigned i = 0; i < tile.count; ++i)
          load_post_coefficients(post, tile.first + i, coefficients + i * kCoefficients);
        __syncthreads();
        float sums[kPreBackwardTokens][kPostProducts] = {};
        RowShare<kInMemory, kElements>{pre.hidden_size}.each([&](unsigned, std::size_t at) {
          float du[kPreBackwardTokens][kElements] = {};
          float gain_part[kElements] = {};
          make_mix_gradients(tile, at, du, gain_part);
          add_gain_part(tile, at, gain_part, gain_sums);
          stage_gradients(tile, at, du, staged);
#pragma unroll
          for (unsigned i = 0; i < kPreBackwardTokens; ++i) {
            if (i >= tile.count) break;
            const BoundaryColumns<T, kElements> in(post, tile.first + i, at, staged, i);
            map_columns(post, tile.first + i, at, in, coefficients + i * kCoefficients, sums[i]);
          }
        });
#pragma unroll
        for (unsigned i = 0; i < kPreBackwardTokens; ++i) {
          const float product = threads.sums(sums[i]);
          if (i < tile.count) store_post_products(post, tile.first + i, product);
        }
      });
}

/// dX'_i . X_j and dX'_i . f of every token of a tile, kBoundaryMet columns at a time.
template <class T>
__device__ void make_products(const PreTile<T, 1>& tile, const MhcPostBackward<T>& op,
                              std::size_t i, RowThreads& threads) {
  const std::size_t m = op.num_streams;
  const std::size_t d = op.hidden_size;
  constexpr unsigned kSums = kPreBackwardTokens * kBoundaryMet;
  for (std::size_t first = 0; first <= m; first += kBoundaryMet) {
    float sums[kSums] = {};
    RowShare<kInMemory, 1>{d}.each([&](unsigned, std::size_t at) {
      float du[kPreBackwardTokens][1] = {};
      float dx[kPreBackwardTokens][1] = {};
      float unused[1] = {};
      make_mix_gradients(tile, at, du, unused);
      make_stream_gradients(tile, i, at, du, dx);
#pragma unroll
      for (unsigned t = 0; t < kPreBackwardTokens; ++t) {
        if (t >= tile.count) break;
        const std::size_t token = tile.first + t;
#pragma unroll
        for (unsigned k = 0; k < kBoundaryMet; ++k) {
          const std::size_t j = first + k;
          if (j > m) break;
          const T x =
              j < m ? op.streams[(token * m + j) * d + at] : op.layer_output[token * d + at];
          float& sum = sums[t * kBoundaryMet + k];
          sum = fmaf(dx[t][0], to_float(x), sum);
        }
      }
    });
    const float total = threads.sums(sums);
    const unsigned t = lane_id() / kLanesPerValue<kSums> / kBoundaryMet;
    const std::size_t j = first + lane_id() / kLanesPerValue<kSums> % kBoundaryMet;
    const bool writes = threadIdx.x < kWarpSize && lane_id() % kLanesPerValue<kSums> == 0;
    if (writes && t < tile.count && j <= m) store_product(op, tile.first + t, i, j, total);
  }
}

/// dX and df of the elements at `at` of the tile's token `i`.
template <class T>
__device__ void mix_staged(const MhcPostBackward<T>& op, std::size_t token, std::size_t at,
                           const StagedGradients<1>& staged, unsigned i) {
  const std::size_t m = op.num_streams;
  const auto mixed = [&](const float* coefficients, std::size_t stride) {
    float out = 0;
    for (std::size_t k = 0; k < m; ++k) {
      float dx[1];
      staged.get(i, k, dx);
      out = fmaf(coefficients[k * stride], dx[0], out);
    }
    return rounded_to<T>(out);
  };
  for (std::size_t j = 0; j < m; ++j)
    op.gradients[(token * m + j) * op.hidden_size + at] = mixed(op.residual + token * m * m + j, m);
  op.layer_gradient[token * op.hidden_size + at] = mixed(op.post + token * m, 1);
}

template <class T>
__global__ void __launch_bounds__(kBoundaryThreads, 2)
    boundary_backward_wide_kernel(const __grid_constant__ MhcPreBackward<T> pre,
                                  const __grid_constant__ MhcPostBackward<T> post) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const StagedGradients<1> staged(behind_scalars(pre), pre.num_streams);
  pre_backward_slice<1>(pre, [&](const PreTile<T, 1>& tile, float* gain_sums, RowThreads& threads) {
    for (std::size_t i = 0; i < pre.num_streams; ++i) make_products(tile, post, i, threads);
    // Each thread writes dX where it alone has read dX'.
    RowShare<kInMemory, 1>{pre.hidden_size}.each([&](unsigned, std::size_t at) {
      float du[kPreBackwardTokens][1] = {};
      float gain_part[1] = {};
      make_mix_gradients(tile, at, du, gain_part);
      add_gain_part(tile, at, gain_part, gain_sums);
      stage_gradients(tile, at, du, staged);
      for (unsigned i = 0; i < tile.count; ++i) mix_staged(post, tile.first + i, at, staged, i);
    });
  });
}

template <class T>
void launch_boundary_slices(const MhcBoundaryBackward<T>& op, const LaunchOptions& options) {
  const MhcPreBackward<T> pre = pre_backward_of(op);
  const bool aligned = aligned_to_vectors(pre.streams, pre.output_gradient, pre.mapping.phi,
                                          pre.norm.gain, pre.gradients, op.post.streams,
                                          op.post.layer_output, op.post.layer_gradient);
  const std::size_t vectors = aligned ? vectors_per_row<T>(pre.hidden_size) : 0;
  const bool is_wide = vectors == 0 || pre.num_streams > kPostStreams;
  const unsigned threads = boundary_backward_threads(pre.hidden_size, is_wide);
  const std::size_t staged =
      is_wide ? StagedGradients<1>::num_floats(pre.num_streams, threads)
              : std::size_t{kPreBackwardTokens} * kPostStreams * kPostColumns +
                    StagedGradients<kBoundaryElements>::num_floats(pre.num_streams, threads);
  const std::size_t floats = RowThreads::scratch_size(threads / kThreadsPerWarp, kPreTileSums) +
                             PreScalars::num_floats(pre.num_streams, pre.mapping.iterations) +
                             staged;
  launch(is_wide ? boundary_backward_wide_kernel<T> : boundary_backward_kernel<T>,
         {.grid = grid_of(op.slices.count),
          .cta = threads,
          .shared_bytes = floats * sizeof(float),
          .shared_size = {"mhc_boundary_backward", "the number of streams", pre.num_streams}},
         options, pre, op.post);
}

}  // namespace

template <class T>
void run(const MhcBoundaryBackward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.post.num_tokens == 0) return;
  launch_boundary_slices(op, options);
  launch_phi_product(pre_backward_of(op), options);
  launch_add_mapping_slices(pre_backward_of(op), options);
}

template void run(const MhcBoundaryBackward<float>&, const LaunchOptions&);
template void run(const MhcBoundaryBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
