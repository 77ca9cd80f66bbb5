// The sources of one token element by element, for any shape.
#pragma once

#include "kernels/cuda/attnres/depth_attention.cuh"

namespace depthcost::cuda {

/// A stored sum is read back by the thread that wrote it, or behind a barrier.
template <class T, class O>
struct TokenSources {
  const DepthAttention<T, O>& op;
  std::size_t token;

  __device__ std::size_t count() const { return op.num_rows + (op.partial_sum != nullptr ? 1 : 0); }
  __device__ std::size_t place(std::size_t e) const { return token * op.hidden_size + e; }

  __device__ void store_sum() const {
    if (op.stored_sum == nullptr) return;
    for (std::size_t e = threadIdx.x; e < op.hidden_size; e += kScalarThreads)
      op.stored_sum[place(e)] =
          rounded_to<T>(to_float(op.partial_sum[place(e)]) + to_float(op.layer_output[place(e)]));
  }
  __device__ float value(std::size_t source, std::size_t e) const {
    if (source < op.num_rows) return to_float(op.row(source, token * op.hidden_size)[e]);
    if (op.stored_sum != nullptr) return to_float(op.stored_sum[place(e)]);
    const float b = to_float(op.partial_sum[place(e)]);
    return op.layer_output == nullptr ? b : b + to_float(op.layer_output[place(e)]);
  }
};

}  // namespace depthcost::cuda
