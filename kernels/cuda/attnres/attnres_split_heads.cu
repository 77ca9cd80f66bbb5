// The ablations of AttnRes with the sources in registers.
//   split_heads  as split_row, a vector of the row for each thread, and so of one head: its softmax
//                is the thread's own. The shares of threads meet in shared memory, where heads and
//                what keys are normalised over are summed by as many lanes as they are long.
#include "kernels/cuda/attnres/attnres_heads.cuh"
#include "kernels/cuda/attnres/split_row.cuh"

namespace depthcost::cuda {
namespace {

/// Sources that are scored together: rows, and behind them the newest source.
constexpr unsigned kSources = kSplitHeads.rows + 1;

/// CTAs that an SM holds, which limits registers. Before sm_90 two CTAs would spill the query.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr unsigned kSplitHeadsCtasPerSm = 2;
#else
constexpr unsigned kSplitHeadsCtasPerSm = 1;
#endif

/// Sums over parts of a row. As in ClusterRowThreads ranks push theirs to each other, and two
/// buffers take turns.
class PartSums {
 public:
  /// `memory` lies at the same place in each rank, which has the vectors from `begin` to `end`.
  __device__ PartSums(const HeadsPlan& plan, float* memory, unsigned begin, unsigned end,
                      const ClusterRowThreads& threads)
      : plan_(plan),
        threads_(threads),
        shares_(memory),
        totals_(memory + plan.totals),
        begin_(begin),
        end_(max(begin, end)) {}

  /// Adds this thread's share of one source. The sum of a source that is not put has no meaning.
  template <unsigned kElements>
  __device__ void put(unsigned source, const float (&w)[1][kElements],
                      const float (&v)[1][kElements]) {
    float dot = 0;
    float square = 0;
    add_products(w, v, dot, square);
    shares_[2 * source * blockDim.x + threadIdx.x] = dot;
    shares_[(2 * source + 1) * blockDim.x + threadIdx.x] = square;
  }

  __device__ void add_up() {
    __syncthreads();
    turn_ ^= 1;
    float* const own = totals_of(cluster_rank());
    add_parts(plan_.heads, shares_, own);
    add_parts(plan_.keys, shares_ + blockDim.x, own + kSources * plan_.heads.count);
    threads_.synchronise();
  }

  /// w . v of the head to which `vector` belongs.
  __device__ float dot(unsigned source, unsigned vector) const {
    return total(source * plan_.heads.count + vector / plan_.heads.vectors);
  }
  /// v . v of what its key is normalised over.
  __device__ float square(unsigned source, unsigned vector) const {
    return total((kSources * plan_.heads.count) + source * plan_.keys.count +
                 vector / plan_.keys.vectors);
  }

 private:
  __device__ float* totals_of(unsigned rank) const {
    return totals_ + (turn_ * cluster_size() + rank) * plan_.num_sums;
  }
  __device__ float total(unsigned sum) const {
    float result = 0;
    for (unsigned rank = 0; rank < cluster_size(); ++rank) result += totals_of(rank)[sum];
    return result;
  }
  /// The place of `vector` in this rank's share, moved to its begin or end if it lies outside.
  __device__ unsigned own_place(unsigned vector) const {
    return min(max(vector, begin_), end_) - begin_;
  }

  /// Adds up every second row of `shares`. All lanes of a warp take the same steps.
  __device__ void add_parts(const RowParts& parts, const float* shares, float* totals) const {
    const unsigned num_sums = kSources * parts.count;
    const unsigned lane = threadIdx.x % parts.lanes;
    for (unsigned first = 0; first < num_sums; first += blockDim.x / parts.lanes) {
      const unsigned index = first + threadIdx.x / parts.lanes;
      float sum = 0;
      if (index < num_sums) {
        const unsigned part = index % parts.count;
        const float* const row = shares + 2 * (index / parts.count) * blockDim.x;
        const unsigned end = own_place((part + 1) * parts.vectors);
        for (unsigned i = own_place(part * parts.vectors) + lane; i < end; i += parts.lanes)
          sum += row[i];
      }
      for (unsigned offset = parts.lanes / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(kFullMask, sum, offset);
      if (index < num_sums && lane == 0) threads_.push(totals + index, sum);
    }
  }

  const HeadsPlan& plan_;
  const ClusterRowThreads& threads_;
  float* shares_;
  float* totals_;
  unsigned begin_;
  unsigned end_;
  unsigned turn_ = 0;
};

template <class T>
__device__ void put_rows(PartSums& sums, const float (&w)[1][kWidth<T>],
                         const uint4 (&rows)[kSplitHeads.rows][1], unsigned count) {
#pragma unroll
  for (unsigned p = 0; p < kSplitHeads.rows; ++p) {
    if (p >= count) break;
    float v[1][kWidth<T>];
    unpack_part<T>(rows[p], v);
    sums.put(p, w, v);
  }
}

/// w . k of each source, for the head of `vector`.
template <class T>
__device__ void scores_of_head(const PartSums& sums, const RowParts& keys, unsigned vector,
                               float eps, float (&scores)[kSources]) {
#pragma unroll
  for (unsigned p = 0; p < kSources; ++p) {
    scores[p] = sums.dot(p, vector);
    if (keys.count == 0) continue;
    const auto key_size = static_cast<float>(keys.vectors * kWidth<T>);
    scores[p] *= rsqrtf(sums.square(p, vector) / key_size + eps);
  }
}

/// Whether the newest source is among those that are added.
enum class Newest { absent, present };

/// The newest source, which `mix` holds, and the `count` first of `rows`.
template <class T>
__device__ void add_sources(DepthWeighting weighting, Newest newest,
                            const uint4 (&rows)[kSplitHeads.rows][1], unsigned count,
                            const float (&scores)[kSources], OnlineSoftmax<1, kWidth<T>>& mix) {
  if (weighting == DepthWeighting::softmax) {
    if (newest == Newest::present) mix.start_from(scores[kSplitHeads.rows]);
    return mix.template add_rows<T>(rows, count, scores);
  }
  mix.sum = 1;
  if (newest == Newest::present) mix.scale(sigmoid(scores[kSplitHeads.rows]));
#pragma unroll
  for (unsigned p = 0; p < kSplitHeads.rows; ++p) {
    if (p >= count) break;
    float v[1][kWidth<T>];
    unpack_part<T>(rows[p], v);
    mix.add(sigmoid(scores[p]), 0, v);
  }
}

template <class T>
__device__ void load_rows(const DepthAttention<T, T>& op, std::size_t at, unsigned first,
                          unsigned count, const RowPart& part, uint4 (&rows)[kSplitHeads.rows][1]) {
#pragma unroll
  for (unsigned p = 0; p < kSplitHeads.rows; ++p)
    if (p < count) load_part(op.row(first + p, at), part, rows[p]);
}

template <class T>
__global__ void __launch_bounds__(kSplitHeads.threads, kSplitHeadsCtasPerSm)
    split_heads_kernel(const __grid_constant__ HeadAttention<T> heads,
                       const __grid_constant__ HeadsPlan plan,
                       const __grid_constant__ Shares shares) {
  const DepthAttention<T, T>& op = heads.attention;
  ClusterExchange::start(reinterpret_cast<float*>(shared_memory()) + plan.scratch);
  const RowPart part = part_of_row<T>(op.hidden_size, shares.rank_elements);
  float w[1][kWidth<T>];
  if (heads.token_queries == nullptr) load_parameters(op.query, part, w);
  if (op.norm.gain != nullptr && part.has(0)) prefetch(op.norm.gain + part.at(0));
  wait_for_previous_kernel();
  let_next_kernel_start();

  const std::size_t token = cluster_index();
  const std::size_t at = token * op.hidden_size;
  uint4 b[1] = {};
  uint4 f[1] = {};
  uint4 token_query[1];
  if (op.partial_sum != nullptr) load_part(op.partial_sum + at, part, b);
  if (op.layer_output != nullptr) load_part(op.layer_output + at, part, f);
  if (heads.token_queries != nullptr) {
    load_part(heads.token_queries + at, part, token_query);
    unpack_part<T>(token_query, w);
  }

  const RowGroups& groups = shares.groups;
  uint4 rows[kSplitHeads.rows][1];
  load_rows(op, at, 0, groups.count(0), part, rows);

  float* const memory = reinterpret_cast<float*>(shared_memory());
  ClusterRowThreads threads(memory + plan.scratch, 1);
  const unsigned vector = part.at(0) / kWidth<T>;
  PartSums sums(plan, memory, vector - threadIdx.x, part.end / kWidth<T>, threads);
  // Threads behind the row follow the head of its last vector.
  const unsigned last_vector = static_cast<unsigned>(op.hidden_size) / kWidth<T> - 1;
  OnlineSoftmax<1, kWidth<T>> mix;
  form_newest(op, at, part, b, f, mix.mix);
  sums.put(kSplitHeads.rows, w, mix.mix);
  cluster_wait();
  Newest newest = op.partial_sum == nullptr ? Newest::absent : Newest::present;
  for (unsigned first = 0;;) {
    const unsigned count = groups.count(first);
    put_rows<T>(sums, w, rows, count);
    sums.add_up();
    float scores[kSources];
    scores_of_head<T>(sums, plan.keys, min(vector, last_vector), op.key_eps, scores);
    add_sources<T>(heads.weighting, newest, rows, count, scores, mix);
    newest = Newest::absent;
    first += groups.per_group;
    if (first >= op.num_rows) break;
    load_rows(op, at, first, groups.count(first), part, rows);
  }
  mix.scale(1 / mix.sum);
  mix.sum = 1;
  store_next_input<T>(op.norm, op.output + at, part, mix, threads, op.hidden_size);
}

}  // namespace

template <class T>
void launch_split_heads(const HeadAttention<T>& op, const HeadsPlan& plan,
                        const LaunchOptions& options) {
  const AttentionPlan& split = plan.attention;
  launch(split_heads_kernel<T>,
         {.grid = grid_of(op.attention.num_tokens * split.cluster_size),
          .cta = split.threads,
          .cluster_size = split.cluster_size,
          .shared_bytes = plan.shared_bytes()},
         options, op, plan,
         Shares(op.attention.num_rows, kSplitHeads.rows,
                vectors_per_row<T>(op.attention.hidden_size), split.cluster_size, 16 / sizeof(T)));
}

template void launch_split_heads(const HeadAttention<float>&, const HeadsPlan&,
                                 const LaunchOptions&);
template void launch_split_heads(const HeadAttention<Bf16>&, const HeadsPlan&,
                                 const LaunchOptions&);

}  // namespace depthcost::cuda
