// mhc_post.
#include "kernels/cuda/primitives/stream_mix.cuh"

namespace depthcost::cuda {

template <class T>
void run(const MhcPost<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const auto m = static_cast<unsigned>(op.num_streams);
  launch_stream_mix<T>({.num_tokens = op.num_tokens,
                        .size = op.hidden_size,
                        .num_inputs = m,
                        .num_outputs = m,
                        .inputs = op.streams,
                        .extra = op.layer_output,
                        .matrix = op.residual,
                        .column = op.post,
                        .outputs = op.next_streams},
                       options);
}

template void run(const MhcPost<float>&, const LaunchOptions&);
template void run(const MhcPost<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
