// Operations on whole rows: add, score, mix, normalise. Sums run in one fixed order.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_ROW) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_ROW
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_ROW
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_ROW
#endif

#include <hwy/cache_control.h>

#include "kernels/cpu/primitives/fetch_ahead.hpp"
#include "kernels/cpu/primitives/fetcher.hpp"
#include "kernels/cpu/primitives/pair.hpp"
#include "kernels/cpu/primitives/score.hpp"
#include "kernels/cpu/primitives/store_policy.hpp"
#include "kernels/cpu/tuning.hpp"
#include "kernels/operations/operands.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Fetches the block at `p` into L1. Past the end of a buffer it does nothing.
template <class T>
HWY_INLINE void prefetch(const T* p) {
  for (std::size_t byte = 0; byte < kBlock * sizeof(T); byte += kLineBytes)
    __builtin_prefetch(reinterpret_cast<const char*>(p) + byte, 0, 3);
}

/// Asks for what follows `p` in a row that waits in L2: `bytes` ahead.
template <class T>
HWY_INLINE void fetch_from_l2(const T* p, std::size_t bytes = kFromL2Bytes) {
  prefetch(p + bytes / sizeof(T));
}

/// body(this CPU's way) as a constant, where a branch for each block would take time.
template <class Body>
HWY_INLINE void with_fetch_ahead(const Body& body) {
  if (kFetchAhead == FetchAhead::near)
    body(FetchAhead::near);
  else
    body(FetchAhead::far);
}

/// Fetches the block at `p`, which is read fetched_ahead() elements later.
template <class T>
HWY_INLINE void fetch_block(const T* p, FetchAhead way = kFetchAhead) {
  if (way == FetchAhead::near) return prefetch(p);
  for (std::size_t byte = 0; byte < kBlock * sizeof(T); byte += kLineBytes)
    __builtin_prefetch(reinterpret_cast<const char*>(p) + byte, 0, 2);
}

/// The same for a row that is read on and on: `p` is read now.
template <class T>
HWY_INLINE void fetch_ahead(const T* p) {
  fetch_block(p + fetched_ahead<T>(kFetchAhead));
}

/// The same in a backward pass that has an update_policy.
template <class T>
HWY_INLINE void fetch_ahead(const T* p, StorePolicy policy) {
  if (policy == StorePolicy::streaming)
    prefetch(p + kUpdateBytes / sizeof(T));
  else
    fetch_ahead(p);
}

/// From element `i` of a row, the distance to what is read fetched_ahead() later: in the row, or in
/// the one that follows it, `next_row` elements after its begin.
template <class T>
HWY_INLINE std::size_t ahead(std::size_t i, std::size_t size, std::size_t next_row,
                             FetchAhead way = kFetchAhead) {
  const std::size_t distance = fetched_ahead<T>(way);
  return i + distance < size ? distance : distance + next_row - size;
}

/// body(Streaming or Cached): streaming where `policy` allows and the rows' alignment permits.
template <class T, class Body>
HWY_INLINE void with_policy(StorePolicy policy, const T* row, const Body& body) {
  if (policy == StorePolicy::streaming &&
      reinterpret_cast<std::uintptr_t>(row) % (kLanes * sizeof(float)) == 0)
    body(Streaming{});
  else
    body(Cached{});
}

/// As with_policy, decided block by block: for rows of different alignment.
template <class T, class Where>
HWY_INLINE void store_by(StorePolicy policy, T* p, Pair rounded, Where where) {
  if (policy == StorePolicy::streaming &&
      reinterpret_cast<std::uintptr_t>(p) % (kLanes * sizeof(float)) == 0)
    store(p, rounded, where, Streaming{});
  else
    store(p, rounded, where, Cached{});
}

/// The same for a block of a backward pass that has an update_policy.
template <class T, class Where>
HWY_INLINE void store_update(StorePolicy policy, T* p, Pair exact, Where where) {
  if constexpr (sizeof(T) == sizeof(float))
    store_by(policy, p, exact, where);
  else
    store_rounded(p, exact, where, Cached{});
}

/// body(first, size) for groups of `kMost` of `count` rows, then of two, then of one. `size` is an
/// integral constant, so that the sums of a group fit into registers.
template <std::size_t kMost, class Body>
HWY_INLINE void for_each_group(std::size_t count, const Body& body) {
  std::size_t i = 0;
  for (; i + kMost <= count; i += kMost) body(i, std::integral_constant<std::size_t, kMost>{});
  for (; i + 2 <= count; i += 2) body(i, std::integral_constant<std::size_t, 2>{});
  for (; i < count; ++i) body(i, std::integral_constant<std::size_t, 1>{});
}

/// How many groups that makes.
template <std::size_t kMost>
constexpr std::size_t num_groups(std::size_t count) {
  return count / kMost + count % kMost / 2 + count % kMost % 2;
}

/// body(count as an integral constant), of 1 to kMost.
template <std::size_t kMost, class Body>
HWY_INLINE void with_constant(std::size_t count, const Body& body) {
  if constexpr (kMost > 0) {
    if (count == kMost) return body(std::integral_constant<std::size_t, kMost>{});
    with_constant<kMost - 1>(count, body);
  }
}

/// The fewest groups of at most kMost rows.
template <std::size_t kMost>
constexpr std::size_t num_even_groups(std::size_t count) {
  return (count + kMost - 1) / kMost;
}

/// As for_each_group, but in the fewest groups, whose sizes differ by one at most.
template <std::size_t kMost, class Body>
HWY_INLINE void for_each_even_group(std::size_t count, const Body& body) {
  std::size_t first = 0;
  for (std::size_t left = num_even_groups<kMost>(count); left > 0; --left) {
    const std::size_t size = (count - first + left - 1) / left;
    with_constant<kMost>(size, [&](auto constant) DEPTHCOST_INLINED { body(first, constant); });
    first += size;
  }
}

inline void clear(float* scratch, std::size_t size) {
  std::memset(scratch, 0, padded(size) * sizeof(float));
}

/// A scratch row in the order of T, as `size` consecutive floats.
template <class T>
HWY_INLINE void copy_in_order(const float* scratch, std::size_t size, float* to) {
  for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
    HWY_ALIGN float block[kBlock];
    store_in_order<T>(block, load_raw(scratch + i));
    store(to + i, load_raw(block), where, Cached{});
  });
}

/// Dot products of G rows with one query, and their sums of squares. The fetcher makes a step for
/// every block.
template <class T, std::size_t G>
HWY_INLINE void score_group(const T* const* rows, const float* query, std::size_t size,
                            Score* scores, Fetcher& fetcher) {
  Vec dots[G];
  Vec squares[G];
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) dots[g] = squares[g] = hn::Zero(Lanes());
  for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair w = load_for<T>(query + i, where);
    fetcher.step();
    HWY_UNROLL(8)
    for (std::size_t g = 0; g < G; ++g) {
      const Pair v = load(rows[g] + i, where);
      dots[g] = hn::MulAdd(w.second, v.second, hn::MulAdd(w.first, v.first, dots[g]));
      squares[g] = hn::MulAdd(v.second, v.second, hn::MulAdd(v.first, v.first, squares[g]));
    }
  });
  HWY_UNROLL(8)
  for (std::size_t g = 0; g < G; ++g) scores[g] = {sum(dots[g]), sum(squares[g])};
}

/// Rows that are scored together.
inline constexpr std::size_t kScoreGroup = num_scored_rows(kLanes);

/// How many passes over the columns the scores take.
inline std::size_t num_score_groups(std::size_t num_rows) {
  return num_groups<kScoreGroup>(num_rows);
}

template <class T>
HWY_INLINE void score_rows(const T* const* rows, std::size_t num_rows, const float* query,
                           std::size_t size, Score* scores, Fetcher& fetcher) {
  std::size_t i = 0;
  for (; i + kScoreGroup <= num_rows; i += kScoreGroup)
    score_group<T, kScoreGroup>(rows + i, query, size, scores + i, fetcher);
  for (; i + 2 <= num_rows; i += 2) score_group<T, 2>(rows + i, query, size, scores + i, fetcher);
  for (; i < num_rows; ++i) score_group<T, 1>(rows + i, query, size, scores + i, fetcher);
}

template <class T>
HWY_INLINE float sum_of_squares(const T* row, std::size_t size) {
  Pair squares = zeros();
  for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair x = load(row + i, where);
    squares = multiply_add(x, x, squares);
  });
  return sum(squares);
}

/// The score of b + f, as keep(offset, b + f, where) returns it.
template <class T, class Keep>
HWY_INLINE Score score_sum(const T* b, const T* f, const float* query, std::size_t size,
                           const Keep& keep) {
  Pair dot = zeros();
  Pair squares = zeros();
  for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
    const Pair kept = keep(i, load(b + i, where) + load(f + i, where), where);
    dot = multiply_add(load_for<T>(query + i, where), kept, dot);
    squares = multiply_add(kept, kept, squares);
  });
  return {sum(dot), sum(squares)};
}

/// finish(offset, start(offset, where) + sum_i weights[i] rows[i], where), block by block, after
/// fetch(offset).
template <class T, class Fetch, class Start, class Finish>
HWY_INLINE void mix_rows(const T* const* rows, const float* weights, std::size_t num_rows,
                         std::size_t size, const Fetch& fetch, const Start& start,
                         const Finish& finish) {
  for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
    fetch(i);
    Pair mixed = start(i, where);
    for (std::size_t r = 0; r < num_rows; ++r)
      mixed = multiply_add(broadcast(weights[r]), load(rows[r] + i, where), mixed);
    finish(i, mixed, where);
  });
}

/// A block of output = h * scale * gain.
template <class T, class Where, class Policy>
HWY_INLINE void norm_block(Pair h, Vec scale, const float* gain, T* output, Where where,
                           Policy policy) {
  const Pair x = h * Pair{scale, scale} * load_for<T>(gain, where);
  store_rounded(output, x, where, policy);
}

/// output = h * scale * gain, with h given as load_h(offset, where).
template <class T, class LoadH>
HWY_INLINE void norm_row(const LoadH& load_h, double scale, const float* gain, std::size_t size,
                         T* output, StorePolicy policy) {
  const Vec factor = broadcast(static_cast<float>(scale));
  with_policy(policy, output, [&](auto chosen) HWY_ATTR {
    for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
      norm_block(load_h(i, where), factor, gain + i, output + i, where, chosen);
    });
  });
}

/// Stores a mix without a norm.
template <class T, class Mix>
HWY_INLINE void store_mix(const Mix& mix, T* output, StorePolicy policy) {
  with_policy(policy, output, [&](auto chosen) HWY_ATTR {
    mix([&](std::size_t i, Pair h, auto where)
            HWY_ATTR { store_rounded(output + i, h, where, chosen); });
  });
}

/// The next layer's input from a mix: mix(finish) calls finish(offset, h, where) block by block.
/// With a gain, h waits in the scratch row for its norm, which calls fetch() for every block.
template <class T, class Mix, class Fetch>
HWY_INLINE void store_next_input(const Mix& mix, const NextNorm& norm, std::size_t size,
                                 float* scratch, T* output, StorePolicy policy,
                                 const Fetch& fetch) {
  if (norm.gain == nullptr) return store_mix(mix, output, policy);
  Pair squares = zeros();
  mix([&](std::size_t i, Pair h, auto) HWY_ATTR {
    store_raw(scratch + i, h);
    squares = multiply_add(h, h, squares);
  });
  const auto load_h = [&](std::size_t i, auto) HWY_ATTR {
    fetch();
    return load_raw(scratch + i);
  };
  norm_row<T>(load_h, inverse_rms(sum(squares), size, norm.eps), norm.gain, size, output, policy);
}

/// As `store_next_input`, for so few rows that mixing twice costs less than writing a row of floats
/// to L2 and reading it back.
template <class T, class Mix>
HWY_INLINE void store_next_input_of_few(const Mix& mix, const NextNorm& norm, std::size_t size,
                                        T* output, StorePolicy policy) {
  if (norm.gain == nullptr) return store_mix(mix, output, policy);
  Pair squares = zeros();
  mix([&](std::size_t, Pair h, auto) HWY_ATTR { squares = multiply_add(h, h, squares); });
  const Vec scale = broadcast(static_cast<float>(inverse_rms(sum(squares), size, norm.eps)));
  with_policy(policy, output, [&](auto chosen) HWY_ATTR {
    mix([&](std::size_t i, Pair h, auto where)
            HWY_ATTR { norm_block(h, scale, norm.gain + i, output + i, where, chosen); });
  });
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_ROW
