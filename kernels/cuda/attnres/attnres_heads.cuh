// The ablations of AttnRes: attention over depth head by head, with keys, weights and queries as
// AttentionVariant says.
#pragma once

#include "kernels/cuda/attnres/depth_attention.cuh"

namespace depthcost::cuda {

template <class T>
struct HeadAttention {
  DepthAttention<T, T> attention;  // without Phase 1's result
  DepthWeighting weighting = DepthWeighting::softmax;
  KeyNorm key_norm = KeyNorm::row;
  std::size_t num_heads = 1;
  const T* token_queries = nullptr;  // w_t (T, d), in place of the query; or null
};

__device__ inline float sigmoid(float logit) { return 1 / (1 + __expf(-logit)); }

// Each variant's launcher; attnres.cu chooses.

template <class T>
void launch_heads_scalar(const HeadAttention<T>& op, const LaunchOptions& options);
template <class T>
void launch_split_heads(const HeadAttention<T>& op, const HeadsPlan& plan,
                        const LaunchOptions& options);

}  // namespace depthcost::cuda
