// scaled_add_rmsnorm, highway_rmsnorm, residual_scaling_rmsnorm.
#include "kernels/cuda/primitives/combine_norm.cuh"

namespace depthcost::cuda {
namespace {

template <class T>
struct ScaledSum {
  using Element = T;
  static constexpr bool kHasVectors = true;
  static constexpr bool kFitsRegisters = true;
  static constexpr int kSlicesAhead = kRowManySlices;
  std::size_t num_tokens, size;
  T* hidden_state;
  const T* layer_output;
  const float* scales;
  bool is_vector;  // a scale for each element
  float hidden_scale;
  NextNorm norm;
  T* output;

  template <unsigned kElements>
  struct Loaded {
    Stored<T, kElements> h, f;
  };
  template <unsigned kElements>
  __device__ void load(std::size_t token, std::size_t at, Loaded<kElements>& loaded) const {
    loaded.h = load_stored<T, kElements>(hidden_state + token * size + at);
    loaded.f = load_stored<T, kElements>(layer_output + token * size + at);
  }
  template <unsigned kElements>
  __device__ void form(std::size_t, std::size_t at, const Loaded<kElements>& loaded,
                       float (&x)[kElements]) const {
    float f[kElements];
    float scale[kElements];
    unpack_stored<T, kElements>(loaded.h, x);
    unpack_stored<T, kElements>(loaded.f, f);
    if (is_vector) load_parameters(scales + at, scale);
    const float one = is_vector ? 0 : scales[0];
#pragma unroll
    for (unsigned i = 0; i < kElements; ++i)
      x[i] = fmaf(is_vector ? scale[i] : one, f[i], hidden_scale * x[i]);
    round_elements<T>(x);
  }
  template <unsigned kElements>
  __device__ void settle(std::size_t token, std::size_t at, const Loaded<kElements>&,
                         float (&x)[kElements]) const {
    store_elements(hidden_state + token * size + at, x);
  }
  template <unsigned kElements>
  __device__ void again(std::size_t token, std::size_t at, float (&x)[kElements]) const {
    load_elements(hidden_state + token * size + at, x);
  }
};

template <class T>
struct GatedSum {
  using Element = T;
  static constexpr bool kHasVectors = true;
  static constexpr bool kFitsRegisters = true;
  static constexpr int kSlicesAhead = kRowManySlices;
  std::size_t num_tokens, size;
  T* hidden_state;
  const T* layer_output;
  const T* gate_logits;
  NextNorm norm;
  T* output;

  template <unsigned kElements>
  struct Loaded {
    Stored<T, kElements> h, f, z;
  };
  template <unsigned kElements>
  __device__ void load(std::size_t token, std::size_t at, Loaded<kElements>& loaded) const {
    loaded.h = load_stored<T, kElements>(hidden_state + token * size + at);
    loaded.f = load_stored<T, kElements>(layer_output + token * size + at);
    loaded.z = load_stored<T, kElements>(gate_logits + token * size + at);
  }
  /// (1 - g) h + g f with g = sigmoid(z). Of g and 1 - g the smaller is formed, e / (1 + e) with
  /// e = exp(-|z|), so that it keeps its digits; the larger is 1 / (1 + e).
  template <unsigned kElements>
  __device__ void form(std::size_t, std::size_t, const Loaded<kElements>& loaded,
                       float (&x)[kElements]) const {
    float f[kElements];
    float z[kElements];
    unpack_stored<T, kElements>(loaded.h, x);
    unpack_stored<T, kElements>(loaded.f, f);
    unpack_stored<T, kElements>(loaded.z, z);
#pragma unroll
    for (unsigned i = 0; i < kElements; ++i) {
      const float e = expf(-fabsf(z[i]));
      const float larger = __fdividef(1.0F, 1 + e);
      const float smaller = e * larger;
      const float gate = z[i] < 0 ? smaller : larger;
      x[i] = fmaf(gate, f[i], (z[i] < 0 ? larger : smaller) * x[i]);
    }
    round_elements<T>(x);
  }
  template <unsigned kElements>
  __device__ void settle(std::size_t token, std::size_t at, const Loaded<kElements>&,
                         float (&x)[kElements]) const {
    store_elements(hidden_state + token * size + at, x);
  }
  template <unsigned kElements>
  __device__ void again(std::size_t token, std::size_t at, float (&x)[kElements]) const {
    load_elements(hidden_state + token * size + at, x);
  }
};

template <class T>
struct ShiftedSum {
  using Element = T;
  static constexpr bool kHasVectors = true;
  static constexpr bool kFitsRegisters = true;
  static constexpr int kSlicesAhead = kRowFewSlices;
  std::size_t num_tokens, size;
  float* hidden_state;
  const T* layer_output;
  const float* hidden_scales;  // null: the stream stays as it is
  const float* hidden_shifts;
  const float* scales;
  const float* shifts;
  NextNorm norm;
  T* output;

  template <unsigned kElements>
  struct Loaded {
    float r[kElements];
    Stored<T, kElements> f;
  };
  template <unsigned kElements>
  __device__ void load(std::size_t token, std::size_t at, Loaded<kElements>& loaded) const {
    load_parameters(hidden_state + token * size + at, loaded.r);
    loaded.f = load_stored<T, kElements>(layer_output + token * size + at);
  }
  /// x += (v + shift) o scale.
  template <unsigned kElements>
  __device__ static void add_scaled(const float (&v)[kElements], const float* shift_of,
                                    const float* scale_of, float (&x)[kElements]) {
    float shift[kElements];
    float scale[kElements];
    load_parameters(shift_of, shift);
    load_parameters(scale_of, scale);
#pragma unroll
    for (unsigned i = 0; i < kElements; ++i) x[i] = fmaf(v[i] + shift[i], scale[i], x[i]);
  }
  template <unsigned kElements>
  __device__ void form(std::size_t, std::size_t at, const Loaded<kElements>& loaded,
                       float (&x)[kElements]) const {
    const bool scales_stream = hidden_scales != nullptr;
#pragma unroll
    for (unsigned i = 0; i < kElements; ++i) x[i] = scales_stream ? 0 : loaded.r[i];
    if (scales_stream) add_scaled(loaded.r, hidden_shifts + at, hidden_scales + at, x);
    float f[kElements];
    unpack_stored<T, kElements>(loaded.f, f);
    add_scaled(f, shifts + at, scales + at, x);
  }
  template <unsigned kElements>
  __device__ void settle(std::size_t token, std::size_t at, const Loaded<kElements>&,
                         float (&x)[kElements]) const {
    store_parameters(hidden_state + token * size + at, x);
  }
  template <unsigned kElements>
  __device__ void again(std::size_t token, std::size_t at, float (&x)[kElements]) const {
    load_parameters(hidden_state + token * size + at, x);
  }
};

}  // namespace

template <class T>
void run(const ScaledAddRmsNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  const bool is_vector = op.num_scales > 1;
  launch_combined(ScaledSum<T>{.num_tokens = op.num_tokens,
                               .size = op.hidden_size,
                               .hidden_state = op.hidden_state,
                               .layer_output = op.layer_output,
                               .scales = op.scales,
                               .is_vector = is_vector,
                               .hidden_scale = op.hidden_scale,
                               .norm = op.norm,
                               .output = op.output},
                  aligned_to_vectors(op.hidden_state, op.layer_output,
                                     is_vector ? op.scales : nullptr, op.norm.gain, op.output),
                  options);
}

template <class T>
void run(const HighwayRmsNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_combined(
      GatedSum<T>{.num_tokens = op.num_tokens,
                  .size = op.hidden_size,
                  .hidden_state = op.hidden_state,
                  .layer_output = op.layer_output,
                  .gate_logits = op.gate_logits,
                  .norm = op.norm,
                  .output = op.output},
      aligned_to_vectors(op.hidden_state, op.layer_output, op.gate_logits, op.norm.gain, op.output),
      options);
}

template <class T>
void run(const ResidualScalingRmsNorm<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  launch_combined(
      ShiftedSum<T>{.num_tokens = op.num_tokens,
                    .size = op.hidden_size,
                    .hidden_state = op.hidden_state,
                    .layer_output = op.layer_output,
                    .hidden_scales = op.hidden_scales,
                    .hidden_shifts = op.hidden_shifts,
                    .scales = op.scales,
                    .shifts = op.shifts,
                    .norm = op.norm,
                    .output = op.output},
      aligned_to_vectors(op.hidden_state, op.layer_output, op.hidden_scales, op.hidden_shifts,
                         op.scales, op.shifts, op.norm.gain, op.output),
      options);
}

template void run(const ScaledAddRmsNorm<float>&, const LaunchOptions&);
template void run(const ScaledAddRmsNorm<Bf16>&, const LaunchOptions&);
template void run(const HighwayRmsNorm<float>&, const LaunchOptions&);
template void run(const HighwayRmsNorm<Bf16>&, const LaunchOptions&);
template void run(const ResidualScalingRmsNorm<float>&, const LaunchOptions&);
template void run(const ResidualScalingRmsNorm<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
