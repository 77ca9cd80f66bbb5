// The first pass for few tokens, whose time is that of reading D: every SM reads some of it. The
// streams are updated by a launch in front, during which the weights are on their way already.
#include "kernels/cuda/gated_residual/gated_residual.cuh"
#include "kernels/cuda/primitives/held_rows.cuh"

namespace depthcost::cuda {
namespace {

constexpr unsigned kSplitWarps = kGateSplitThreads / kWarpSize;
constexpr unsigned kSplitTiles = kGateSplitTokens / kTileColumns;
constexpr unsigned kSplitSums = kGateGroupRows * kGateSplitTokens;

/// X_i + lambda_i f and 1 / rms, of one stream of a token.
__global__ void __launch_bounds__(kScalarThreads)
    gate_update_kernel(const __grid_constant__ GatedApplyDown<Bf16> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t stream = blockIdx.x;
  const std::size_t token = stream / op.num_streams;
  const float lambda = op.inject[stream];
  float squares = 0;
  for (std::size_t e = threadIdx.x * 8; e < op.hidden_size; e += kScalarThreads * 8) {
    float x[8];
    float f[8];
    load_elements(op.streams + stream * op.hidden_size + e, x);
    load_elements(op.layer_output + token * op.hidden_size + e, f);
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) x[i] = fmaf(lambda, f[i], x[i]);
    store_elements(op.next_streams + stream * op.hidden_size + e, x);
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) squares = fmaf(x[i], x[i], squares);
  }
  RowThreads threads(reinterpret_cast<float*>(shared_memory()), threadIdx.x / kWarpSize,
                     kScalarWarps, 0, 1);
  const float mean = threads.sum(squares) / static_cast<float>(op.hidden_size);
  if (threadIdx.x == 0) op.inverse_rms[stream] = rsqrtf(mean + op.eps);
}

/// The rows of a cluster, its tokens, and the columns of vec(Xn) that a warp has of them.
struct Share {
  unsigned first_row;
  std::size_t first_token;
  unsigned num_tokens;
  unsigned size;  // n d
  unsigned begin;

  __device__ Share(const GatedApplyDown<Bf16>& op, unsigned num_groups)
      : first_row(cluster_index() % num_groups * kGateGroupRows),
        first_token(std::size_t{cluster_index() / num_groups} * kGateSplitTokens),
        num_tokens(
            static_cast<unsigned>(min(std::size_t{kGateSplitTokens}, op.num_tokens - first_token))),
        size(static_cast<unsigned>(op.num_streams * op.hidden_size)),
        begin((cluster_rank() * kSplitWarps + threadIdx.x / kWarpSize) * kHeldColumns) {}

  __device__ unsigned step() const { return cluster_size() * kSplitWarps * kHeldColumns; }
};

__device__ void load_rows(const GatedApplyDown<Bf16>& op, const Share& share, unsigned begin,
                          HeldRows& rows) {
  const Bf16* upper = gate_row(op, share.first_row + lane_group());
  const Bf16* lower = gate_row(op, share.first_row + lane_group() + 8);
  const bool inside = begin < share.size;
  rows.load(upper != nullptr && inside ? upper + begin : nullptr,
            lower != nullptr && inside ? lower + begin : nullptr, inside ? share.size - begin : 0);
}

/// Adds the products of the held columns, `begin` and on, with all tokens.
__device__ void add_products(const GatedApplyDown<Bf16>& op, const Share& share, unsigned begin,
                             const HeldRows& rows, float (&sums)[kSplitTiles][4]) {
  const auto d = static_cast<unsigned>(op.hidden_size);
#pragma unroll
  for (unsigned step = 0; step < kHeldSteps; ++step) {
    const unsigned k = begin + step * kProjectionStep + lane_quarter() * 8;
    const bool inside = k < share.size;
    const unsigned stream = inside ? k / d : 0;
    const uint4 gain = inside ? load_vector(op.gain + k) : uint4{0, 0, 0, 0};
#pragma unroll
    for (unsigned tile = 0; tile < kSplitTiles; ++tile) {
      if (tile * kTileColumns >= share.num_tokens) break;
      const unsigned token = tile * kTileColumns + lane_group();
      uint4 column = {0, 0, 0, 0};
      if (inside && token < share.num_tokens) {
        const std::size_t at = share.first_token + token;
        column = gate_normed(load_vector(op.next_streams + at * share.size + k), gain,
                             op.inverse_rms[at * op.num_streams + stream]);
      }
      rows.steps[step].multiply(column, sums[tile]);
    }
  }
}

/// Sums over the warps of this rank go to the ranks that own the rows.
__device__ void send_sums(const float (&sums)[kSplitTiles][4], float* partial, float* received) {
  const unsigned warp = threadIdx.x / kWarpSize;
#pragma unroll
  for (unsigned tile = 0; tile < kSplitTiles; ++tile)
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane_group() + i / 2 * 8;
      const unsigned token = tile * kTileColumns + 2 * lane_quarter() + i % 2;
      partial[warp * kSplitSums + row * kGateSplitTokens + token] = sums[tile][i];
    }
  __syncthreads();
  const unsigned owned = kSplitSums / cluster_size();
  for (unsigned i = threadIdx.x; i < kSplitSums; i += kGateSplitThreads) {
    float sum = 0;
    for (unsigned w = 0; w < kSplitWarps; ++w) sum += partial[w * kSplitSums + i];
    store_to_rank(received + cluster_rank() * owned + i % owned, i / owned, sum);
  }
}

__global__ void __launch_bounds__(kGateSplitThreads)
    gate_split_rows_kernel(const __grid_constant__ GatedApplyDown<Bf16> op, unsigned num_rows) {
  cluster_arrive_relaxed();
  const Share share(op, (num_rows + kGateGroupRows - 1) / kGateGroupRows);
  HeldRows rows;
  load_rows(op, share, share.begin, rows);
  wait_for_previous_kernel();
  let_next_kernel_start();
  float sums[kSplitTiles][4] = {};
  add_products(op, share, share.begin, rows, sums);
  for (unsigned begin = share.begin + share.step(); begin < share.size; begin += share.step()) {
    load_rows(op, share, begin, rows);
    add_products(op, share, begin, rows, sums);
  }
  float* partial = reinterpret_cast<float*>(shared_memory());
  float* received = partial + kSplitWarps * kSplitSums;
  cluster_wait();
  send_sums(sums, partial, received);
  cluster_arrive();
  cluster_wait();
  const unsigned owned = kSplitSums / cluster_size();
  for (unsigned i = threadIdx.x; i < owned; i += kGateSplitThreads) {
    const unsigned place = cluster_rank() * owned + i;
    const unsigned row = share.first_row + place / kGateSplitTokens;
    const unsigned token = place % kGateSplitTokens;
    float sum = 0;
    for (unsigned rank = 0; rank < cluster_size(); ++rank) sum += received[rank * owned + i];
    if (row < num_rows && token < share.num_tokens)
      store_gate_row(op, share.first_token + token, row, sum);
  }
}

}  // namespace

void launch_gate_split_rows(const GatedApplyDown<Bf16>& op, const LaunchOptions& options) {
  const std::size_t num_rows = gate_rows(op);
  launch(gate_update_kernel,
         {.grid = grid_of(op.num_tokens * op.num_streams),
          .cta = kScalarThreads,
          .shared_bytes = RowThreads::scratch_size(kScalarWarps, 1) * sizeof(float)},
         options, op);
  // The weights that it fetches early were there before the update began.
  LaunchOptions behind_update = options;
  behind_update.overlap = Overlap::programmatic;
  const unsigned num_ranks = device_limits().has_clusters ? kMaxClusterSize : 1;
  const std::size_t clusters =
      ceil_div(num_rows, kGateGroupRows) * ceil_div(op.num_tokens, kGateSplitTokens);
  launch(gate_split_rows_kernel,
         {.grid = grid_of(clusters * num_ranks),
          .cta = kGateSplitThreads,
          .cluster_size = num_ranks,
          .shared_bytes = (kSplitWarps + 1) * kSplitSums * sizeof(float)},
         behind_update, op, static_cast<unsigned>(num_rows));
}

}  // namespace depthcost::cuda
