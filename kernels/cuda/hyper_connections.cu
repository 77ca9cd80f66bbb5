// hc_boundary: the updated streams are stored, and the row that they are mixed into is normalised.
#include <stdexcept>
#include <string>

#include "kernels/cuda/primitives/combine_norm.cuh"

namespace depthcost::cuda {
namespace {

/// Up to kMaxStreams streams, all of which are in registers before the first is written.
template <class T, unsigned kMaxStreams>
struct StreamUpdate {
  using Element = T;
  static constexpr bool kHasVectors = kMaxStreams <= kHcVectorStreams;
  static constexpr bool kFitsRegisters = kMaxStreams <= kHcFewStreams;
  static constexpr int kSlicesAhead = 1;
  std::size_t num_tokens, size;
  unsigned num_streams;
  const T* streams;
  const T* layer_output;
  const float* residual;
  const float* post;
  const float* pre;
  T* next_streams;
  NextNorm norm;
  T* output;

  template <unsigned kElements>
  struct Loaded {
    Stored<T, kElements> in[kMaxStreams];
    Stored<T, kElements> f;
  };
  template <unsigned kElements>
  __device__ void load(std::size_t token, std::size_t at, Loaded<kElements>& loaded) const {
#pragma unroll
    for (unsigned j = 0; j < kMaxStreams; ++j)
      if (j < num_streams) loaded.in[j] = load_stored<T, kElements>(streams + stream(token, j, at));
    loaded.f = load_stored<T, kElements>(layer_output + token * size + at);
  }

  __device__ std::size_t stream(std::size_t token, unsigned i, std::size_t at) const {
    return (token * num_streams + i) * size + at;
  }
  template <unsigned kElements>
  __device__ void form(std::size_t token, std::size_t at, const Loaded<kElements>& loaded,
                       float (&x)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[e] = 0;
#pragma unroll 1  // all at a time, registers run out
    for (unsigned i = 0; i < num_streams; ++i) {
      float out[kElements];
      unpack_stored<T, kElements>(loaded.f, out);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) out[e] *= post[i];
#pragma unroll
      for (unsigned j = 0; j < kMaxStreams; ++j) {
        if (j >= num_streams) break;
        float row[kElements];
        unpack_stored<T, kElements>(loaded.in[j], row);
        const float weight = residual[j * num_streams + i];
#pragma unroll
        for (unsigned e = 0; e < kElements; ++e) out[e] = fmaf(weight, row[e], out[e]);
      }
      store_elements(next_streams + stream(token, i, at), out);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) x[e] = fmaf(pre[i], out[e], x[e]);
    }
  }
  template <unsigned kElements>
  __device__ void settle(std::size_t, std::size_t, const Loaded<kElements>&,
                         float (&)[kElements]) const {}
  template <unsigned kElements>
  __device__ void again(std::size_t token, std::size_t at, float (&x)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[e] = 0;
    for (unsigned i = 0; i < num_streams; ++i) {
      float out[kElements];
      load_elements(next_streams + stream(token, i, at), out);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) x[e] = fmaf(pre[i], out[e], x[e]);
    }
  }
};

template <unsigned kMaxStreams, class T>
void launch_streams(const HcBoundary<T>& op, const LaunchOptions& options) {
  launch_combined(
      StreamUpdate<T, kMaxStreams>{.num_tokens = op.num_tokens,
                                   .size = op.hidden_size,
                                   .num_streams = static_cast<unsigned>(op.num_streams),
                                   .streams = op.streams,
                                   .layer_output = op.layer_output,
                                   .residual = op.residual,
                                   .post = op.post,
                                   .pre = op.pre,
                                   .next_streams = op.next_streams,
                                   .norm = op.norm,
                                   .output = op.output},
      aligned_to_vectors(op.streams, op.layer_output, op.next_streams, op.norm.gain, op.output),
      options);
}

}  // namespace

template <class T>
void run(const HcBoundary<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_streams > kHcMostStreams)
    throw std::invalid_argument("hc_boundary: num_streams is " + std::to_string(op.num_streams) +
                                " (must be at most " + std::to_string(kHcMostStreams) +
                                " under CUDA)");
  if (op.num_streams <= kHcFewStreams) return launch_streams<kHcFewStreams>(op, options);
  if (op.num_streams <= kHcVectorStreams) return launch_streams<kHcVectorStreams>(op, options);
  launch_streams<kHcMostStreams>(op, options);
}

template void run(const HcBoundary<float>&, const LaunchOptions&);
template void run(const HcBoundary<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
