// The second pass on tensor cores.
//   held_rows  a warp has four elements of x. It holds the 4 n rows of U that gate them, and meets
//              one tile of tokens after the other: gates in registers, streams and a in shared
//              memory, x by way of it. No logit leaves the warp.
#include "kernels/cuda/gated_residual/gated_residual.cuh"
#include "kernels/cuda/primitives/held_rows.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kMixTiles = kGateMixTokens / kTileColumns;

/// The shared memory of a CTA. Rows lie a vector apart, so that lanes that read several of them
/// meet different banks.
struct MixLayout {
  unsigned num_elements;    // of x
  unsigned activation_row;  // bytes of a of a token
  unsigned stream_row;      // bytes of the streams of a token
  unsigned streams;
  unsigned factors;  // 1 / rms: (tokens, kGateStreams)
  unsigned output;   // (tokens, num_elements)
  unsigned bytes;

  __host__ __device__ explicit constexpr MixLayout(unsigned num_warps)
      : num_elements(num_warps * kGateMixElements),
        activation_row(kHeldColumns * 2 + 16),
        stream_row(kGateStreams * num_elements * 2 + 16),
        streams(kGateMixTokens * activation_row),
        factors(streams + kGateMixTokens * stream_row),
        output(factors + kGateMixTokens * kGateStreams * 4),
        bytes(output + kGateMixTokens * num_elements * 2) {}
};

struct Mix {
  const GatedUpMix<Bf16>& op;
  MixLayout layout;
  unsigned first_element;
  unsigned num_streams;

  __device__ explicit Mix(const GatedUpMix<Bf16>& operation)
      : op(operation),
        layout(blockDim.x / kWarpSize),
        first_element(blockIdx.x * layout.num_elements),
        num_streams(static_cast<unsigned>(operation.num_streams)) {}

  __device__ Bf16* activation(unsigned token) const {
    return reinterpret_cast<Bf16*>(shared_memory() + token * layout.activation_row);
  }
  __device__ Bf16* stream(unsigned token, unsigned index) const {
    return reinterpret_cast<Bf16*>(shared_memory() + layout.streams + token * layout.stream_row) +
           index * layout.num_elements;
  }
  __device__ float* factors() const {
    return reinterpret_cast<float*>(shared_memory() + layout.factors);
  }
  __device__ Bf16* output(unsigned token) const {
    return reinterpret_cast<Bf16*>(shared_memory() + layout.output) + token * layout.num_elements;
  }
};

/// Which element of x, and of which two streams, the lane has: rows lane_group() and + 8 of the
/// warp's sixteen, stream by stream.
struct LaneRows {
  unsigned element;  // of the CTA's
  unsigned upper = lane_group() / kGateMixElements;
  unsigned lower = upper + kGateStreams / 2;

  __device__ LaneRows()
      : element(threadIdx.x / kWarpSize * kGateMixElements + lane_group() % kGateMixElements) {}

  /// Where the row of a stream begins in a (n, d, ...) matrix; null where there is none.
  __device__ const Bf16* of(const Mix& mix, const Bf16* matrix, unsigned stream,
                            std::size_t size) const {
    const std::size_t e = mix.first_element + element;
    if (stream >= mix.num_streams || e >= mix.op.hidden_size) return nullptr;
    return matrix + (stream * mix.op.hidden_size + e) * size;
  }
};

/// a of the tile's tokens, as bf16, with zeros where there is no token or element.
__device__ void load_activations(const Mix& mix, std::size_t first, unsigned num_tokens) {
  constexpr unsigned kVectors = kHeldColumns / 8;
  const auto rank = static_cast<unsigned>(mix.op.rank);
  for (unsigned item = threadIdx.x; item < kGateMixTokens * kVectors; item += blockDim.x) {
    const unsigned token = item / kVectors;
    const unsigned k = item % kVectors * 8;
    float a[8] = {};
    if (token < num_tokens && k < rank) {
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) a[i] = mix.op.activation[(first + token) * rank + k + i];
    }
    store_vector(mix.activation(token) + k, pack<Bf16>(a));
  }
}

__device__ void load_streams(const Mix& mix, std::size_t first, unsigned num_tokens) {
  const unsigned vectors = mix.layout.num_elements / 8;
  const unsigned rows = kGateMixTokens * kGateStreams;
  for (unsigned item = threadIdx.x; item < rows * vectors; item += blockDim.x) {
    const unsigned token = item / vectors / kGateStreams;
    const unsigned index = item / vectors % kGateStreams;
    const unsigned e = item % vectors * 8;
    uint4 x = {0, 0, 0, 0};
    if (token < num_tokens && index < mix.num_streams && mix.first_element + e < mix.op.hidden_size)
      x = load_vector(mix.op.streams +
                      ((first + token) * mix.num_streams + index) * mix.op.hidden_size +
                      mix.first_element + e);
    store_vector(mix.stream(token, index) + e, x);
  }
  for (unsigned row = threadIdx.x; row < rows; row += blockDim.x) {
    const unsigned token = row / kGateStreams;
    const unsigned index = row % kGateStreams;
    const bool is_there = token < num_tokens && index < mix.num_streams;
    mix.factors()[row] =
        is_there ? mix.op.inverse_rms[(first + token) * mix.num_streams + index] : 0;
  }
}

/// G o Xn of one row and token.
__device__ float gated(const Mix& mix, unsigned token, unsigned stream, unsigned element,
                       float gain, float logit) {
  const float factor = mix.factors()[token * kGateStreams + stream];
  const float x = to_float(mix.stream(token, stream)[element]);
  return gate_sigmoid(logit) * x * fmaf(factor, gain, factor);
}

/// Gates and mixes a tile: x to shared memory.
__device__ void mix_tile(const Mix& mix, const HeldRows& rows, const LaneRows& lane,
                         float upper_gain, float lower_gain) {
  float logits[kMixTiles][4] = {};
#pragma unroll
  for (unsigned step = 0; step < kHeldSteps; ++step)
#pragma unroll
    for (unsigned tile = 0; tile < kMixTiles; ++tile)
      rows.steps[step].multiply(load_vector(mix.activation(tile * kTileColumns + lane_group()) +
                                            step * kProjectionStep + lane_quarter() * 8),
                                logits[tile]);
  const float share = 1.0F / static_cast<float>(mix.num_streams);
#pragma unroll
  for (unsigned tile = 0; tile < kMixTiles; ++tile)
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
      const unsigned token = tile * kTileColumns + 2 * lane_quarter() + j;
      float x = gated(mix, token, lane.upper, lane.element, upper_gain, logits[tile][j]) +
                gated(mix, token, lane.lower, lane.element, lower_gain, logits[tile][2 + j]);
      x += __shfl_xor_sync(kFullMask, x, kWarpSize / 2);
      // One of the two lanes that have the sum.
      if (lane.upper == j) mix.output(token)[lane.element] = rounded_to<Bf16>(share * x);
    }
}

__device__ void store_tile(const Mix& mix, std::size_t first, unsigned num_tokens) {
  const unsigned vectors = mix.layout.num_elements / 8;
  for (unsigned item = threadIdx.x; item < num_tokens * vectors; item += blockDim.x) {
    const unsigned token = item / vectors;
    const unsigned e = item % vectors * 8;
    if (mix.first_element + e < mix.op.hidden_size)
      store_vector(mix.op.output + (first + token) * mix.op.hidden_size + mix.first_element + e,
                   load_vector(mix.output(token) + e));
  }
}

__device__ float gain_of(const Bf16* gain) { return gain == nullptr ? 0 : to_float(*gain); }

__global__ void __launch_bounds__(kGateMixWarps* kWarpSize, 2)
    gate_held_rows_kernel(const __grid_constant__ GatedUpMix<Bf16> op) {
  const Mix mix(op);
  const LaneRows lane;
  const auto rank = static_cast<unsigned>(op.rank);
  HeldRows rows;
  rows.load(lane.of(mix, op.up, lane.upper, rank), lane.of(mix, op.up, lane.lower, rank), rank);
  const float upper_gain = gain_of(lane.of(mix, op.gain, lane.upper, 1));
  const float lower_gain = gain_of(lane.of(mix, op.gain, lane.lower, 1));
  wait_for_previous_kernel();
  let_next_kernel_start();
  for (std::size_t first = blockIdx.y * kGateMixTokens; first < op.num_tokens;
       first += std::size_t{gridDim.y} * kGateMixTokens) {
    const auto num_tokens =
        static_cast<unsigned>(min(std::size_t{kGateMixTokens}, op.num_tokens - first));
    load_activations(mix, first, num_tokens);
    load_streams(mix, first, num_tokens);
    __syncthreads();
    mix_tile(mix, rows, lane, upper_gain, lower_gain);
    __syncthreads();
    store_tile(mix, first, num_tokens);
  }
}

}  // namespace

void launch_gate_held_mix(const GatedUpMix<Bf16>& op, const LaunchOptions& options) {
  const unsigned num_warps = gate_mix_warps(op.num_tokens);
  const MixLayout layout(num_warps);
  const std::size_t columns = ceil_div(op.hidden_size, layout.num_elements);
  const std::size_t wanted = ceil_div(2 * std::size_t{device_limits().num_sms}, columns);
  const std::size_t tiles = ceil_div(op.num_tokens, kGateMixTokens);
  launch(gate_held_rows_kernel,
         {.grid = {static_cast<unsigned>(columns), static_cast<unsigned>(std::min(wanted, tiles))},
          .cta = num_warps * kWarpSize,
          .shared_bytes = layout.bytes},
         options, op);
}

}  // namespace depthcost::cuda
