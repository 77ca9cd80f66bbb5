// Phase 2 of Algorithm 1: scores of the partial sum, merged with the results of Phase 1.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attnres_phase2.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_ATTNRES_PHASE2
#define DEPTHCOST_KERNELS_CPU_ATTNRES_PHASE2
namespace depthcost::cpu {

/// One target's kernel.
template <class T, class O>
using Phase2Kernel = void (*)(const AttnResPhase2<T, O>&, TokenRange);

/// Algorithm 1, lines 11-12. Turns the logits of the sources of this block into their weights, in
/// place, and returns the weight of o of Phase 1.
inline float merge(SoftmaxState inter_block, float* logits, std::size_t count) {
  const SoftmaxState intra_block = exponentials(logits, count);
  const double maximum = std::max(inter_block.maximum, intra_block.maximum);
  const double inter_scale = std::exp(static_cast<double>(inter_block.maximum) - maximum);
  const double intra_scale = std::exp(static_cast<double>(intra_block.maximum) - maximum);
  const double sum = inter_scale * inter_block.sum + intra_scale * intra_block.sum;
  for (std::size_t i = 0; i < count; ++i)
    logits[i] = static_cast<float>(static_cast<double>(logits[i]) * intra_scale / sum);
  return static_cast<float>(inter_scale / sum);
}

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct Phase2Workspace {
  Buffer<const T*> sources;
  Buffer<Score> scores;
  Buffer<float> weights;
  Buffer<float> mixed;
  Buffer<const char*> next_rows;
};

/// A row of Phase 1's output, in the order in which rows of T are loaded.
template <class T, class O, class Where>
HWY_INLINE Pair load_phase1(const O* p, Where where) {
  if constexpr (std::is_same_v<O, T>)
    return load(p, where);
  else
    return load_for<T>(p, where);
}

/// Aims the fetcher at the rows of the token behind `t`, whose stored sources are given. It makes a
/// step for every block of the sum, of the scores of a group, of the mix and of the norm.
template <class T, class O>
HWY_INLINE void aim_at_next(const AttnResPhase2<T, O>& op, std::size_t t, const T* const* sources,
                            std::size_t num_stored, const char** rows, Fetcher& fetcher) {
  const std::size_t d = op.hidden_size;
  std::size_t num_rows = 0;
  for (std::size_t i = 0; i < num_stored; ++i)
    rows[num_rows++] = reinterpret_cast<const char*>(sources[i] + d);
  if (op.layer_output != nullptr) {
    rows[num_rows++] = reinterpret_cast<const char*>(op.partial_sum + (t + 1) * d);
    rows[num_rows++] = reinterpret_cast<const char*>(op.layer_output + (t + 1) * d);
  }
  const auto* o = reinterpret_cast<const char*>(op.phase1_output + (t + 1) * d);
  for (std::size_t byte = 0; byte < d * sizeof(O); byte += d * sizeof(T))
    rows[num_rows++] = o + byte;
  const std::size_t num_passes =
      2 + num_score_groups(num_stored) + (op.layer_output == nullptr ? 0 : 1);
  fetcher.aim(rows, num_rows, d * sizeof(T), num_passes * (padded(d) / kBlock));
}

/// Adds f to b for token `t` and returns the score of the sum.
template <class T, class O>
HWY_INLINE Score add_partial_sum(const AttnResPhase2<T, O>& op, std::size_t t, Fetcher& fetcher) {
  const std::size_t d = op.hidden_size;
  T* b = op.partial_sum + t * d;
  const T* f = op.layer_output + t * d;
  return score_sum(b, f, op.query, d, [&](std::size_t i, Pair sum, auto where) HWY_ATTR {
    fetcher.step();
    const Pair rounded = rounded_to<T>(sum);
    store(b + i, rounded, where, Cached{});
    return rounded;
  });
}

template <class T, class O>
void phase2(const AttnResPhase2<T, O>& op, TokenRange tokens) {
  thread_local Phase2Workspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const bool adds = op.layer_output != nullptr;
  const std::size_t num_sources = op.num_further_sources + 1;
  const std::size_t num_unscored = adds ? num_sources - 1 : num_sources;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const T** sources = workspace.sources.at_least(num_sources);
  Score* scores = workspace.scores.at_least(num_sources);
  float* weights = workspace.weights.at_least(num_sources);
  float* mixed = workspace.mixed.at_least(padded(d));
  const char** next_rows = workspace.next_rows.at_least(num_sources + 4);
  Fetcher fetcher(source_fetching<T>());
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const O* o = op.phase1_output + t * d;
    for (std::size_t i = 0; i < op.num_further_sources; ++i)
      sources[i] = op.further_sources + (i * op.num_tokens + t) * d;
    sources[op.num_further_sources] = op.partial_sum + t * d;
    aim_at_next(op, t, sources, num_unscored, next_rows, fetcher);
    if (adds) scores[num_unscored] = add_partial_sum(op, t, fetcher);
    score_rows(sources, num_unscored, op.query, d, scores, fetcher);
    for (std::size_t i = 0; i < num_sources; ++i) weights[i] = logit(scores[i], d, op.key_eps);
    const SoftmaxState inter_block{op.maximum[t], static_cast<double>(op.sum[t])};
    const Vec inter_weight = broadcast(merge(inter_block, weights, num_sources));

    const auto mix = [&](const auto& finish) HWY_ATTR {
      const auto fetch = [&](std::size_t) HWY_ATTR { fetcher.step(); };
      const auto start = [&](std::size_t i, auto where) HWY_ATTR {
        return Pair{inter_weight, inter_weight} * load_phase1<T>(o + i, where);
      };
      mix_rows(sources, weights, num_sources, d, fetch, start, finish);
    };
    if (op.num_further_sources <= kFewFurtherSources)
      store_next_input_of_few(mix, op.norm, d, op.output + t * d, policy);
    else
      store_next_input(mix, op.norm, d, mixed, op.output + t * d, policy,
                       [&]() HWY_ATTR { fetcher.step(); });
  }
  hwy::FlushStream();
}

}  // namespace

KernelsByTypes<Phase2Kernel> phase2_kernels() {
  return {phase2<float, float>, phase2<Bf16, Bf16>, phase2<Bf16, float>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(phase2_kernels);

template <class T, class O>
void run(const AttnResPhase2<T, O>& op) {
  check(op);
  const auto phase2 = HWY_DYNAMIC_DISPATCH(phase2_kernels)().of<T, O>();
  for_each_range(op.num_tokens, (op.num_further_sources + 5) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { phase2(op, tokens); });
}

template void run(const AttnResPhase2<float, float>&);
template void run(const AttnResPhase2<Bf16, Bf16>&);
template void run(const AttnResPhase2<Bf16, float>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
