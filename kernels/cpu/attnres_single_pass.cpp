// AttnRes in one pass per layer. A token's sources are read from memory once, for their scores, and
// again from L2 for the mix; meanwhile the next token's are fetched.
#include "kernels/cpu/operations.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attnres_single_pass.cpp"
#include <hwy/foreach_target.h>

#include "kernels/check.hpp"
#include "kernels/cpu/simd-row.hpp"
#include "kernels/cpu/threads.hpp"
#include "kernels/cpu/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_ATTNRES_SINGLE_PASS
#define DEPTHCOST_KERNELS_CPU_ATTNRES_SINGLE_PASS
namespace depthcost::cpu {

/// One target's kernel.
template <class T>
using SinglePassKernel = void (*)(const AttnResSinglePass<T>&, TokenRange);

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
struct SinglePassWorkspace {
  Buffer<const T*> sources;
  Buffer<Score> scores;
  Buffer<float> weights;
  Buffer<T> closed;     // b + f, where it went to the bank
  Buffer<float> exact;  // b + f, where it went nowhere
  Buffer<float> mixed;
  Buffer<const char*> next_rows;
};

/// b + f of a token: rounded where it was stored, else exact. One of the two is there.
template <class T>
struct PartialSum {
  Score score;
  const T* rounded = nullptr;
  const float* exact = nullptr;
};

/// Stores b + f of token `t` where the operation says, and a copy that stays in cache.
template <class T>
HWY_INLINE PartialSum<T> add_partial_sum(const AttnResSinglePass<T>& op, std::size_t t,
                                         SinglePassWorkspace<T>& workspace, Fetcher& fetcher) {
  const std::size_t d = op.hidden_size;
  T* b = op.partial_sum + t * d;
  const auto score_of = [&](const auto& keep) HWY_ATTR {
    return score_sum(b, op.layer_output + t * d, op.query, d, keep);
  };
  if (op.store == SumStore::nowhere) {
    float* exact = workspace.exact.at_least(padded(d));
    const Score score = score_of([&](std::size_t i, Pair sum, auto) HWY_ATTR {
      fetcher.step();
      store_raw(exact + i, sum);
      return sum;
    });
    return {score, nullptr, exact};
  }
  if (op.store == SumStore::partial_sum) {
    const Score score = score_of([&](std::size_t i, Pair sum, auto where) HWY_ATTR {
      fetcher.step();
      const Pair rounded = rounded_to<T>(sum);
      store(b + i, rounded, where, Cached{});
      return rounded;
    });
    return {score, b, nullptr};
  }
  T* row = op.bank + (op.bank_row * op.num_tokens + t) * d;
  T* closed = workspace.closed.at_least(padded(d));
  Score score;
  with_policy(store_policy(op.num_tokens * d * sizeof(T)), row, [&](auto policy) HWY_ATTR {
    score = score_of([&](std::size_t i, Pair sum, auto where) HWY_ATTR {
      fetcher.step();
      const Pair rounded = rounded_to<T>(sum);
      store(row + i, rounded, where, policy);
      store(closed + i, rounded, where, Cached{});
      return rounded;
    });
  });
  return {score, closed, nullptr};
}

/// The sources of token `t` that are stored as they stand: bank rows, and b without an f.
template <class T>
std::size_t stored_sources(const AttnResSinglePass<T>& op, std::size_t t, const T** sources) {
  const std::size_t d = op.hidden_size;
  std::size_t count = op.num_bank_sources;
  for (std::size_t i = 0; i < count; ++i) sources[i] = op.bank + (i * op.num_tokens + t) * d;
  if (op.partial_sum != nullptr && op.layer_output == nullptr)
    sources[count++] = op.partial_sum + t * d;
  return count;
}

/// Aims at the rows of the token after the one whose `sources` are given. A step is one of the sum,
/// of a group's scores, of as many rows' mix, or of the norm.
template <class T>
HWY_INLINE void aim_at_next(const AttnResSinglePass<T>& op, std::size_t t, const T* const* sources,
                            std::size_t num_stored, const char** rows, Fetcher& fetcher) {
  const std::size_t d = op.hidden_size;
  std::size_t num_rows = 0;
  for (std::size_t i = 0; i < num_stored; ++i)
    rows[num_rows++] = reinterpret_cast<const char*>(sources[i] + d);
  if (op.layer_output != nullptr) {
    rows[num_rows++] = reinterpret_cast<const char*>(op.partial_sum + (t + 1) * d);
    rows[num_rows++] = reinterpret_cast<const char*>(op.layer_output + (t + 1) * d);
  }
  const std::size_t num_passes = 3 + 2 * num_score_groups(num_stored);
  fetcher.aim(rows, num_rows, d * sizeof(T), num_passes * (padded(d) / kBlock));
}

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
  Fetcher fetcher;
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const std::size_t num_stored = stored_sources(op, t, sources);
    std::size_t num_rows = num_stored;
    std::size_t num_sources = num_stored;
    aim_at_next(op, t, sources, num_stored, next_rows, fetcher);
    PartialSum<T> sum;
    if (op.layer_output != nullptr) {
      sum = add_partial_sum(op, t, workspace, fetcher);
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

SinglePassKernel<float> single_pass_f32() { return single_pass<float>; }
SinglePassKernel<Bf16> single_pass_bf16() { return single_pass<Bf16>; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {
namespace {

HWY_EXPORT(single_pass_f32);
HWY_EXPORT(single_pass_bf16);

template <class T>
SinglePassKernel<T> kernel() {
  if constexpr (std::is_same_v<T, Bf16>)
    return HWY_DYNAMIC_DISPATCH(single_pass_bf16)();
  else
    return HWY_DYNAMIC_DISPATCH(single_pass_f32)();
}

}  // namespace

template <class T>
void attnres_single_pass(const AttnResSinglePass<T>& op) {
  check(op);
  const auto single_pass = kernel<T>();
  for_each_range(op.num_tokens, (op.num_bank_sources + 2) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { single_pass(op, tokens); });
}

template void attnres_single_pass(const AttnResSinglePass<float>&);
template void attnres_single_pass(const AttnResSinglePass<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
