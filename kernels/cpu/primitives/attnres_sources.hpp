// The sources of a token, for the single pass of AttnRes and its ablations.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_ATTNRES_SOURCES) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_ATTNRES_SOURCES
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_ATTNRES_SOURCES
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_ATTNRES_SOURCES
#endif

#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

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

/// b + f of a token: `rounded` where it was stored, else `exact`.
template <class T>
struct PartialSum {
  Score score;
  const T* rounded = nullptr;
  const float* exact = nullptr;
};

/// Stores b + f of token `t` where the operation says, keeps a copy in cache, and scores it by the
/// query.
template <class T>
HWY_INLINE PartialSum<T> add_partial_sum(const AttnResSinglePass<T>& op, std::size_t t,
                                         const float* query, SinglePassWorkspace<T>& workspace,
                                         Fetcher& fetcher) {
  const std::size_t d = op.hidden_size;
  T* b = op.partial_sum + t * d;
  const auto score_of = [&](const auto& keep) HWY_ATTR {
    return score_sum(b, op.layer_output + t * d, query, d, keep);
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
  std::size_t count = 0;
  for (std::size_t i = 0; i < op.num_bank_sources; ++i)
    if (i == 0 || i >= op.variant.first_recent_row)
      sources[count++] = op.bank + (i * op.num_tokens + t) * d;
  if (op.partial_sum != nullptr && op.layer_output == nullptr)
    sources[count++] = op.partial_sum + t * d;
  return count;
}

/// Aims the fetcher at the rows of the token behind the one whose `sources` are given. It makes a
/// step for every block of the sum, of the scores of a group, of the mix of as many rows, and of
/// the norm.
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

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_ATTNRES_SOURCES
