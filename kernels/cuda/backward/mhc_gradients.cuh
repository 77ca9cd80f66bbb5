// From gradients of mHC's coefficients to those of z = phi . n: the scalar side of
// mhc_pre_backward, a warp for each token. kernels/operations/backward/mhc.hpp has the equations.
#pragma once

#include "kernels/cuda/backward/attnres_gradients.cuh"
#include "kernels/cuda/mhc/sinkhorn.cuh"
#include "kernels/operations/backward/mhc.hpp"

namespace depthcost::cuda {

/// The scalars of a tile's tokens, in shared memory.
class PreScalars {
 public:
  static constexpr unsigned kTokens = kPreBackwardTokens;

  __host__ __device__ static std::size_t num_floats(std::size_t num_streams,
                                                    std::size_t iterations) {
    const std::size_t token = 3 * num_mapping_rows(num_streams) + 3 * num_streams +
                              (2 * iterations + 1) * num_streams * num_streams + 5;
    return kTokens * token;
  }

  __device__ PreScalars(float* memory, std::size_t num_streams, std::size_t iterations)
      : memory_(memory),
        m_(num_streams),
        rows_(num_mapping_rows(num_streams)),
        states_((2 * iterations + 1) * num_streams * num_streams) {}

  __device__ std::size_t num_streams() const { return m_; }
  __device__ std::size_t num_rows() const { return rows_; }
  __device__ float* squares() const { return memory_; }                 // X . X
  __device__ float* of_stream() const { return memory_ + kTokens; }     // -(dz . z) / (m d R^2)
  __device__ float* inverses() const { return memory_ + 2 * kTokens; }  // 1 / R
  __device__ NormFactors* norms() const {
    return reinterpret_cast<NormFactors*>(memory_ + 3 * kTokens);
  }
  __device__ float* z(unsigned i) const { return of_token(i); }                  // phi . X, then z
  __device__ float* gradients(unsigned i) const { return of_token(i) + rows_; }  // of the logits
  __device__ float* dz(unsigned i) const { return of_token(i) + 2 * rows_; }     // over R
  __device__ float* pre(unsigned i) const { return of_token(i) + 3 * rows_; }    // H_pre
  __device__ float* with_mix(unsigned i) const { return pre(i) + m_; }           // u . X_j
  __device__ float* with_gradient(unsigned i) const { return pre(i) + 2 * m_; }  // (g o dx) . X_j
  __device__ float* sinkhorn_states(unsigned i) const { return pre(i) + 3 * m_; }

 private:
  float* memory_;
  std::size_t m_;
  std::size_t rows_;
  std::size_t states_;

  __device__ float* of_token(unsigned i) const {
    return memory_ + 5 * kTokens + i * (3 * rows_ + 3 * m_ + states_);
  }
};

/// z of token i from phi . X, and H_pre.
template <class T>
__device__ void map_logits(const MhcPreBackward<T>& op, const PreScalars& scalars, unsigned i) {
  const float inverse = rsqrtf(
      scalars.squares()[i] / static_cast<float>(op.num_streams * op.hidden_size) + op.mapping.eps);
  for (std::size_t r = lane_id(); r < scalars.num_rows(); r += kWarpSize) {
    const float z = scalars.z(i)[r] * inverse;
    scalars.z(i)[r] = z;
    if (r < op.num_streams)
      scalars.pre(i)[r] = 1.0F / (1.0F + expf(-(op.mapping.scales[0] * z + op.mapping.bias[r])));
  }
  if (lane_id() == 0) scalars.inverses()[i] = inverse;
}

/// y = x / sum(x) of every line: dx = (dy - dy . y) / sum(x).
__device__ inline void normalise_backward_shared(const float* before, const float* behind,
                                                 unsigned m, Lines lines, float* gradient) {
  const unsigned step = lines == Lines::rows ? 1 : m;
  for (unsigned line = lane_id(); line < m; line += kWarpSize) {
    const unsigned first = line * (lines == Lines::rows ? m : 1);
    float sum = 0;
    float along = 0;
    for (unsigned k = 0; k < m; ++k) {
      sum += before[first + k * step];
      along = fmaf(gradient[first + k * step], behind[first + k * step], along);
    }
    for (unsigned k = 0; k < m; ++k) {
      float& element = gradient[first + k * step];
      element = (element - along) / sum;
    }
  }
  __syncwarp();
}

__device__ inline void copy_matrix(const float* from, unsigned m, float* to) {
  for (unsigned k = lane_id(); k < m * m; k += kWarpSize) to[k] = from[k];
  __syncwarp();
}

/// Sinkhorn on logits, and back: the gradient of H_res becomes that of its logits. `states` has
/// room for 2 iterations + 1 matrices, the first of which is the logits.
__device__ inline void sinkhorn_backward(unsigned m, std::size_t iterations, SinkhornOrder order,
                                         float* states, float* gradient) {
  const bool columns_first = order == SinkhornOrder::col_row;
  const Lines first = columns_first ? Lines::columns : Lines::rows;
  const Lines second = columns_first ? Lines::rows : Lines::columns;
  const std::size_t num_halves = 2 * iterations - 1;
  float* const log_normed = states;
  const auto state = [&](std::size_t half) { return states + (half + 1) * m * m; };
  normalise_logits_shared(log_normed, m, first);
  copy_matrix(log_normed, m, state(0));
  exponentiate_shared(state(0), m, second);
  for (std::size_t half = 0; half < num_halves; ++half) {
    copy_matrix(state(half), m, state(half + 1));
    normalise_shared(state(half + 1), m, half % 2 == 1 ? first : second);
  }
  for (std::size_t half = num_halves; half-- > 0;)
    normalise_backward_shared(state(half), state(half + 1), m, half % 2 == 1 ? first : second,
                              gradient);
  const unsigned step = first == Lines::rows ? 1 : m;
  for (unsigned line = lane_id(); line < m; line += kWarpSize) {
    const unsigned begin = line * (first == Lines::rows ? m : 1);
    float sum = 0;
    for (unsigned k = 0; k < m; ++k) {
      const unsigned at = begin + k * step;
      gradient[at] *= state(0)[at];
      sum += gradient[at];
    }
    for (unsigned k = 0; k < m; ++k) {
      const unsigned at = begin + k * step;
      gradient[at] -= expf(log_normed[at]) * sum;
    }
  }
  __syncwarp();
}

/// The norm of u, from sums over streams, in every lane.
template <class T>
__device__ NormFactors norm_of_mixed(const MhcPreBackward<T>& op, const PreScalars& scalars,
                                     unsigned i) {
  if (op.norm.gain == nullptr) return {};
  float squares = 0;
  float along = 0;
  for (std::size_t j = lane_id(); j < op.num_streams; j += kWarpSize) {
    squares = fmaf(scalars.pre(i)[j], scalars.with_mix(i)[j], squares);
    along = fmaf(scalars.pre(i)[j], scalars.with_gradient(i)[j], along);
  }
  return norm_factors(warp_sum(squares), warp_sum(along), op.hidden_size, op.norm.eps);
}

/// The gradients of the logits of token i, which is `token` of the call; dz / R.
template <class T>
__device__ void map_gradients(const MhcPreBackward<T>& op, const PreScalars& scalars, unsigned i,
                              std::size_t token) {
  const std::size_t m = op.num_streams;
  const NormFactors norm = norm_of_mixed(op, scalars, i);
  const auto logit = [&](std::size_t r) {
    return op.mapping.scales[r < m ? 0 : r < 2 * m ? 1 : 2] * scalars.z(i)[r] + op.mapping.bias[r];
  };
  float* const gradients = scalars.gradients(i);
  for (std::size_t r = lane_id(); r < 2 * m; r += kWarpSize) {
    const float gate = 1.0F / (1.0F + expf(-logit(r)));
    const float of_gate = r < m ? fmaf(norm.gain_scale, scalars.with_gradient(i)[r],
                                       norm.row_scale * scalars.with_mix(i)[r])
                                : 2 * op.post_gradients[token * m + r - m];
    gradients[r] = of_gate * gate * (1 - gate);
  }
  for (std::size_t k = lane_id(); k < m * m; k += kWarpSize) {
    scalars.sinkhorn_states(i)[k] = logit(2 * m + k);
    gradients[2 * m + k] = op.residual_gradients[token * m * m + k];
  }
  __syncwarp();
  sinkhorn_backward(static_cast<unsigned>(m), op.mapping.iterations, op.mapping.order,
                    scalars.sinkhorn_states(i), gradients + 2 * m);
  const float inverse = scalars.inverses()[i];
  float along = 0;  // dz . z
  for (std::size_t r = lane_id(); r < scalars.num_rows(); r += kWarpSize) {
    const float dz = gradients[r] * op.mapping.scales[r < m ? 0 : r < 2 * m ? 1 : 2];
    along = fmaf(dz, scalars.z(i)[r], along);
    scalars.dz(i)[r] = dz * inverse;
    op.projection_gradients[token * scalars.num_rows() + r] = dz * inverse;
  }
  along = warp_sum(along);
  if (lane_id() > 0) return;
  scalars.norms()[i] = norm;
  scalars.of_stream()[i] = -along * inverse * inverse / static_cast<float>(m * op.hidden_size);
}

/// Adds what the tile's tokens give to bias and to the three scales behind it, in order.
__device__ inline void add_scalar_gradients(const PreScalars& scalars, unsigned num_tokens,
                                            float* of_bias) {
  const std::size_t rows = scalars.num_rows();
  const std::size_t m = scalars.num_streams();
  for (std::size_t r = threadIdx.x; r < rows; r += blockDim.x)
    for (unsigned i = 0; i < num_tokens; ++i) of_bias[r] += scalars.gradients(i)[r];
  if (threadIdx.x >= 3) return;
  const std::size_t begin = threadIdx.x * m;
  const std::size_t end = threadIdx.x < 2 ? begin + m : rows;
  for (unsigned i = 0; i < num_tokens; ++i)
    for (std::size_t r = begin; r < end; ++r)
      of_bias[rows + threadIdx.x] += scalars.gradients(i)[r] * scalars.z(i)[r];
}

}  // namespace depthcost::cuda
