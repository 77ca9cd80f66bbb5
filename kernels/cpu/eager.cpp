// AttnRes in eager mode, launch by launch, each as fast as it can be on its own: what fusing is
// compared with. The eager launches of mHC stand beside its fused kernels, in mhc_pre.cpp and
// mhc_post.cpp.
#include "kernels/cpu/primitives/targets.hpp"
#include "kernels/cpu/run.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/eager.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/primitives/dispatch.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

#ifndef DEPTHCOST_KERNELS_CPU_EAGER
#define DEPTHCOST_KERNELS_CPU_EAGER
namespace depthcost::cpu {

/// One target's kernels. `stack`, `key_norm` and `scores` take ranges of the s T rows of a stack.
template <class T>
struct UnfusedKernels {
  void (*rmsnorm)(const UnfusedRmsNorm<T>&, TokenRange) = nullptr;
  void (*stack)(const UnfusedStack<T>&, TokenRange) = nullptr;
  void (*key_norm)(const UnfusedKeyNorm<T>&, TokenRange) = nullptr;
  void (*scores)(const UnfusedScores<T>&, TokenRange) = nullptr;
  void (*mix)(const UnfusedMix<T>&, TokenRange) = nullptr;
};

}  // namespace depthcost::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void rmsnorm(const UnfusedRmsNorm<T>& op, TokenRange tokens) {
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    const T* h = op.input + t * d;
    const double scale = inverse_rms(sum_of_squares(h, d), d, op.norm.eps);
    const auto load_h = [&](std::size_t i, auto where) HWY_ATTR {
      fetch_block(h + d + i);
      return load(h + i, where);
    };
    norm_row(load_h, scale, op.norm.gain, d, op.output + t * d, policy);
  }
  hwy::FlushStream();
}

template <class T>
void stack(const UnfusedStack<T>& op, TokenRange rows) {
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_sources * op.num_tokens * d * sizeof(T));
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const T* source = op.sources[row / op.num_tokens] + row % op.num_tokens * d;
    T* copy = op.stack + row * d;
    with_policy(policy, copy, [&](auto chosen) HWY_ATTR {
      for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
        prefetch(source + i + near_bytes(sizeof(T)) / sizeof(T));
        store(copy + i, load(source + i, where), where, chosen);
      });
    });
  }
  hwy::FlushStream();
}

template <class T>
void key_norm(const UnfusedKeyNorm<T>& op, TokenRange rows) {
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_sources * op.num_tokens * d * sizeof(T));
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const T* v = op.stack + row * d;
    T* k = op.keys + row * d;
    const double scale = inverse_rms(sum_of_squares(v, d), d, op.key_eps);
    const Vec factor = broadcast(static_cast<float>(scale));
    with_policy(policy, k, [&](auto chosen) HWY_ATTR {
      for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
        const Pair normalised = load(v + i, where) * Pair{factor, factor};
        fetch_block(v + d + i);
        store_rounded(k + i, normalised, where, chosen);
      });
    });
  }
  hwy::FlushStream();
}

/// Logits of G consecutive rows. The fetcher makes a step for every block.
template <std::size_t G, class T>
HWY_INLINE void score_keys(const UnfusedScores<T>& op, std::size_t row, Fetcher& fetcher) {
  constexpr std::size_t kNear = 256 / sizeof(T);  // from L2, where the fetcher leaves lines
  const std::size_t d = op.hidden_size;
  const T* keys = op.keys + row * d;
  Pair dots[G];
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) dots[g] = zeros();
  for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair query = load_for<T>(op.query + i, where);
    fetcher.step();
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g) {
      prefetch(keys + g * d + i + kNear);
      dots[g] = multiply_add(query, load(keys + g * d + i, where), dots[g]);
    }
  });
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) op.logits[row + g] = sum(dots[g]);
}

/// Groups of rows share the query, for which L1 has no room beside wide rows. The rows of the next
/// group are consecutive, so that they are fetched as one.
template <class T>
void scores(const UnfusedScores<T>& op, TokenRange rows) {
  const std::size_t d = op.hidden_size;
  std::size_t row = rows.begin;
  for (; row + kScoreGroup <= rows.end; row += kScoreGroup) {
    const std::size_t next = row + kScoreGroup;
    const std::size_t num_next = std::min(kScoreGroup, rows.end - next);
    const char* next_keys = reinterpret_cast<const char*>(op.keys + next * d);
    Fetcher fetcher;
    fetcher.aim(&next_keys, 1, num_next * d * sizeof(T), padded(d) / kBlock);
    score_keys<kScoreGroup>(op, row, fetcher);
  }
  Fetcher none;
  for (; row < rows.end; ++row) score_keys<1>(op, row, none);
}

template <class T>
void mix(const UnfusedMix<T>& op, TokenRange tokens) {
  thread_local Buffer<const T*> row_buffer;
  thread_local Buffer<float> weight_buffer;
  const std::size_t d = op.hidden_size;
  const StorePolicy policy = store_policy(op.num_tokens * d * sizeof(T));
  const T** rows = row_buffer.at_least(op.num_sources);
  float* weights = weight_buffer.at_least(op.num_sources);
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    for (std::size_t s = 0; s < op.num_sources; ++s) {
      rows[s] = op.stack + (s * op.num_tokens + t) * d;
      weights[s] = op.logits[s * op.num_tokens + t];
    }
    softmax(weights, op.num_sources);
    const auto mix = [&](const auto& finish) HWY_ATTR {
      const auto fetch = [&](std::size_t i) HWY_ATTR {
        const std::size_t distance = ahead<T>(i, d, d);
        for (std::size_t s = 0; s < op.num_sources; ++s) fetch_block(rows[s] + i + distance);
      };
      const auto start = [](std::size_t, auto) HWY_ATTR { return zeros(); };
      mix_rows(rows, weights, op.num_sources, d, fetch, start, finish);
    };
    store_next_input(mix, NextNorm{}, d, nullptr, op.output + t * d, policy, [] {});
  }
  hwy::FlushStream();
}

template <class T>
constexpr UnfusedKernels<T> kKernels = {rmsnorm<T>, stack<T>, key_norm<T>, scores<T>, mix<T>};

}  // namespace

KernelsByType<UnfusedKernels> unfused_kernels() { return {kKernels<float>, kKernels<Bf16>}; }

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::cpu {

HWY_EXPORT(unfused_kernels);

template <class T>
void run(const UnfusedRmsNorm<T>& op) {
  check(op);
  const auto rmsnorm = HWY_DYNAMIC_DISPATCH(unfused_kernels)().of<T>().rmsnorm;
  for_each_range(op.num_tokens, 2 * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { rmsnorm(op, tokens); });
}

template <class T>
void run(const UnfusedStack<T>& op) {
  check(op);
  const auto stack = HWY_DYNAMIC_DISPATCH(unfused_kernels)().of<T>().stack;
  for_each_range(op.num_sources * op.num_tokens, 2 * op.hidden_size * sizeof(T),
                 [&](TokenRange rows) { stack(op, rows); });
}

template <class T>
void run(const UnfusedKeyNorm<T>& op) {
  check(op);
  const auto key_norm = HWY_DYNAMIC_DISPATCH(unfused_kernels)().of<T>().key_norm;
  for_each_range(op.num_sources * op.num_tokens, 2 * op.hidden_size * sizeof(T),
                 [&](TokenRange rows) { key_norm(op, rows); });
}

template <class T>
void run(const UnfusedScores<T>& op) {
  check(op);
  const auto scores = HWY_DYNAMIC_DISPATCH(unfused_kernels)().of<T>().scores;
  for_each_range(op.num_sources * op.num_tokens, op.hidden_size * sizeof(T),
                 [&](TokenRange rows) { scores(op, rows); });
}

template <class T>
void run(const UnfusedMix<T>& op) {
  check(op);
  const auto mix = HWY_DYNAMIC_DISPATCH(unfused_kernels)().of<T>().mix;
  for_each_range(op.num_tokens, (op.num_sources + 1) * op.hidden_size * sizeof(T),
                 [&](TokenRange tokens) { mix(op, tokens); });
}

template void run(const UnfusedRmsNorm<float>&);
template void run(const UnfusedRmsNorm<Bf16>&);
template void run(const UnfusedStack<float>&);
template void run(const UnfusedStack<Bf16>&);
template void run(const UnfusedKeyNorm<float>&);
template void run(const UnfusedKeyNorm<Bf16>&);
template void run(const UnfusedScores<float>&);
template void run(const UnfusedScores<Bf16>&);
template void run(const UnfusedMix<float>&);
template void run(const UnfusedMix<Bf16>&);

}  // namespace depthcost::cpu
#endif  // HWY_ONCE
