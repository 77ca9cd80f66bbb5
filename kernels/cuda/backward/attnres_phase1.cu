// attnres_phase1_backward. A CTA has a token's bank rows in L1 while all queries of the block meet
// them. Sums of dw are those of S queries, and stay in memory.
#include "kernels/cuda/backward/attnres_gradients.cuh"
#include "kernels/cuda/backward/slice_launch.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

constexpr unsigned kMetGroup = kBackwardMet;  // sources that meet a query together

/// Sums over the rows of a query and a source, with u = g o dx for the first query, else dh; then
/// what the source gets of the query.
struct PairState {
  float query;     // w . v
  float gradient;  // u . v
  SourceGradient gets;
};

/// What a source alone decides.
struct BankState {
  float squares;    // v . v
  float mix;        // h . v, of the first query's mix
  float of_source;  // sum of PairState::gets over all queries
};

/// What a CTA has in shared memory of a token.
struct BlockScalars {
  NormFactors* norm;  // of the first query
  PairState* pairs;   // (S, n)
  BankState* bank;    // (n)

  __host__ __device__ static std::size_t num_floats(std::size_t n, std::size_t S) {
    return (sizeof(NormFactors) + n * S * sizeof(PairState) + n * sizeof(BankState)) /
           sizeof(float);
  }
  __device__ BlockScalars(float* at, std::size_t n, std::size_t S)
      : norm(reinterpret_cast<NormFactors*>(at)),
        pairs(reinterpret_cast<PairState*>(norm + 1)),
        bank(reinterpret_cast<BankState*>(pairs + n * S)) {}
};

template <class T, unsigned kElements>
struct BlockToken {
  using Share = RowShare<kInMemory, kElements>;

  const AttnResPhase1Backward<T>& op;
  const BlockScalars& shared;
  Share share;
  std::size_t index;

  __device__ const T* row(std::size_t source) const {
    return op.bank + (source * op.num_tokens + index) * share.size;
  }
  __device__ T* to(std::size_t source) const {
    return op.bank_gradients + (source * op.num_tokens + index) * share.size;
  }
  __device__ const T* behind_mix(std::size_t query) const {
    return op.mix_gradients + (query * op.num_tokens + index) * share.size;
  }
  __device__ PairState& pair(std::size_t query, std::size_t source) const {
    return shared.pairs[query * op.num_bank_sources + source];
  }
  /// Sources from `first` on.
  __device__ std::size_t count(std::size_t first) const { return op.num_bank_sources - first; }

  /// The first query's mix.
  __device__ void mix(std::size_t at, float (&h)[kElements]) const {
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) h[e] = 0;
    for (std::size_t i = 0; i < op.num_bank_sources; ++i) {
      float v[kElements];
      load_elements(row(i) + at, v);
      const float weight = pair(0, i).gets.of_mix;
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) h[e] = fmaf(weight, v[e], h[e]);
    }
  }
};

/// The sums of a group of sources over all threads; each is given to store(source, sum) by one
/// lane.
template <class Store>
__device__ void settle_group(float (&sums)[kMetGroup], std::size_t count, RowThreads& threads,
                             const Store& store) {
  const float total = threads.sums(sums);
  const std::size_t g = lane_id() / kLanesPerValue<kMetGroup>;
  const bool writes = threadIdx.x < kWarpSize && lane_id() % kLanesPerValue<kMetGroup> == 0;
  if (writes && g < count) store(g, total);
}

/// v . v of every source.
template <class T, unsigned kElements>
__device__ void square_sources(const BlockToken<T, kElements>& token, RowThreads& threads) {
  for (std::size_t first = 0; first < token.op.num_bank_sources; first += kMetGroup) {
    float sums[kMetGroup] = {};
    token.share.each([&](unsigned, std::size_t at) {
#pragma unroll
      for (unsigned g = 0; g < kMetGroup; ++g) {
        if (g >= token.count(first)) break;
        float v[kElements];
        load_elements(token.row(first + g) + at, v);
        sums[g] = dot(v, v, sums[g]);
      }
    });
    settle_group(sums, token.count(first), threads,
                 [&](std::size_t g, float total) { token.shared.bank[first + g].squares = total; });
  }
}

/// w . v and u . v of one query and every source.
template <class T, unsigned kElements>
__device__ void take_in(const BlockToken<T, kElements>& token, std::size_t query,
                        RowThreads& threads) {
  for (std::size_t first = 0; first < token.op.num_bank_sources; first += kMetGroup) {
    float scores[kMetGroup] = {};
    float gradients[kMetGroup] = {};
    token.share.each([&](unsigned, std::size_t at) {
      float w[kElements];
      float u[kElements];
      load_parameters(token.op.queries + query * token.share.size + at, w);
      load_elements(token.behind_mix(query) + at, u);
      if (query == 0) apply_gain(token.op.norm.gain, at, u);
#pragma unroll
      for (unsigned g = 0; g < kMetGroup; ++g) {
        if (g >= token.count(first)) break;
        float v[kElements];
        load_elements(token.row(first + g) + at, v);
        scores[g] = dot(w, v, scores[g]);
        gradients[g] = dot(u, v, gradients[g]);
      }
    });
    settle_group(scores, token.count(first), threads,
                 [&](std::size_t g, float total) { token.pair(query, first + g).query = total; });
    settle_group(gradients, token.count(first), threads, [&](std::size_t g, float total) {
      token.pair(query, first + g).gradient = total;
    });
  }
}

/// p of the first query, in gets.of_mix, by one warp.
template <class T, unsigned kElements>
__device__ void weigh(const BlockToken<T, kElements>& token, std::size_t query) {
  const AttnResPhase1Backward<T>& op = token.op;
  const float log_sum = op.log_sums[query * op.num_tokens + token.index];
  for (std::size_t i = lane_id(); i < op.num_bank_sources; i += kWarpSize) {
    PairState& pair = token.pair(query, i);
    const Score score{pair.query, token.shared.bank[i].squares};
    pair.gets.of_mix = expf(score.dot * score.inverse_rms(op.hidden_size, op.key_eps) - log_sum);
  }
}

/// h . v of every source, with the first query's h.
template <class T, unsigned kElements>
__device__ void meet_sources(const BlockToken<T, kElements>& token, RowThreads& threads) {
  for (std::size_t first = 0; first < token.op.num_bank_sources; first += kMetGroup) {
    float sums[kMetGroup] = {};
    token.share.each([&](unsigned, std::size_t at) {
      float h[kElements];
      token.mix(at, h);
#pragma unroll
      for (unsigned g = 0; g < kMetGroup; ++g) {
        if (g >= token.count(first)) break;
        float v[kElements];
        load_elements(token.row(first + g) + at, v);
        sums[g] = dot(h, v, sums[g]);
      }
    });
    settle_group(sums, token.count(first), threads,
                 [&](std::size_t g, float total) { token.shared.bank[first + g].mix = total; });
  }
}

/// The first query's norm, from sums over sources, by one warp.
template <class T, unsigned kElements>
__device__ NormFactors norm_of_mix(const BlockToken<T, kElements>& token) {
  float squares = 0;
  float along = 0;
  for (std::size_t i = lane_id(); i < token.op.num_bank_sources; i += kWarpSize) {
    const float weight = token.pair(0, i).gets.of_mix;
    squares = fmaf(weight, token.shared.bank[i].mix, squares);
    along = fmaf(weight, token.pair(0, i).gradient, along);
  }
  return norm_factors(warp_sum(squares), warp_sum(along), token.share.size, token.op.norm.eps);
}

/// What every source gets of `query`, by one warp. dh . h of the first is made here.
template <class T, unsigned kElements>
__device__ void settle_query(const BlockToken<T, kElements>& token, std::size_t query,
                             const NormFactors& norm) {
  const AttnResPhase1Backward<T>& op = token.op;
  const bool has_norm = query == 0 && op.norm.gain != nullptr;
  const auto product = [&](std::size_t i) {
    const float of_u = token.pair(query, i).gradient;
    return has_norm ? fmaf(norm.gain_scale, of_u, norm.row_scale * token.shared.bank[i].mix) : of_u;
  };
  float mean = 0;
  if (query == 0) {
    for (std::size_t i = lane_id(); i < op.num_bank_sources; i += kWarpSize)
      mean = fmaf(token.pair(0, i).gets.of_mix, product(i), mean);
    mean = warp_sum(mean);
  } else {
    mean = op.products[(query - 1) * op.num_tokens + token.index];
  }
  for (std::size_t i = lane_id(); i < op.num_bank_sources; i += kWarpSize) {
    PairState& pair = token.pair(query, i);
    const Score score{pair.query, token.shared.bank[i].squares};
    pair.gets =
        source_gradient(score, op.hidden_size, op.key_eps, pair.gets.of_mix, product(i) - mean);
    token.shared.bank[i].of_source =
        pair.gets.of_source + (query == 0 ? 0 : token.shared.bank[i].of_source);
  }
}

/// dh of `query`; of the first, whose dx is given, behind its norm.
template <class T, unsigned kElements>
__device__ void load_mix_gradient(const BlockToken<T, kElements>& token, std::size_t query,
                                  std::size_t at, float (&dh)[kElements]) {
  load_elements(token.behind_mix(query) + at, dh);
  if (query > 0 || token.op.norm.gain == nullptr) return;
  float h[kElements];
  token.mix(at, h);
  apply_gain(token.op.norm.gain, at, dh);
  make_mix_gradient(*token.shared.norm, dh, h, dh);
}

/// The gradients of the elements at `at` of a group of sources.
template <class T, unsigned kElements>
__device__ void leave_group(const BlockToken<T, kElements>& token, std::size_t first,
                            std::size_t at) {
  float dv[kBackwardLeft][kElements];
#pragma unroll
  for (unsigned g = 0; g < kBackwardLeft; ++g) {
    if (g >= token.count(first)) break;
    float v[kElements];
    load_elements(token.row(first + g) + at, v);
    load_elements(token.to(first + g) + at, dv[g]);
    const float of_source = token.shared.bank[first + g].of_source;
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) dv[g][e] = fmaf(of_source, v[e], dv[g][e]);
  }
  for (std::size_t query = 0; query < token.op.num_queries; ++query) {
    float w[kElements];
    float dh[kElements];
    load_parameters(token.op.queries + query * token.share.size + at, w);
    load_mix_gradient(token, query, at, dh);
#pragma unroll
    for (unsigned g = 0; g < kBackwardLeft; ++g) {
      if (g >= token.count(first)) break;
      const SourceGradient& gets = token.pair(query, first + g).gets;
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e)
        dv[g][e] = fmaf(gets.of_mix, dh[e], fmaf(gets.of_query, w[e], dv[g][e]));
    }
  }
#pragma unroll
  for (unsigned g = 0; g < kBackwardLeft; ++g) {
    if (g >= token.count(first)) break;
    store_elements(token.to(first + g) + at, dv[g]);
  }
}

/// The token's part of dw of every query, and of dg.
template <class T, unsigned kElements>
__device__ void add_parameter_gradients(const BlockToken<T, kElements>& token, std::size_t at,
                                        float* sums) {
  const std::size_t d = token.share.size;
  const std::size_t S = token.op.num_queries;
  for (std::size_t query = 0; query < S; ++query) {
    float dw[kElements] = {};
    for (std::size_t i = 0; i < token.op.num_bank_sources; ++i) {
      float v[kElements];
      load_elements(token.row(i) + at, v);
      const float of_query = token.pair(query, i).gets.of_query;
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) dw[e] = fmaf(of_query, v[e], dw[e]);
    }
    ParameterSums<kInMemory, kElements>::add_to(sums + query * d + at, dw);
  }
  if (token.op.norm.gain == nullptr) return;
  float dx[kElements];
  float h[kElements];
  float part[kElements];
  load_elements(token.behind_mix(0) + at, dx);
  token.mix(at, h);
  make_gain_part(*token.shared.norm, dx, h, part);
  ParameterSums<kInMemory, kElements>::add_to(sums + S * d + at, part);
}

/// Sums, weights and scalars of the token, in shared memory.
template <class T, unsigned kElements>
__device__ void settle_block(const BlockToken<T, kElements>& token, RowThreads& threads) {
  const bool is_scalar_warp = threadIdx.x < kWarpSize;
  square_sources(token, threads);
  for (std::size_t query = 0; query < token.op.num_queries; ++query) take_in(token, query, threads);
  __syncwarp();
  if (is_scalar_warp)
    for (std::size_t query = 0; query < token.op.num_queries; ++query) weigh(token, query);
  if (token.op.norm.gain != nullptr) {
    __syncthreads();
    meet_sources(token, threads);
  }
  __syncwarp();
  if (!is_scalar_warp) return;
  const NormFactors norm = token.op.norm.gain == nullptr ? NormFactors{} : norm_of_mix(token);
  for (std::size_t query = 0; query < token.op.num_queries; ++query)
    settle_query(token, query, norm);
  if (threadIdx.x == 0) *token.shared.norm = norm;
}

template <class T, unsigned kElements>
__global__ void __launch_bounds__(kBackwardStreamedThreads, 1)
    phase1_backward_kernel(const __grid_constant__ AttnResPhase1Backward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t n = op.num_bank_sources;
  float* const scratch = reinterpret_cast<float*>(shared_memory());
  const BlockScalars shared(scratch + RowThreads::scratch_size(blockDim.x / kWarpSize, kMetGroup),
                            n, op.num_queries);
  BlockToken<T, kElements> token{op, shared, {op.hidden_size}, 0};
  RowThreads threads = cta_row_threads(kMetGroup);
  const std::size_t num_parameters = depthcost::num_parameters(op);
  float* sums = op.slices.sums + blockIdx.x * num_parameters;
  for (std::size_t row = 0; row < num_parameters; row += op.hidden_size)
    ParameterSums<kInMemory, kElements>(sums + row, token.share);
  const TokenSlice tokens = token_slice(op.num_tokens, op.slices.count, blockIdx.x);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    token.index = t;
    __syncthreads();  // all have left the states of the token before
    settle_block(token, threads);
    __syncthreads();
    token.share.each([&](unsigned, std::size_t at) {
      add_parameter_gradients(token, at, sums);
      for (std::size_t first = 0; first < n; first += kBackwardLeft) leave_group(token, first, at);
    });
  }
}

template <class T>
struct Phase1BackwardKernel {
  template <unsigned kElements>
  static auto of() {
    return phase1_backward_kernel<T, kElements>;
  }
};

}  // namespace

template <class T>
void run(const AttnResPhase1Backward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const std::size_t d = op.hidden_size;
  const std::size_t S = op.num_queries;
  const bool aligned =
      aligned_to_vectors(op.bank, op.mix_gradients, op.queries, op.norm.gain, op.bank_gradients);
  launch_streamed_slices<T, Phase1BackwardKernel<T>>(
      op, aligned, kMetGroup, BlockScalars::num_floats(op.num_bank_sources, S),
      {"attnres_phase1_backward", "sources times queries", op.num_bank_sources * S}, options);
  launch_add_query_slices(op, op.query_gradients, S * d, options);
}

template void run(const AttnResPhase1Backward<float>&, const LaunchOptions&);
template void run(const AttnResPhase1Backward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
