// How rows are cut into CTAs: pure functions of a shape and of what the device has, so that tests
// and benchmarks can ask which variant runs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string_view>

#include "kernels/cuda/tuning.hpp"

namespace depthcost::cuda {

/// The limits of a device on which the choice of a variant depends. Defaults: H200.
struct DeviceLimits {
  unsigned num_sms = 132;
  std::size_t shared_bytes_per_cta = 232448;  // dynamic, opted in
  std::size_t shared_bytes_per_sm = 233472;
  bool has_clusters = true;  // and bulk copies: from sm_90
};

inline constexpr std::size_t kThreadsPerWarp = 32;

/// More than keep any device busy.
inline constexpr std::size_t kManyTokens = std::size_t{1} << 20;
/// Floats that hold the two barriers of an exchange between the CTAs of a cluster.
inline constexpr std::size_t kExchangeFloats = 4;
/// A barrier in shared memory.
inline constexpr std::size_t kBarrierBytes = 8;
/// The largest cluster that every device with clusters supports.
inline constexpr unsigned kMaxClusterSize = 8;
/// Shared memory that the runtime keeps for itself in each CTA.
inline constexpr std::size_t kReservedSharedBytes = 1024;
/// Shared memory is given out in multiples of this.
inline constexpr std::size_t kSharedBytesUnit = 128;
inline constexpr std::size_t kRegistersPerSm = 65536;

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

constexpr std::string_view name(RowVariant variant) {
  switch (variant) {
    case RowVariant::scalar:
      return "scalar";
    case RowVariant::streamed:
      return "streamed";
    case RowVariant::registers:
      return "registers";
    case RowVariant::rows_per_warp:
      return "rows_per_warp";
  }
  return "";
}

struct RowPlan {
  RowVariant variant = RowVariant::scalar;
  unsigned slices_per_thread = 0;  // vectors of a row that a thread holds
  unsigned threads_per_row = kScalarThreads;
  unsigned rows_per_cta = 1;
};

/// `vectors`: 16-byte vectors of a row, 0 where they cannot be used. `max_threads`: of a CTA that
/// keeps its row in registers.
constexpr RowPlan row_plan(std::size_t vectors, unsigned max_threads = kRowThreads) {
  if (vectors == 0) return {};
  const unsigned slices = vectors > kRowManyVectors ? kRowManySlices : kRowFewSlices;
  const auto threads = static_cast<unsigned>(whole_warps(ceil_div(vectors, slices)));
  if (threads > max_threads) return {RowVariant::streamed, 0, kRowThreads, 1};
  if (threads == kThreadsPerWarp) return {RowVariant::rows_per_warp, slices, threads, kRowsPerCta};
  return {RowVariant::registers, slices, threads, 1};
}

/// As row_plan, of rows that are combined from others, which take registers too.
constexpr RowPlan combine_plan(std::size_t vectors) {
  RowPlan plan = row_plan(vectors, kCombineThreads);
  if (plan.variant == RowVariant::streamed) plan.threads_per_row = kCombineStreamedThreads;
  return plan;
}

/// Elementwise work on rows that share coefficients: a CTA takes `tokens_per_cta` tokens.
struct TokenPlan {
  unsigned threads_per_token = 0;
  unsigned tokens_per_cta = 0;
};
constexpr TokenPlan token_plan(std::size_t accesses_per_row) {
  const auto threads = static_cast<unsigned>(std::clamp<std::size_t>(
      whole_warps(ceil_div(accesses_per_row, 2)), kThreadsPerWarp, kMixThreads));
  return {threads, std::max(1U, kMixCtaThreads / threads)};
}

}  // namespace depthcost::cuda
