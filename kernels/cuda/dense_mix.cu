// dense_mix.
#include "kernels/cuda/primitives/combine_norm.cuh"

namespace depthcost::cuda {
namespace {

template <class T>
struct DepthMix {
  using Element = T;
  static constexpr bool kHasVectors = true;
  static constexpr bool kFitsRegisters = true;
  static constexpr int kSlicesAhead = 0;
  std::size_t num_tokens, size;
  std::size_t num_rows;  // n
  const T* bank;
  const T* hidden_state;
  const T* layer_output;
  T* bank_row;  // (T, d), or null
  const float* weights;
  T* mixed;
  NextNorm norm;
  T* output;

  template <unsigned kElements>
  struct Loaded {
    Stored<T, kElements> h, f;
  };
  template <unsigned kElements>
  __device__ void load(std::size_t token, std::size_t at, Loaded<kElements>& loaded) const {
    const std::size_t here = token * size + at;
    loaded.f = load_stored<T, kElements>(layer_output + here);
    if (hidden_state != nullptr) loaded.h = load_stored<T, kElements>(hidden_state + here);
  }
  /// f, or h + f. What is stored as a source is mixed as it is stored.
  template <unsigned kElements>
  __device__ void newest(const Loaded<kElements>& loaded, float (&last)[kElements]) const {
    unpack_stored<T, kElements>(loaded.f, last);
    if (hidden_state == nullptr) return;
    float h[kElements];
    unpack_stored<T, kElements>(loaded.h, h);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) last[e] += h[e];
    if (bank_row != nullptr) round_elements<T>(last);
  }

  template <unsigned kElements>
  __device__ void add_row(const T* row, float weight, float (&x)[kElements]) const {
    float v[kElements];
    load_elements(row, v);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[e] = fmaf(weight, v[e], x[e]);
  }
  template <unsigned kElements>
  __device__ void form(std::size_t token, std::size_t at, const Loaded<kElements>& loaded,
                       float (&x)[kElements]) const {
    const std::size_t here = token * size + at;
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[e] = 0;
#pragma unroll 4
    for (std::size_t j = 0; j < num_rows; ++j)
      add_row(bank + j * num_tokens * size + here, weights[j], x);
    float last[kElements];
    newest(loaded, last);
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) x[e] = fmaf(weights[num_rows], last[e], x[e]);
    if (mixed != nullptr) round_elements<T>(x);
  }
  template <unsigned kElements>
  __device__ void settle(std::size_t token, std::size_t at, const Loaded<kElements>& loaded,
                         float (&x)[kElements]) const {
    if (bank_row != nullptr) {
      float last[kElements];
      newest(loaded, last);
      store_elements(bank_row + token * size + at, last);
    }
    if (mixed != nullptr) store_elements(mixed + token * size + at, x);
  }
  /// Mixes again what has not been stored: its sources have not changed.
  template <unsigned kElements>
  __device__ void again(std::size_t token, std::size_t at, float (&x)[kElements]) const {
    if (mixed != nullptr) return load_elements(mixed + token * size + at, x);
    Loaded<kElements> loaded;
    load(token, at, loaded);
    form(token, at, loaded, x);
  }
};

}  // namespace

template <class T>
void run(const DenseMix<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  T* bank_row =
      op.bank_row == kNoRow ? nullptr : op.bank + op.bank_row * op.num_tokens * op.hidden_size;
  launch_combined(DepthMix<T>{.num_tokens = op.num_tokens,
                              .size = op.hidden_size,
                              .num_rows = op.num_bank_sources,
                              .bank = op.bank,
                              .hidden_state = op.hidden_state,
                              .layer_output = op.layer_output,
                              .bank_row = bank_row,
                              .weights = op.weights,
                              .mixed = op.mixed,
                              .norm = op.norm,
                              .output = op.output},
                  aligned_to_vectors(op.bank, op.hidden_state, op.layer_output, bank_row, op.mixed,
                                     op.norm.gain, op.output),
                  options);
}

template void run(const DenseMix<float>&, const LaunchOptions&);
template void run(const DenseMix<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
