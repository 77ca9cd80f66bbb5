// residual_add, residual_add_rmsnorm.
#include "kernels/cuda/primitives/elementwise_add.cuh"
#include "kernels/cuda/primitives/row_norm.cuh"

namespace depthcost::cuda {

template <class T>
void run(const ResidualAdd<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_add(op.hidden_state, const_cast<const T*>(op.hidden_state), op.layer_output,
             op.num_tokens * op.hidden_size, options);
}

template <class T>
void run(const ResidualAddRmsNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_row_norm<T>({.num_rows = op.num_tokens,
                      .size = op.hidden_size,
                      .input = op.hidden_state,
                      .addend = op.layer_output,
                      .sum = op.hidden_state,
                      .gain = op.norm.gain,
                      .eps = op.norm.eps,
                      .output = op.output},
                     options);
}

template void run(const ResidualAdd<float>&, const LaunchOptions&);
template void run(const ResidualAdd<Bf16>&, const LaunchOptions&);
template void run(const ResidualAddRmsNorm<float>&, const LaunchOptions&);
template void run(const ResidualAddRmsNorm<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
