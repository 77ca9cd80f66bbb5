// The launches of mHC in eager mode: unfused_mhc_pre, unfused_mhc_post, unfused_mhc_residual,
// unfused_mhc_merge. The coefficients come from mhc/mhc.cu.
#include "kernels/cuda/primitives/elementwise_add.cuh"
#include "kernels/cuda/primitives/stream_mix.cuh"

namespace depthcost::cuda {

template <class T>
void run(const UnfusedMhcMerge<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_add(op.next_streams, op.mixed, op.spread, op.num_tokens * op.num_streams * op.hidden_size,
             options);
}

template <class T>
void run(const UnfusedMhcPre<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_stream_mix<T>({.num_tokens = op.num_tokens,
                        .size = op.hidden_size,
                        .num_inputs = static_cast<unsigned>(op.num_streams),
                        .num_outputs = 1,
                        .inputs = op.streams,
                        .matrix = op.pre,
                        .outputs = op.output},
                       options);
}

template <class T>
void run(const UnfusedMhcPost<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_stream_mix<T>({.num_tokens = op.num_tokens,
                        .size = op.hidden_size,
                        .num_outputs = static_cast<unsigned>(op.num_streams),
                        .extra = op.layer_output,
                        .column = op.post,
                        .outputs = op.spread},
                       options);
}

template <class T>
void run(const UnfusedMhcResidual<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const auto m = static_cast<unsigned>(op.num_streams);
  launch_stream_mix<T>({.num_tokens = op.num_tokens,
                        .size = op.hidden_size,
                        .num_inputs = m,
                        .num_outputs = m,
                        .inputs = op.streams,
                        .matrix = op.residual,
                        .outputs = op.mixed},
                       options);
}

template void run(const UnfusedMhcMerge<float>&, const LaunchOptions&);
template void run(const UnfusedMhcMerge<Bf16>&, const LaunchOptions&);
template void run(const UnfusedMhcPre<float>&, const LaunchOptions&);
template void run(const UnfusedMhcPre<Bf16>&, const LaunchOptions&);
template void run(const UnfusedMhcPost<float>&, const LaunchOptions&);
template void run(const UnfusedMhcPost<Bf16>&, const LaunchOptions&);
template void run(const UnfusedMhcResidual<float>&, const LaunchOptions&);
template void run(const UnfusedMhcResidual<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
