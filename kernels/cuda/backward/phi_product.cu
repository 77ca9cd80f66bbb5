// dphi of the backward passes of mHC, a product of dz / R and X over a slice's tokens.
#include "kernels/cuda/backward/mhc_pre_gradients.cuh"

namespace depthcost::cuda {
namespace {

/// Some columns of (m d) for a CTA, of one slice's tokens.
struct PhiShare {
  std::size_t width;
  std::size_t num_rows;
  std::size_t column;  // of this thread; every kPhiThreads-th from there
  std::size_t slice;

  __device__ std::size_t at(unsigned c) const { return column + c * kPhiThreads; }
  __device__ bool has(unsigned c) const { return at(c) < width; }
};

/// dz / R of some tokens and rows to shared memory; zero where there is none.
template <class T>
__device__ void load_dz(const MhcPreBackward<T>& op, const PhiShare& share, std::size_t row,
                        TokenSlice tokens, float* dz) {
  for (unsigned k = threadIdx.x; k < kPhiTokens * kPhiRows; k += kPhiThreads) {
    const std::size_t token = tokens.begin + k / kPhiRows;
    const std::size_t r = row + k % kPhiRows;
    const bool is_there = token < tokens.end && r < share.num_rows;
    dz[k] = is_there ? op.projection_gradients[token * share.num_rows + r] : 0;
  }
}

/// sums += dz X of one token.
template <class T>
__device__ void add_token(const MhcPreBackward<T>& op, const PhiShare& share, std::size_t token,
                          const float* dz, float (&sums)[kPhiRows][kPhiColumns]) {
  float x[kPhiColumns];
#pragma unroll
  for (unsigned c = 0; c < kPhiColumns; ++c)
    x[c] = share.has(c) ? to_float(op.streams[token * share.width + share.at(c)]) : 0;
#pragma unroll
  for (unsigned r = 0; r < kPhiRows; ++r)
#pragma unroll
    for (unsigned c = 0; c < kPhiColumns; ++c) sums[r][c] = fmaf(dz[r], x[c], sums[r][c]);
}

/// dphi of a slice, kPhiRows rows at a time.
template <class T>
__global__ void __launch_bounds__(kPhiThreads)
    phi_product_kernel(const __grid_constant__ MhcPreBackward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  float* const dz = reinterpret_cast<float*>(shared_memory());
  const PhiShare share{
      .width = op.num_streams * op.hidden_size,
      .num_rows = num_mapping_rows(op.num_streams),
      .column = blockIdx.x / op.slices.count * kPhiThreads * kPhiColumns + threadIdx.x,
      .slice = blockIdx.x % op.slices.count};
  const TokenSlice tokens = token_slice(op.num_tokens, op.slices.count, share.slice);
  float* const to = op.slices.sums + share.slice * depthcost::num_parameters(op);
  for (std::size_t row = 0; row < share.num_rows; row += kPhiRows) {
    float sums[kPhiRows][kPhiColumns] = {};
    for (std::size_t first = tokens.begin; first < tokens.end; first += kPhiTokens) {
      const std::size_t left = tokens.end - first;
      const std::size_t last = first + (left < kPhiTokens ? left : kPhiTokens);
      __syncthreads();  // all have left the tokens before
      load_dz(op, share, row, {first, last}, dz);
      __syncthreads();
      for (std::size_t t = first; t < last; ++t)
        add_token(op, share, t, dz + (t - first) * kPhiRows, sums);
    }
#pragma unroll
    for (unsigned r = 0; r < kPhiRows; ++r)
#pragma unroll
      for (unsigned c = 0; c < kPhiColumns; ++c)
        if (row + r < share.num_rows && share.has(c))
          to[(row + r) * share.width + share.at(c)] = sums[r][c];
  }
}

}  // namespace

template <class T>
void launch_phi_product(const MhcPreBackward<T>& op, const LaunchOptions& options) {
  const std::size_t width = op.num_streams * op.hidden_size;
  launch(phi_product_kernel<T>,
         {.grid = grid_of(ceil_div(width, kPhiThreads * kPhiColumns) * op.slices.count),
          .cta = kPhiThreads,
          .shared_bytes = kPhiTokens * kPhiRows * sizeof(float)},
         options, op);
}

template void launch_phi_product(const MhcPreBackward<float>&, const LaunchOptions&);
template void launch_phi_product(const MhcPreBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
