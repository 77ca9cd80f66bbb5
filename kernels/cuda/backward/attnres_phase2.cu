// attnres_phase2_backward.
#include "kernels/cuda/backward/attnres_gradients.cuh"
#include "kernels/cuda/backward/slice_launch.cuh"
#include "kernels/cuda/run.hpp"

namespace depthcost::cuda {
namespace {

/// Sums over a row, with u = g o dx, or dx without a norm.
enum Product : unsigned { w_b, b_b, h_h, u_h, u_b, h_b, kNumProducts };
constexpr unsigned kProductSums = 8;  // the next power of two

/// The rows of a token.
template <class T, unsigned kSlices, unsigned kElements>
struct TokenRows {
  HeldRow<T, kSlices, kElements> partial_sum, mix, behind_norm, had;

  __device__ TokenRows(const AttnResPhase2Backward<T>& op, std::size_t row,
                       const RowShare<kSlices, kElements>& share)
      : partial_sum(op.partial_sum + row, share),
        mix(op.mix + row, share),
        behind_norm(op.mix_gradient + row, share),
        had(op.partial_gradient + row, share) {}
};

/// What scalars make of the sums.
struct RowGradient {
  NormFactors norm;
  SourceGradient source;
  float product;  // dh . h
};

template <class T>
__device__ RowGradient gradient_of(const AttnResPhase2Backward<T>& op, std::size_t token,
                                   float total) {
  const auto sum = [&](Product which) {
    return __shfl_sync(kFullMask, total, which * kLanesPerValue<kProductSums>);
  };
  const Score score{sum(w_b), sum(b_b)};
  const float squares = sum(h_h);
  const float along = sum(u_h);
  RowGradient row{.norm = {}, .source = {}, .product = along};
  if (op.norm.gain != nullptr) {
    row.norm = norm_factors(squares, along, op.hidden_size, op.norm.eps);
    row.product = product_behind_norm(row.norm, op.hidden_size, op.norm.eps);
  }
  const float of_source = fmaf(row.norm.gain_scale, sum(u_b), row.norm.row_scale * sum(h_b));
  const float s = score.dot * score.inverse_rms(op.hidden_size, op.key_eps);
  row.source = source_gradient(score, op.hidden_size, op.key_eps, expf(s - op.log_sum[token]),
                               of_source - row.product);
  return row;
}

/// The sums of kProductSums values of this thread's part of the row.
template <class T, unsigned kSlices, unsigned kElements>
__device__ void add_products(const AttnResPhase2Backward<T>& op,
                             const TokenRows<T, kSlices, kElements>& rows,
                             const RowShare<kSlices, kElements>& share,
                             float (&sums)[kProductSums]) {
  share.each([&](unsigned s, std::size_t at) {
    float w[kElements];
    float b[kElements];
    float h[kElements];
    float u[kElements];
    load_parameters(op.query + at, w);
    rows.partial_sum.get(s, at, b);
    rows.mix.get(s, at, h);
    rows.behind_norm.get(s, at, u);
    apply_gain(op.norm.gain, at, u);
    sums[w_b] = dot(w, b, sums[w_b]);
    sums[b_b] = dot(b, b, sums[b_b]);
    sums[h_h] = dot(h, h, sums[h_h]);
    sums[u_h] = dot(u, h, sums[u_h]);
    sums[u_b] = dot(u, b, sums[u_b]);
    sums[h_b] = dot(h, b, sums[h_b]);
  });
}

template <class T, unsigned kSlices, unsigned kElements>
__device__ void leave_gradients(const AttnResPhase2Backward<T>& op, std::size_t row,
                                const TokenRows<T, kSlices, kElements>& rows,
                                const RowShare<kSlices, kElements>& share, const RowGradient& of,
                                ParameterSums<kSlices, kElements>& query_gradient,
                                ParameterSums<kSlices, kElements>& gain_gradient) {
  share.each([&](unsigned s, std::size_t at) {
    float w[kElements];
    float b[kElements];
    float dh[kElements];
    float db[kElements];
    load_parameters(op.query + at, w);
    rows.partial_sum.get(s, at, b);
    rows.behind_norm.get(s, at, dh);
    rows.had.get(s, at, db);
    if (op.norm.gain != nullptr) {
      float h[kElements];
      float u[kElements];
      float part[kElements];
      rows.mix.get(s, at, h);
      make_gain_part(of.norm, dh, h, part);
      gain_gradient.add(s, at, part);
#pragma unroll
      for (unsigned e = 0; e < kElements; ++e) u[e] = dh[e];
      apply_gain(op.norm.gain, at, u);
      make_mix_gradient(of.norm, u, h, dh);
    }
    add_source_gradient(of.source, dh, w, b, db);
    store_elements(op.partial_gradient + row + at, db);
    if (op.norm.gain != nullptr) store_elements(op.mix_gradient + row + at, dh);
    float part[kElements];
#pragma unroll
    for (unsigned e = 0; e < kElements; ++e) part[e] = of.source.of_query * b[e];
    query_gradient.add(s, at, part);
  });
}

template <class T, unsigned kSlices, unsigned kElements>
__global__ void __launch_bounds__(kBackwardThreads, 1)
    phase2_backward_kernel(const __grid_constant__ AttnResPhase2Backward<T> op) {
  wait_for_previous_kernel();
  let_next_kernel_start();
  const std::size_t d = op.hidden_size;
  const bool has_norm = op.norm.gain != nullptr;
  const RowShare<kSlices, kElements> share{d};
  float* sums = op.slices.sums + blockIdx.x * (has_norm ? 2 : 1) * d;
  ParameterSums<kSlices, kElements> query_gradient(sums, share);
  ParameterSums<kSlices, kElements> gain_gradient(has_norm ? sums + d : nullptr, share);
  RowThreads threads = cta_row_threads(kProductSums);
  const TokenSlice tokens = token_slice(op.num_tokens, op.slices.count, blockIdx.x);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const TokenRows<T, kSlices, kElements> rows(op, t * d, share);
    float products[kProductSums] = {};
    add_products(op, rows, share, products);
    const RowGradient of = gradient_of(op, t, threads.sums(products));
    if (threadIdx.x == 0) op.product[t] = of.product;
    leave_gradients(op, t * d, rows, share, of, query_gradient, gain_gradient);
  }
  query_gradient.store(sums, share);
  if (has_norm) gain_gradient.store(sums + d, share);
}

template <class T>
struct Phase2BackwardKernel {
  template <unsigned kSlices, unsigned kElements>
  static auto of() {
    return phase2_backward_kernel<T, kSlices, kElements>;
  }
};

}  // namespace

template <class T>
void run(const AttnResPhase2Backward<T>& op, const LaunchOptions& options) {
  depthcost::check(op);
  if (op.num_tokens == 0) return;
  const std::size_t d = op.hidden_size;
  const bool aligned = aligned_to_vectors(op.partial_sum, op.mix, op.query, op.norm.gain,
                                          op.mix_gradient, op.partial_gradient);
  launch_slices<T, Phase2BackwardKernel<T>>(op, aligned, kProductSums, 0, {}, options);
  launch_add_query_slices(op, op.query_gradient, d, options);
}

template void run(const AttnResPhase2Backward<float>&, const LaunchOptions&);
template void run(const AttnResPhase2Backward<Bf16>&, const LaunchOptions&);

}  // namespace depthcost::cuda
