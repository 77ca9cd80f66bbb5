// The scalar side of the backward pass of attention over depth: from scores and gradients of a mix
// to what each source and the query get. kernels/operations/backward/attnres.hpp has the equations.
#pragma once

#include "kernels/cuda/backward/row_share.cuh"

namespace depthcost::cuda {

/// dv = of_mix dh + of_query w + of_source v; dw gets of_query v.
struct SourceGradient {
  float of_mix = 0;
  float of_query = 0;
  float of_source = 0;
};

/// w . v and v . v of a source.
struct Score {
  float dot = 0;
  float squares = 0;

  __device__ float inverse_rms(std::size_t size, float eps) const {
    return rsqrtf(squares / static_cast<float>(size) + eps);
  }
};

/// The gradient of a source with weight p, from dh . v - dh . h.
__device__ inline SourceGradient source_gradient(const Score& score, std::size_t size, float eps,
                                                 float weight, float beyond_mean) {
  const float inverse = score.inverse_rms(size, eps);
  const float of_score = weight * beyond_mean;
  const float s = score.dot * inverse;
  return {weight, of_score * inverse, -of_score * s * inverse * inverse / static_cast<float>(size)};
}

__device__ inline float warp_maximum(float value) {
#pragma unroll
  for (unsigned offset = kWarpSize / 2; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(kFullMask, value, offset));
  return value;
}

/// dh = gain_scale u + row_scale h.
template <unsigned kElements>
__device__ void make_mix_gradient(const NormFactors& norm, const float (&u)[kElements],
                                  const float (&h)[kElements], float (&dh)[kElements]) {
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e)
    dh[e] = fmaf(norm.row_scale, h[e], norm.gain_scale * u[e]);
}

/// A part of the gain's gradient, gain_scale (dx o h).
template <unsigned kElements>
__device__ void make_gain_part(const NormFactors& norm, const float (&dx)[kElements],
                               const float (&h)[kElements], float (&part)[kElements]) {
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) part[e] = norm.gain_scale * dx[e] * h[e];
}

/// dv += of_mix dh + of_query w + of_source v.
template <unsigned kElements>
__device__ void add_source_gradient(const SourceGradient& of, const float (&dh)[kElements],
                                    const float (&w)[kElements], const float (&v)[kElements],
                                    float (&dv)[kElements]) {
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) {
    dv[e] = fmaf(of.of_mix, dh[e], dv[e]);
    dv[e] = fmaf(of.of_query, w[e], dv[e]);
    dv[e] = fmaf(of.of_source, v[e], dv[e]);
  }
}

}  // namespace depthcost::cuda
