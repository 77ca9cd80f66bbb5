// AttnRes in one pass per layer. A token's sources are read from memory once, for their scores, and
// again from L2 for the mix; meanwhile the next token's are fetched.
#include "kernels/cpu/attnres_ablations.hpp"
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attnres_single_pass.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/attnres_sources.hpp"
#include "kernels/cpu/primitives/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void single_pass(const AttnResSinglePass<T>& op, TokenRange tokens) {
  thread_local SinglePassWorkspace<T> workspace;
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const T** sources = workspace.sources.at_least(op.num_bank_sources + 1);
  Score* scores = workspace.scores.at_least(op.num_bank_sources + 1);
  float* weights = workspace.weights.at_least(op.num_bank_sources + 1);
  float* mixed = workspace.mixed.at_least(padded(d));
  const char** next_rows = workspace.next_rows.at_least(op.num_bank_sources + 3);
  Fetcher fetcher(source_fetching<T>());
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const std::size_t num_stored = stored_sources(op, t, sources);
    std::size_t num_rows = num_stored;
    std::size_t num_sources = num_stored;
    aim_at_next(op, t, sources, num_stored, next_rows, fetcher);
    PartialSum<T> sum;
    if (op.layer_output != nullptr) {
      sum = add_partial_sum(op, t, op.query, workspace, fetcher);
      if (sum.rounded != nullptr) sources[num_rows++] = sum.rounded;
      scores[num_sources++] = sum.score;
    }
    score_rows(sources, num_stored, op.query, d, scores, fetcher);
    for (std::size_t i = 0; i < num_sources; ++i) weights[i] = logit(scores[i], d, op.key_eps);
    softmax(weights, num_sources);

    const auto mix = [&](const auto& finish) HWY_ATTR {
      const std::size_t num_steps = num_score_groups(num_stored) + 1;
      const auto fetch = [&](std::size_t) HWY_ATTR {
        for (std::size_t i = 0; i < num_steps; ++i) fetcher.step();
      };
      const Vec exact_weight = broadcast(weights[num_sources - 1]);
      const auto start = [&](std::size_t i, auto) HWY_ATTR {
        if (sum.exact == nullptr) return zeros();
        return Pair{exact_weight, exact_weight} * load_raw(sum.exact + i);
      };
      mix_rows(sources, weights, num_rows, d, fetch, start, finish);
    };
    store_next_input(mix, op.norm, d, mixed, op.output + t * d, policy,
                     [&]() HWY_ATTR { fetcher.step(); });
  }
  hwy::FlushStream();
}

}  // namespace

KernelsByType<SinglePassKernel> single_pass_kernels() {
  return {single_pass<float>, single_pass<Bf16>};
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(single_pass_kernels);

template <class T>
void run(const AttnResSinglePass<T>& op) {
  check(op);
  const auto single_pass = op.variant.is_plain()
                               ? HWY_DYNAMIC_DISPATCH(single_pass_kernels)().of<T>()
                               : single_pass_ablations().of<T>();
  for_each_range(op.num_tokens, (op.num_bank_sources + 2) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { single_pass(op, tokens); });
}

template void run(const AttnResSinglePass<float>&);
template void run(const AttnResSinglePass<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
