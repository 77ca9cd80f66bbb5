// Attention over depth with the sources in registers.
//   split_row  a row is split over the CTAs of a cluster, which exchange their sums through
//              distributed shared memory; one CTA where there are tokens for every SM. Sources come
//              in groups, each in flight at once, and are mixed by online softmax.
#include "kernels/cuda/attnres/split_row.cuh"

namespace depthcost::cuda {
namespace {

/// The CTAs that an SM holds, which limits registers as their threads do.
template <class T, class O, unsigned kRows>
constexpr unsigned kCtasPerSm = kRows > 0 || sizeof(O) > sizeof(T) ? 1 : 2;

/// Merges Phase 1's (o, m, l), whose o is `phase1`.
template <class O, unsigned kSlices, unsigned kElements, unsigned kVectors>
__device__ void merge(OnlineSoftmax<kSlices, kElements>& softmax, float maximum, float sum,
                      const uint4 (&phase1)[kSlices][kVectors]) {
  softmax.raise_maximum(maximum);
  float o[kSlices][kElements];
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
#pragma unroll
    for (unsigned v = 0; v < kVectors; ++v) {
      float x[kWidth<O>];
      unpack<O>(phase1[s][v], x);
#pragma unroll
      for (unsigned e = 0; e < kWidth<O>; ++e) o[s][v * kWidth<O> + e] = x[e];
    }
  }
  softmax.add(__expf(maximum - softmax.maximum), sum, o);
}

template <class T, class O, unsigned kSlices, unsigned kVectors>
__device__ void load_phase1(const DepthAttention<T, O>& op, std::size_t at, const RowPart& part,
                            uint4 (&phase1)[kSlices][kVectors]) {
#pragma unroll
  for (unsigned s = 0; s < kSlices; ++s) {
#pragma unroll
    for (unsigned v = 0; v < kVectors; ++v) {
      phase1[s][v] = {0, 0, 0, 0};
      if (part.has(s))
        phase1[s][v] = load_vector(op.phase1_output + at + part.at(s) + v * kWidth<O>);
    }
  }
}

enum class Phase1 { absent, merged };

/// Attends to the newest source and to up to kRows rows at a time.
template <class T, class O, unsigned kSlices, unsigned kRows, unsigned kThreads, Phase1 kPhase1>
__global__ void __launch_bounds__(kThreads, kCtasPerSm<T, O, kRows>)
    split_row_kernel(const __grid_constant__ DepthAttention<T, O> op,
                     const __grid_constant__ Shares shares_of) {
  constexpr unsigned kPairs = kPairsFor<kRows>;
  constexpr unsigned kHeldRows = kRows > 0 ? kRows : 1;
  constexpr unsigned kPhase1Vectors = kPhase1 == Phase1::merged ? kWidth<T> / kWidth<O> : 1;
  ClusterExchange::start(reinterpret_cast<float*>(shared_memory()));
  const RowPart part = part_of_row<T>(op.hidden_size, shares_of.rank_elements);
  float w[kSlices][kWidth<T>];
  load_parameters(op.query, part, w);
  if (op.norm.gain != nullptr && part.has(0)) prefetch(op.norm.gain + part.at(0));
  const std::size_t token = cluster_index();
  const std::size_t at = token * op.hidden_size;
  // Goes from row to row: to multiply by the row's number took 25 instructions before each load.
  const T* row = op.rows + at;
  const std::size_t step_over_skipped = (op.num_skipped_rows + 1) * op.row_stride;
  const unsigned rows_of_first_group = shares_of.groups.count(0);
  wait_for_previous_kernel();
  let_next_kernel_start();

  uint4 b[kSlices] = {};
  uint4 f[kSlices] = {};
  uint4 phase1[kSlices][kPhase1Vectors];
  if (op.partial_sum != nullptr) load_part(op.partial_sum + at, part, b);
  if (op.layer_output != nullptr) load_part(op.layer_output + at, part, f);
  if constexpr (kPhase1 == Phase1::merged) load_phase1(op, at, part, phase1);

  ClusterRowThreads threads(reinterpret_cast<float*>(shared_memory()), 2 * kPairs);
  OnlineSoftmax<kSlices, kWidth<T>> softmax;
  const RowGroups& groups = shares_of.groups;
  unsigned first = 0;
  do {
    const unsigned count = first == 0 ? rows_of_first_group : groups.count(first);
    uint4 rows[kHeldRows][kSlices];
#pragma unroll
    for (unsigned p = 0; p < kHeldRows; ++p)
      if (p < count) {
        load_part(row, part, rows[p]);
        row += p == 0 && first == 0 ? step_over_skipped : op.row_stride;
      }
    float shares[2 * kPairs] = {};
    if (first == 0) {
#pragma unroll
      for (unsigned s = 0; s < kSlices; ++s) {
        hold_back(b[s]);
        hold_back(f[s]);
      }
      form_newest(op, at, part, b, f, softmax.mix);
      add_products(w, softmax.mix, shares[2 * kRows], shares[2 * kRows + 1]);
    }
    if constexpr (kRows > 0) add_products_of_rows<T>(w, rows, count, shares);
    if (first == 0) cluster_wait();
    float scores[kPairs];
    scores_of(threads, shares, op.hidden_size, op.key_eps, scores);
    if (first == 0 && op.partial_sum != nullptr) softmax.start_from(scores[kRows]);
    if constexpr (kRows > 0) softmax.template add_rows<T>(rows, count, scores);
    first += groups.per_group;
  } while (kRows > 0 && first < op.num_rows);
  if constexpr (kPhase1 == Phase1::merged)
    merge<O>(softmax, op.maximum[token], op.sum[token], phase1);
  store_next_input<T>(op.norm, op.output + at, part, softmax, threads, op.hidden_size);
}

template <class T, class O, AttentionTile kTile, Phase1 kPhase1>
void launch_kernel(const DepthAttention<T, O>& op, const AttentionPlan& plan,
                   const LaunchOptions& options) {
  const std::size_t scratch = ClusterRowThreads::scratch_size(
      plan.threads / kThreadsPerWarp, plan.cluster_size, 2 * kPairsFor<kTile.rows>);
  launch(split_row_kernel<T, O, kTile.slices, kTile.rows, kTile.threads, kPhase1>,
         {.grid = grid_of(op.num_tokens * plan.cluster_size),
          .cta = plan.threads,
          .cluster_size = plan.cluster_size,
          .shared_bytes = scratch * sizeof(float)},
         options, op,
         Shares(op.num_rows, std::max(kTile.rows, 1U), vectors_per_row<T>(op.hidden_size),
                plan.cluster_size, 16 / sizeof(T)));
}

}  // namespace

template <class T, class O>
void launch_split_row(const DepthAttention<T, O>& op, const AttentionPlan& plan,
                      const LaunchOptions& options) {
  if (plan.tile == kNewestAlone)
    launch_kernel<T, O, kNewestAlone, Phase1::merged>(op, plan, options);
  else if (op.phase1_output == nullptr)
    launch_kernel<T, O, kSplitRow, Phase1::absent>(op, plan, options);
  else
    launch_kernel<T, O, kSplitRow, Phase1::merged>(op, plan, options);
}

template void launch_split_row(const DepthAttention<float, float>&, const AttentionPlan&,
                               const LaunchOptions&);
template void launch_split_row(const DepthAttention<Bf16, Bf16>&, const AttentionPlan&,
                               const LaunchOptions&);
template void launch_split_row(const DepthAttention<Bf16, float>&, const AttentionPlan&,
                               const LaunchOptions&);

}  // namespace depthcost::cuda
