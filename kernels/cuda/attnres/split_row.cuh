// What the kernels have in common that split a row over the CTAs of a cluster.
#pragma once

#include "kernels/cuda/attnres/depth_attention.cuh"

namespace depthcost::cuda {

/// How the sources of a token are shared out: over the CTAs of a cluster, and one group of rows
/// after the other.
struct Shares {
  RowGroups groups;
  unsigned rank_elements = 0;  // of a row, in whole vectors

  Shares(std::size_t num_rows, std::size_t most_rows, std::size_t vectors, unsigned num_ranks,
         unsigned vector_elements)
      : groups(num_rows, most_rows),
        rank_elements(static_cast<unsigned>(ceil_div(vectors, num_ranks)) * vector_elements) {}
};

/// The vectors of this thread. The CTAs of a cluster share the row out, then the threads of a CTA.
template <class T>
__device__ RowPart part_of_row(std::size_t hidden_size, unsigned rank_elements) {
  const unsigned begin = cluster_rank() * rank_elements;
  return {.first = begin + threadIdx.x * kWidth<T>,
          .step = blockDim.x * kWidth<T>,
          .end = min(begin + rank_elements, static_cast<unsigned>(hidden_size))};
}

/// The newest source: b + f, which is stored if that was asked for; b; or zeros.
template <class T, class O, unsigned kSlices>
__device__ void form_newest(const DepthAttention<T, O>& op, std::size_t at, const RowPart& part,
                            const uint4 (&b)[kSlices], const uint4 (&f)[kSlices],
                            float (&newest)[kSlices][kWidth<T>]) {
  unpack_part<T>(b, newest);
  if (op.layer_output == nullptr) return;
  add_part<T>(f, part, op.stored_sum == nullptr ? nullptr : op.stored_sum + at, newest);
}

/// x = mix / sum, normalised if there is a gain.
template <class T, unsigned kSlices>
__device__ void store_next_input(const NextNorm& norm, T* output, const RowPart& part,
                                 OnlineSoftmax<kSlices, kWidth<T>>& softmax,
                                 ClusterRowThreads& threads, std::size_t hidden_size) {
  // The gains come while the sums do: behind them they would be waited for.
  float gain[kSlices][kWidth<T>];
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s)
    if (norm.gain != nullptr && part.has(s)) load_floats(norm.gain + part.at(s), gain[s]);
  float scale = 1 / softmax.sum;
  if (norm.gain != nullptr) scale *= rsqrtf(softmax.mean_square(threads, hidden_size) + norm.eps);
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
    if (!part.has(s)) break;
#pragma unroll
    for (unsigned e = 0; e < kWidth<T>; ++e)
      softmax.mix[s][e] *= norm.gain != nullptr ? scale * gain[s][e] : scale;
    store_elements(output + part.at(s), softmax.mix[s]);
  }
}

}  // namespace depthcost::cuda
