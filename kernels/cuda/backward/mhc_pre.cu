// mhc_pre_backward.
#include "kernels/cuda/backward/mhc_pre_gradients.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

template <class T, unsigned kElements>
__device__ void leave_streams(const PreTile<T, kElements>& tile, float* gain_sums) {
  RowShare<kInMemory, kElements>{tile.op.hidden_size}.each([&](unsigned, std::size_t at) {
    float du[kPreBackwardTokens][kElements] = {};
    float gain_part[kElements] = {};
    make_mix_gradients(tile, at, du, gain_part);
    add_gain_part(tile, at, gain_part, gain_sums);
    for (std::size_t j = 0; j < tile.op.num_streams; ++j) {
      float dx[kPreBackwardTokens][kElements] = {};
      make_stream_gradients(tile, j, at, du, dx);
#pragma unroll
      for (unsigned i = 0; i < kPreBackwardTokens; ++i)
        if (i < tile.count) store_elements(tile.gradients(i) + j * tile.op.hidden_size + at, dx[i]);
    }
  });
}

template <class T, unsigned kElements>
__global__ void __launch_bounds__(kBackwardStreamedThreads, 1)
    pre_backward_kernel(const __grid_constant__ MhcPreBackward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  pre_backward_slice<kElements>(
      op, [](const PreTile<T, kElements>& tile, float* gain_sums, RowThreads& /*threads*/) {
        leave_streams(tile, gain_sums);
      });
}

template <class T>
struct PreBackwardKernel {
  template <unsigned kElements>
  static auto of() {
    return pre_backward_kernel<T, kElements>;
  }
};

}  // namespace

template <class T>
void run(const MhcPreBackward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const bool aligned = aligned_to_vectors(op.streams, op.output_gradient, op.mapping.phi,
                                          op.norm.gain, op.gradients);
  launch_streamed_slices<T, PreBackwardKernel<T>>(
      op, aligned, kPreTileSums, PreScalars::num_floats(op.num_streams, op.mapping.iterations),
      {"mhc_pre_backward", "the number of streams", op.num_streams}, options);
  launch_phi_product(op, options);
  launch_add_mapping_slices(op, options);
}

template void run(const MhcPreBackward<float>&, const LaunchOptions&);
template void run(const MhcPreBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
