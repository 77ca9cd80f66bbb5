// What mhc_pre, mhc_boundary, single_pass_mhc and unfused_mhc_coefficients have in common; mhc.cu
// chooses a variant.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mhc/mhc_variants.hpp"

namespace depthcost::cuda {

/// mhc_post if there is an f, then the coefficients of the next layer, and x if there is an output.
template <class T>
struct MhcStep {
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;      // m
  const T* streams = nullptr;       // X (T, m, d)
  const T* layer_output = nullptr;  // f (T, d), or null
  const float* post = nullptr;      // H_post (T, m), of the layer that f is the output of
  const float* residual = nullptr;  // H_res (T, m, m)
  T* updated_streams = nullptr;     // (T, m, d), where there is an f
  MhcMapping mapping;
  NextNorm norm;
  const float* pre = nullptr;      // A (T, m) that x is mixed by, or null: H_pre of these streams
  T* output = nullptr;             // x (T, d), or null
  float* next_pre = nullptr;       // H_pre (T, m), or null
  float* next_post = nullptr;      // (T, m)
  float* next_residual = nullptr;  // (T, m, m)

  __host__ __device__ std::size_t num_rows() const {  // of phi
    return num_streams * num_streams + 2 * num_streams;
  }
};

/// H_pre, H_post or the logit of H_res, from row `row` of phi times the normalised streams.
__device__ inline float coefficient(const MhcMapping& mapping, unsigned num_streams, unsigned row,
                                    float z) {
  const unsigned kind = row < num_streams ? 0 : row < 2 * num_streams ? 1 : 2;
  const float value = mapping.scales[kind] * z + mapping.bias[row];
  if (kind == 2) return value;
  return (kind == 0 ? 1.0F : 2.0F) / (1.0F + expf(-value));
}

void launch_mhc_tile(const MhcStep<Bf16>& op, const TilePlan& plan, const LaunchOptions& options);

}  // namespace depthcost::cuda
