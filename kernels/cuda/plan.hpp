// How an operation is cut into CTAs: pure functions of its shape and of what the device has, so
// that tests and benchmarks can ask which variant runs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace depthcost::cuda {

/// What the choice of a variant depends on.
struct DeviceLimits {
  unsigned num_sms = 132;
  std::size_t shared_bytes_per_cta = 232448;  // dynamic, opted in
  std::size_t shared_bytes_per_sm = 233472;
  bool has_clusters = true;  // and bulk copies: from sm_90
};

inline constexpr std::size_t kThreadsPerWarp = 32;
/// The largest cluster that every device with clusters supports.
inline constexpr unsigned kMaxClusterSize = 8;
/// Shared memory that the runtime keeps for itself in each CTA.
inline constexpr std::size_t kReservedSharedBytes = 1024;
/// In which shared memory is given out.
inline constexpr std::size_t kSharedBytesUnit = 128;

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
constexpr std::size_t round_up(std::size_t a, std::size_t multiple) {
  return ceil_div(a, multiple) * multiple;
}
/// Threads for `num_items`, in whole warps.
constexpr std::size_t whole_warps(std::size_t num_items) {
  return round_up(num_items, kThreadsPerWarp);
}

/// Rows that are reduced and then written: add + norm.
enum class RowVariant {
  scalar,         // element by element in two passes, the second from L2: any size
  streamed,       // 16-byte accesses in two passes: rows too long for registers
  registers,      // the row stays in registers between its two bursts, one CTA each
  rows_per_warp,  // as `registers`, a warp for each row and several rows per CTA: short rows
};

struct RowPlan {
  RowVariant variant = RowVariant::scalar;
  unsigned slices_per_thread = 0;  // vectors of a row that a thread holds
  unsigned threads_per_row = 256;
  unsigned rows_per_cta = 1;
};

inline constexpr unsigned kRowThreads = 1024;  // at most

/// `vectors`: 16-byte vectors of a row, 0 where they cannot be used. `max_threads`: of a CTA that
/// keeps its row in registers.
constexpr RowPlan row_plan(std::size_t vectors, unsigned max_threads = kRowThreads) {
  if (vectors == 0) return {};
  const unsigned slices = vectors > 2 * 512 ? 4 : 2;
  const auto threads = static_cast<unsigned>(whole_warps(ceil_div(vectors, slices)));
  if (threads > max_threads) return {RowVariant::streamed, 0, kRowThreads, 1};
  if (threads == kThreadsPerWarp) return {RowVariant::rows_per_warp, slices, threads, 4};
  return {RowVariant::registers, slices, threads, 1};
}

inline constexpr unsigned kFormerThreads = 512;  // at most, of a row in registers
inline constexpr unsigned kStreamedThreads = 256;

/// As row_plan, of rows that are formed from others: what they are formed from takes registers.
constexpr RowPlan former_plan(std::size_t vectors) {
  RowPlan plan = row_plan(vectors, kFormerThreads);
  if (plan.variant == RowVariant::streamed) plan.threads_per_row = kStreamedThreads;
  return plan;
}

/// Elementwise work on rows that share coefficients: a CTA takes `tokens_per_cta` tokens.
struct TokenPlan {
  unsigned threads_per_token = 0;
  unsigned tokens_per_cta = 0;
};
constexpr TokenPlan token_plan(std::size_t accesses_per_row) {
  const auto threads = static_cast<unsigned>(
      std::clamp<std::size_t>(whole_warps(ceil_div(accesses_per_row, 2)), kThreadsPerWarp, 256));
  return {threads, std::max(1U, 128 / threads)};
}

/// Softmax over depth.
enum class AttentionVariant {
  scalar,     // element by element, sources read once for scores and once more, from L2: any shape
  split_row,  // sources in registers; a row is split over a cluster when tokens are few or rows
              // long
  row_ring,   // bulk copies into a ring of rows that persistent CTAs share out: many tokens
  split_heads,  // as split_row, with sums of each head: ablations
};

struct AttentionPlan {
  AttentionVariant variant = AttentionVariant::scalar;
  unsigned cluster_size = 1;
  unsigned threads = 256;  // per CTA
};

inline constexpr unsigned kSplitRowThreads = 512;  // at most
inline constexpr unsigned kPhase2Threads = 448;  // at most, of attnres_phase2 without further rows
inline constexpr unsigned kRingSlices = 2;       // vectors per thread and row
inline constexpr unsigned kRingThreads = 512;    // at most, with the warp that copies

/// CTAs for each token: as many as the row needs, then doubled while SMs are idle and each rank
/// keeps at least two warps busy.
constexpr AttentionPlan split_row_plan(std::size_t num_tokens, std::size_t vectors, unsigned slices,
                                       unsigned max_threads, const DeviceLimits& device) {
  const unsigned max_ranks = device.has_clusters ? kMaxClusterSize : 1;
  unsigned ranks = 1;
  while (ranks < max_ranks && vectors > std::size_t{ranks} * slices * max_threads) ranks *= 2;
  if (vectors > std::size_t{ranks} * slices * max_threads) return {};
  while (ranks < max_ranks && num_tokens * ranks * 2 <= device.num_sms &&
         vectors >= std::size_t{ranks} * 2 * slices * 2 * kThreadsPerWarp)
    ranks *= 2;
  const std::size_t per_rank = ceil_div(ceil_div(vectors, ranks), slices);
  return {AttentionVariant::split_row, ranks, static_cast<unsigned>(whole_warps(per_rank))};
}

/// What a CTA of row_ring keeps in shared memory, in bytes: barriers, scratch memory of its sums,
/// the gains of the next norm, and as many rows as there is room for.
struct RingPlan {
  unsigned ctas_per_sm = 0;
  std::size_t scratch = 0;
  std::size_t gain = 0;
  std::size_t rows = 0;
  std::size_t row_bytes = 0;
  unsigned num_slots = 0;

  constexpr std::size_t shared_bytes() const { return rows + num_slots * row_bytes; }
};

inline constexpr std::size_t kMaxRingSlots = 64;
inline constexpr std::size_t kRingBarrierBytes = 16;         // of a slot: full and empty
inline constexpr std::size_t kRingRegistersPerThread = 128;  // at most, by its launch bounds
inline constexpr std::size_t kRegistersPerSm = 65536;

/// `threads` with the warp that copies; `scratch_bytes` of the sums.
constexpr RingPlan ring_plan(unsigned threads, std::size_t row_bytes, std::size_t gain_bytes,
                             std::size_t scratch_bytes, const DeviceLimits& device) {
  RingPlan plan{.row_bytes = row_bytes};
  plan.ctas_per_sm = static_cast<unsigned>(
      std::max<std::size_t>(1, kRegistersPerSm / (kRingRegistersPerThread * threads)));
  const std::size_t share =
      device.shared_bytes_per_sm / plan.ctas_per_sm / kSharedBytesUnit * kSharedBytesUnit;
  const std::size_t shared_bytes =
      std::min(device.shared_bytes_per_cta, share - kReservedSharedBytes);
  plan.scratch = kMaxRingSlots * kRingBarrierBytes;
  plan.gain = plan.scratch + scratch_bytes;
  plan.rows = round_up(plan.gain + gain_bytes, 128);
  if (shared_bytes > plan.rows)
    plan.num_slots =
        static_cast<unsigned>(std::min(kMaxRingSlots, (shared_bytes - plan.rows) / row_bytes));
  return plan;
}

/// The ring needs bulk copies, rows that a CTA holds, and a token for every SM.
constexpr AttentionPlan single_pass_plan(std::size_t num_tokens, std::size_t vectors,
                                         const DeviceLimits& device) {
  if (vectors == 0) return {};
  const std::size_t readers = whole_warps(ceil_div(vectors, kRingSlices));
  if (device.has_clusters && num_tokens >= 2 * std::size_t{device.num_sms} &&
      readers + kThreadsPerWarp <= kRingThreads)
    return {AttentionVariant::row_ring, 1, static_cast<unsigned>(readers + kThreadsPerWarp)};
  return split_row_plan(num_tokens, vectors, 1, kSplitRowThreads, device);
}

/// Rows that split_heads scores together, beside the newest source; two CTAs of an SM hide each
/// other's latency.
inline constexpr unsigned kHeadRows = 4;
inline constexpr unsigned kHeadThreads = 448;  // at most

/// Equal parts of a row that are summed apart.
struct RowParts {
  unsigned count = 0;
  unsigned vectors = 0;  // of each
  unsigned lanes = 1;    // that add up the shares of one
};

/// Each lane adds some four shares of threads before lanes meet.
constexpr RowParts row_parts(std::size_t vectors, std::size_t count) {
  if (count == 0) return {};
  const auto each = static_cast<unsigned>(vectors / count);
  const unsigned lanes = std::clamp<unsigned>(std::bit_floor(each / 4), 1, kThreadsPerWarp);
  return {static_cast<unsigned>(count), each, lanes};
}

/// Attention of heads. What a CTA keeps in shared memory, in floats: the shares of its threads in
/// w . v and v . v of each source, the sums of all ranks, twice, as two buffers take turns, and
/// scratch memory of the next norm.
struct HeadsPlan {
  AttentionPlan attention;
  RowParts heads;
  RowParts keys;             // what keys are normalised over, if they are
  std::size_t num_sums = 0;  // of a rank
  std::size_t totals = 0;
  std::size_t scratch = 0;
  std::size_t num_floats = 0;

  constexpr std::size_t shared_bytes() const { return num_floats * sizeof(float); }
};

/// `num_key_parts`: of a row; 0 where keys are not normalised. Heads that are not whole vectors, or
/// so many that their sums do not fit, go element by element.
constexpr HeadsPlan heads_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_heads,
                               std::size_t num_key_parts, const DeviceLimits& device) {
  if (vectors == 0 || vectors % num_heads != 0) return {};
  HeadsPlan plan{.attention = split_row_plan(num_tokens, vectors, 1, kHeadThreads, device),
                 .heads = row_parts(vectors, num_heads),
                 .keys = row_parts(vectors, num_key_parts)};
  if (plan.attention.variant == AttentionVariant::scalar) return {};
  plan.attention.variant = AttentionVariant::split_heads;
  const std::size_t num_ranks = plan.attention.cluster_size;
  const std::size_t threads = plan.attention.threads;
  plan.num_sums = (kHeadRows + 1) * (num_heads + num_key_parts);
  plan.totals = 2 * (kHeadRows + 1) * threads;
  plan.scratch = plan.totals + 2 * num_ranks * plan.num_sums;
  plan.num_floats = plan.scratch + 2 * num_ranks * (threads / kThreadsPerWarp);
  return plan.shared_bytes() <= device.shared_bytes_per_cta ? plan : HeadsPlan{};
}

}  // namespace depthcost::cuda
