// attnres_single_pass_backward. A CTA reads the sources of a token from memory once, for their dot
// products with w and u; the mix, its products and the gradients find them in L1 or L2.
#include "kernels/cuda/backward/attnres_gradients.cuh"
#include "kernels/cuda/backward/slice_launch.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

/// Sums over a source's row, with u = g o dx, or dx without a norm; its weight; what it gets.
struct SourceState {
  Score score;
  float gradient;  // u . v
  float mix;       // h . v; of use with a norm alone
  float weight;    // p
  SourceGradient gets;
};
constexpr std::size_t kStateFloats = sizeof(SourceState) / sizeof(float);
constexpr unsigned kScoreSums = 16;  // three of each of kBackwardScored sources
static_assert(3 * kBackwardScored <= kScoreSums);

/// A token's rows.
template <class T>
struct ScannedToken {
  const AttnResSinglePassBackward<T>& op;
  std::size_t index;
  SourceState* sources;  // shared memory

  __device__ unsigned count() const {
    return static_cast<unsigned>(op.num_bank_sources) + (op.partial_sum != nullptr ? 1 : 0);
  }
  __device__ std::size_t place(std::size_t source) const {
    return (source * op.num_tokens + index) * op.hidden_size;
  }
  __device__ const T* row(std::size_t source) const {
    return source < op.num_bank_sources ? op.bank + place(source) : op.partial_sum + place(0);
  }
  __device__ T* to(std::size_t source) const {
    return source < op.num_bank_sources ? op.bank_gradients + place(source)
                                        : op.partial_gradient + place(0);
  }
  __device__ const T* dx() const { return op.output_gradient + place(0); }
};

/// w . v, v . v and u . v of every source.
template <class T, unsigned kSlices, unsigned kElements>
__device__ void take_in(const ScannedToken<T>& token, const RowShare<kSlices, kElements>& share,
                        RowThreads& threads) {
  for (unsigned first = 0; first < token.count(); first += kBackwardScored) {
    float sums[kScoreSums] = {};
    share.each([&](unsigned, std::size_t at) {
      Stored<T, kElements> rows[kBackwardScored];
#pragma unroll
      for (unsigned g = 0; g < kBackwardScored; ++g)
        if (first + g < token.count())
          rows[g] = load_stored<T, kElements>(token.row(first + g) + at);
      float w[kElements];
      float u[kElements];
      load_parameters(token.op.query + at, w);
      load_elements(token.dx() + at, u);
      apply_gain(token.op.norm.gain, at, u);
#pragma unroll
      for (unsigned g = 0; g < kBackwardScored; ++g) {
        if (first + g >= token.count()) break;
        float v[kElements];
        unpack_stored<T, kElements>(rows[g], v);
        sums[3 * g] = dot(w, v, sums[3 * g]);
        sums[3 * g + 1] = dot(v, v, sums[3 * g + 1]);
        sums[3 * g + 2] = dot(u, v, sums[3 * g + 2]);
      }
    });
    const float total = threads.sums(sums);
    const unsigned value = lane_id() / kLanesPerValue<kScoreSums>;
    const std::size_t source = first + value / 3;
    const bool writes = threadIdx.x < kWarpSize && lane_id() % kLanesPerValue<kScoreSums> == 0;
    if (!writes || value >= 3 * kBackwardScored || source >= token.count()) continue;
    SourceState& state = token.sources[source];
    (value % 3 == 0   ? state.score.dot
     : value % 3 == 1 ? state.score.squares
                      : state.gradient) = total;
  }
}

/// p of every source, by the warp that wrote the scores.
template <class T>
__device__ void weigh(const ScannedToken<T>& token) {
  const auto score = [&](std::size_t i) {
    const Score& of = token.sources[i].score;
    return of.dot * of.inverse_rms(token.op.hidden_size, token.op.key_eps);
  };
  float maximum = -INFINITY;
  for (unsigned i = lane_id(); i < token.count(); i += kWarpSize)
    maximum = fmaxf(maximum, score(i));
  maximum = warp_maximum(maximum);
  float sum = 0;
  for (unsigned i = lane_id(); i < token.count(); i += kWarpSize) sum += expf(score(i) - maximum);
  sum = warp_sum(sum);
  for (unsigned i = lane_id(); i < token.count(); i += kWarpSize)
    token.sources[i].weight = expf(score(i) - maximum) / sum;
}

/// h, in registers where a row stays there, else made again wherever it is asked for.
template <class T, unsigned kSlices, unsigned kElements>
struct ScannedMix {
  float values[kSlices][kElements];

  __device__ void make(const ScannedToken<T>& token, const RowShare<kSlices, kElements>& share) {
    share.each([&](unsigned s, std::size_t at) { mix_sources(token, at, values[s]); });
  }
  __device__ void get(const ScannedToken<T>& /*token*/, unsigned s, std::size_t /*at*/,
                      float (&h)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) h[e] = values[s][e];
  }
};
template <class T, unsigned kElements>
struct ScannedMix<T, kInMemory, kElements> {
  __device__ void make(const ScannedToken<T>& /*token*/,
                       const RowShare<kInMemory, kElements>& /*share*/) {}
  __device__ void get(const ScannedToken<T>& token, unsigned /*s*/, std::size_t at,
                      float (&h)[kElements]) const {
    mix_sources(token, at, h);
  }
};

template <class T, unsigned kElements>
__device__ void mix_sources(const ScannedToken<T>& token, std::size_t at, float (&h)[kElements]) {
#pragma unroll
  for (unsigned e = 0; e < kElements; ++e) h[e] = 0;
#pragma unroll 2
  for (unsigned i = 0; i < token.count(); ++i) {
    float v[kElements];
    load_elements(token.row(i) + at, v);
    const float weight = token.sources[i].weight;
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) h[e] = fmaf(weight, v[e], h[e]);
  }
}

/// h . v of every source.
template <class T, unsigned kSlices, unsigned kElements>
__device__ void meet_sources(const ScannedToken<T>& token,
                             const ScannedMix<T, kSlices, kElements>& mix,
                             const RowShare<kSlices, kElements>& share, RowThreads& threads) {
  for (unsigned first = 0; first < token.count(); first += kBackwardMet) {
    float sums[kBackwardMet] = {};
    share.each([&](unsigned s, std::size_t at) {
      float h[kElements];
      mix.get(token, s, at, h);
#pragma unroll
      for (unsigned g = 0; g < kBackwardMet; ++g) {
        if (first + g >= token.count()) break;
        float v[kElements];
        load_elements(token.row(first + g) + at, v);
        sums[g] = dot(h, v, sums[g]);
      }
    });
    const float total = threads.sums(sums);
    const std::size_t source = first + lane_id() / kLanesPerValue<kBackwardMet>;
    const bool writes = threadIdx.x < kWarpSize && lane_id() % kLanesPerValue<kBackwardMet> == 0;
    if (writes && source < token.count()) token.sources[source].mix = total;
  }
}

/// The norm's factors, in every lane: h . h and u . h are sums over sources, h = sum_i p_i v_i.
template <class T>
__device__ NormFactors norm_of_mix(const ScannedToken<T>& token) {
  if (token.op.norm.gain == nullptr) return {};
  float squares = 0;
  float along = 0;
  for (unsigned i = lane_id(); i < token.count(); i += kWarpSize) {
    const SourceState& source = token.sources[i];
    squares = fmaf(source.weight, source.mix, squares);
    along = fmaf(source.weight, source.gradient, along);
  }
  return norm_factors(warp_sum(squares), warp_sum(along), token.op.hidden_size, token.op.norm.eps);
}

/// What every source gets, by one warp: dh . v = gain_scale u . v + row_scale h . v.
template <class T>
__device__ NormFactors settle_gradients(const ScannedToken<T>& token) {
  const NormFactors norm = norm_of_mix(token);
  const auto product = [&](const SourceState& of) {
    const float mix = token.op.norm.gain == nullptr ? 0 : norm.row_scale * of.mix;
    return fmaf(norm.gain_scale, of.gradient, mix);
  };
  float mean = 0;  // dh . h
  for (unsigned i = lane_id(); i < token.count(); i += kWarpSize)
    mean = fmaf(token.sources[i].weight, product(token.sources[i]), mean);
  mean = warp_sum(mean);
  for (unsigned i = lane_id(); i < token.count(); i += kWarpSize) {
    SourceState& source = token.sources[i];
    source.gets = source_gradient(source.score, token.op.hidden_size, token.op.key_eps,
                                  source.weight, product(source) - mean);
  }
  return norm;
}

/// The gradients of the elements at `at` of all sources; their part of dw.
template <class T, unsigned kElements>
__device__ void leave_sources(const ScannedToken<T>& token, std::size_t at,
                              const float (&dh)[kElements], float (&dw)[kElements]) {
  const bool adds = token.op.store == GradientStore::add;
  float w[kElements];
  load_parameters(token.op.query + at, w);
  for (unsigned first = 0; first < token.count(); first += kBackwardLeft) {
    Stored<T, kElements> rows[kBackwardLeft];
    Stored<T, kElements> had[kBackwardLeft] = {};
#pragma unroll
    for (unsigned g = 0; g < kBackwardLeft; ++g) {
      if (first + g >= token.count()) break;
      rows[g] = load_stored<T, kElements>(token.row(first + g) + at);
      if (adds) had[g] = load_stored<T, kElements>(token.to(first + g) + at);
    }
#pragma unroll
    for (unsigned g = 0; g < kBackwardLeft; ++g) {
      if (first + g >= token.count()) break;
      const SourceGradient gets = token.sources[first + g].gets;
      float v[kElements];
      float dv[kElements];
      unpack_stored<T, kElements>(rows[g], v);
      unpack_stored<T, kElements>(had[g], dv);
      add_source_gradient(gets, dh, w, v, dv);
      store_elements(token.to(first + g) + at, dv);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) dw[e] = fmaf(gets.of_query, v[e], dw[e]);
    }
  }
}

template <class T, unsigned kSlices, unsigned kElements>
__device__ void leave_gradients(const ScannedToken<T>& token, const NormFactors& norm,
                                const ScannedMix<T, kSlices, kElements>& mix,
                                const RowShare<kSlices, kElements>& share,
                                ColumnSums<kSlices, kElements>& query_gradient,
                                ColumnSums<kSlices, kElements>& gain_gradient) {
  share.each([&](unsigned s, std::size_t at) {
    float dh[kElements];
    load_elements(token.dx() + at, dh);
    if (token.op.norm.gain != nullptr) {
      float h[kElements];
      float part[kElements];
      mix.get(token, s, at, h);
      make_gain_part(norm, dh, h, part);
      gain_gradient.add(s, at, part);
      apply_gain(token.op.norm.gain, at, dh);
      make_mix_gradient(norm, dh, h, dh);
    }
    float dw[kElements] = {};
    leave_sources(token, at, dh, dw);
    query_gradient.add(s, at, dw);
  });
}

/// Floats of scratch memory of a CTA in front of the states of the sources.
__host__ __device__ constexpr std::size_t scratch_floats(std::size_t num_threads) {
  return RowThreads::scratch_size(num_threads / kWarpSize, kScoreSums);
}

template <class T, unsigned kSlices, unsigned kElements>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    single_pass_backward_kernel(const __grid_constant__ AttnResSinglePassBackward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t d = op.hidden_size;
  const bool has_norm = op.norm.gain != nullptr;
  const RowShare<kSlices, kElements> share{d};
  const std::size_t num_sources = op.num_bank_sources + (op.partial_sum != nullptr ? 1 : 0);
  float* sums = op.slices.sums + blockIdx.x * (has_norm ? 2 : 1) * d;
  RowThreads threads = cta_row_threads(kScoreSums);
  float* const scratch = reinterpret_cast<float*>(shared_memory());
  NormFactors* const shared_norm =
      reinterpret_cast<NormFactors*>(scratch + scratch_floats(blockDim.x));
  ScannedToken<T> token{op, 0, reinterpret_cast<SourceState*>(shared_norm + 1)};
  float* const columns = reinterpret_cast<float*>(token.sources + num_sources);
  ColumnSums<kSlices, kElements> query_gradient(columns, sums, share);
  ColumnSums<kSlices, kElements> gain_gradient(
      columns + ColumnSums<kSlices, kElements>::num_floats(blockDim.x),
      has_norm ? sums + d : nullptr, share);
  const bool is_scalar_warp = threadIdx.x < kWarpSize;
  const TokenSlice tokens = token_slice(op.num_tokens, op.slices.count, blockIdx.x);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    token.index = t;
    __syncthreads();  // all have left the states of the token before
    take_in(token, share, threads);
    __syncwarp();
    if (is_scalar_warp) weigh(token);
    ScannedMix<T, kSlices, kElements> mix;
    if (has_norm) {
      __syncthreads();
      mix.make(token, share);
      meet_sources(token, mix, share, threads);
    }
    __syncwarp();
    if (is_scalar_warp) {
      const NormFactors norm = settle_gradients(token);
      if (threadIdx.x == 0) *shared_norm = norm;
    }
    __syncthreads();
    leave_gradients(token, *shared_norm, mix, share, query_gradient, gain_gradient);
  }
  query_gradient.store(sums, share);
  if (has_norm) gain_gradient.store(sums + d, share);
}

template <class T>
struct SinglePassBackwardKernel {
  template <unsigned kSlices, unsigned kElements>
  static auto of() {
    return single_pass_backward_kernel<T, kSlices, kElements>;
  }
};

}  // namespace

template <class T>
void run(const AttnResSinglePassBackward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const std::size_t d = op.hidden_size;
  const std::size_t num_sources = op.num_bank_sources + (op.partial_sum != nullptr ? 1 : 0);
  const bool aligned = aligned_to_vectors(op.bank, op.partial_sum, op.output_gradient, op.query,
                                          op.norm.gain, op.bank_gradients, op.partial_gradient);
  const std::size_t held =
      backward_plan<T>(aligned ? vectors_per_row<T>(d) : 0).variant == BackwardVariant::registers
          ? 2 * std::size_t{kBackwardThreads} * kBackwardElements
          : 0;
  const std::size_t floats =
      sizeof(NormFactors) / sizeof(float) + num_sources * kStateFloats + held;
  launch_slices<T, SinglePassBackwardKernel<T>>(
      op, aligned, kScoreSums, floats,
      {"attnres_single_pass_backward", "the number of sources", num_sources}, options);
  launch_add_query_slices(op, op.query_gradient, d, options);
}

template void run(const AttnResSinglePassBackward<float>&, const LaunchOptions&);
template void run(const AttnResSinglePassBackward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
