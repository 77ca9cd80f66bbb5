// The variants of attnres_single_pass and attnres_phase2: which one runs, on how many CTAs, and
// what it moves. Pure functions, as in plan.hpp.
#pragma once

#include "kernels/cuda/attnres/newest_traffic.hpp"
#include "kernels/operations/attnres.hpp"

namespace depthcost::cuda {

/// The kernels of attention over depth.
enum class AttentionKernel {
  scalar,     // element by element, sources read once for scores and once more, from L2: any shape
  split_row,  // sources in registers; a row is split over a cluster when tokens are few or rows
              // long
  row_ring,   // bulk copies into a ring of rows that persistent CTAs share out: many tokens
  split_heads,  // as split_row, with sums of each head: ablations
};

struct AttentionPlan {
  AttentionKernel kernel = AttentionKernel::scalar;
  unsigned cluster_size = 1;
  unsigned threads = kScalarThreads;  // per CTA
  AttentionTile tile{};
};

/// The name of the variant, which is that of its kernel.
constexpr std::string_view name(const AttentionPlan& plan) {
  switch (plan.kernel) {
    case AttentionKernel::scalar:
      return "scalar";
    case AttentionKernel::split_row:
      return "split_row";
    case AttentionKernel::row_ring:
      return "row_ring";
    case AttentionKernel::split_heads:
      return "split_heads";
  }
  return "";
}

/// A token gets as many CTAs as its row needs. Their number is then doubled while SMs are idle and
/// each CTA keeps at least two warps busy.
constexpr AttentionPlan split_row_plan(std::size_t num_tokens, std::size_t vectors,
                                       const AttentionTile& tile, const DeviceLimits& device) {
  const unsigned max_ranks = device.has_clusters ? kMaxClusterSize : 1;
  const std::size_t per_cta = std::size_t{tile.slices} * tile.threads;
  unsigned ranks = 1;
  while (ranks < max_ranks && vectors > ranks * per_cta) ranks *= 2;
  if (vectors > ranks * per_cta) return {};
  while (ranks < max_ranks && num_tokens * ranks * 2 <= device.num_sms &&
         vectors >= std::size_t{ranks} * 2 * tile.slices * 2 * kThreadsPerWarp)
    ranks *= 2;
  const std::size_t per_rank = ceil_div(ceil_div(vectors, ranks), tile.slices);
  return {AttentionKernel::split_row, ranks, static_cast<unsigned>(whole_warps(per_rank)), tile};
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

inline constexpr std::size_t kRingBarrierBytes = 16;  // of a slot: full and empty

/// `threads` counts the warp that copies, too. `scratch_bytes` are those of the sums.
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

/// The ring needs bulk copies, rows that one CTA holds, and two tokens for every SM.
constexpr AttentionPlan single_pass_plan(std::size_t num_tokens, std::size_t vectors,
                                         const DeviceLimits& device) {
  if (vectors == 0) return {};
  const std::size_t readers = whole_warps(ceil_div(vectors, kRowRing.slices));
  if (device.has_clusters && num_tokens >= 2 * std::size_t{device.num_sms} &&
      readers + kThreadsPerWarp <= kRowRing.threads)
    return {AttentionKernel::row_ring, 1, static_cast<unsigned>(readers + kThreadsPerWarp),
            kRowRing};
  return split_row_plan(num_tokens, vectors, kSplitRow, device);
}

/// Phase 2 with `num_rows` further rows.
constexpr AttentionPlan phase2_plan(std::size_t num_tokens, std::size_t vectors,
                                    std::size_t num_rows, const DeviceLimits& device) {
  if (vectors == 0) return {};
  return split_row_plan(num_tokens, vectors, num_rows > 0 ? kSplitRow : kNewestAlone, device);
}

/// Equal parts of a row, each of which has a sum of its own.
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

/// Attention head by head. The sizes of what a CTA keeps in shared memory are in floats: the shares
/// of its threads in w . v and v . v of each source; the sums of all ranks, twice, because two
/// buffers take turns; and scratch memory of the next norm.
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

/// `num_key_parts` is the number of parts of a row that are normalised apart, 0 if keys are not
/// normalised. Heads that are not whole vectors, or whose sums do not fit, are computed element by
/// element.
constexpr HeadsPlan heads_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_heads,
                               std::size_t num_key_parts, const DeviceLimits& device) {
  if (vectors == 0 || vectors % num_heads != 0) return {};
  HeadsPlan plan{.attention = split_row_plan(num_tokens, vectors, kSplitHeads, device),
                 .heads = row_parts(vectors, num_heads),
                 .keys = row_parts(vectors, num_key_parts)};
  if (plan.attention.kernel == AttentionKernel::scalar) return {};
  plan.attention.kernel = AttentionKernel::split_heads;
  const std::size_t num_ranks = plan.attention.cluster_size;
  const std::size_t threads = plan.attention.threads;
  plan.num_sums = (kSplitHeads.rows + 1) * (num_heads + num_key_parts);
  plan.totals = 2 * (kSplitHeads.rows + 1) * threads;
  plan.scratch = round_up(plan.totals + 2 * num_ranks * plan.num_sums, 2);
  plan.num_floats = plan.scratch + kExchangeFloats + 2 * num_ranks * (threads / kThreadsPerWarp);
  return plan.shared_bytes() <= device.shared_bytes_per_cta ? plan : HeadsPlan{};
}

template <class T>
constexpr AttentionPlan plan_of(const AttnResSinglePass<T>& op, const DeviceLimits& device) {
  const std::size_t vectors = vectors_of<T>(op.hidden_size);
  if (op.variant.is_plain()) return single_pass_plan(op.num_tokens, vectors, device);
  return heads_plan(op.num_tokens, vectors, op.variant.num_heads, op.variant.num_key_parts(),
                    device)
      .attention;
}

/// Rows of the bank in the window.
template <class T>
constexpr std::size_t num_bank_reads(const AttnResSinglePass<T>& op) {
  return op.num_bank_sources - (op.variant.first_recent_row - 1);
}

/// Bytes on their way to a CTA: a whole ring, or all rows that registers hold at once.
template <class T>
constexpr std::size_t bytes_in_flight(const AttnResSinglePass<T>& op, const AttentionPlan& plan,
                                      const DeviceLimits& device) {
  const std::size_t row_bytes = op.hidden_size * sizeof(T);
  if (plan.kernel == AttentionKernel::row_ring)
    return ring_plan(plan.threads, row_bytes, op.hidden_size * sizeof(float), 0, device).num_slots *
           row_bytes;
  const std::size_t newest = op.layer_output != nullptr ? 2 : op.partial_sum != nullptr ? 1 : 0;
  const std::size_t query = op.variant.token_queries != nullptr ? 1 : 0;
  const std::size_t bank = plan.kernel == AttentionKernel::split_heads
                               ? std::min<std::size_t>(num_bank_reads(op), kSplitHeads.rows)
                               : num_bank_reads(op);
  return (bank + newest + query) * row_bytes / plan.cluster_size;
}

template <class T>
constexpr Descriptor descriptor(const AttnResSinglePass<T>& op, const DeviceLimits& device = {}) {
  const AttentionPlan plan = plan_of(op, device);
  const bool adds = op.layer_output != nullptr;
  NewestTraffic newest = newest_traffic(op.partial_sum != nullptr, adds);
  newest.partial_sum.writes_d = adds && op.store == SumStore::partial_sum ? 1 : 0;
  const double bank_writes = adds && op.store == SumStore::bank_row ? 1 : 0;
  const double query_reads = op.variant.token_queries != nullptr ? 1 : 0;
  return {.operation = "attnres_single_pass",
          .variant = name(plan),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"bank", count(num_bank_reads(op)), bank_writes},
                        newest.partial_sum,
                        newest.layer_output,
                        {"recent", query_reads, 0},
                        {"layer_input", 0, 1}}},
          .bytes_in_flight_per_cta = bytes_in_flight(op, plan, device)};
}

template <class T, class O>
constexpr Descriptor descriptor(const AttnResPhase2<T, O>& op, const DeviceLimits& device = {}) {
  const bool adds = op.layer_output != nullptr;
  NewestTraffic newest = newest_traffic(true, adds);
  newest.partial_sum.writes_d = adds ? 1 : 0;
  const AttentionPlan plan =
      phase2_plan(op.num_tokens, vectors_of<T>(op.hidden_size), op.num_further_sources, device);
  const std::size_t row_bytes = (op.num_further_sources + (adds ? 2 : 1)) * sizeof(T) + sizeof(O);
  return {.operation = "attnres_phase2",
          .variant = name(plan),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"phase1_output", 1, 0},
                        {"bank", count(op.num_further_sources), 0},
                        newest.partial_sum,
                        newest.layer_output,
                        {"layer_input", 0, 1}}},
          .reads_scalars = 2,
          .bytes_in_flight_per_cta = op.hidden_size * row_bytes / plan.cluster_size};
}

}  // namespace depthcost::cuda
