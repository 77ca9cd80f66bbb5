// The variants of mHC: which one runs, where things lie in the shared memory of a CTA, and what
// moves.
#pragma once

#include "kernels/cuda/descriptor.hpp"
#include "kernels/operations/mhc.hpp"

namespace depthcost::cuda {

/// The shared memory of a CTA: some tokens, a column each, with their streams one behind the other.
struct MhcLayout {
  static constexpr unsigned kMaxStreams = 4;  // m m + 2 m rows of phi fit kTileRows
  static constexpr unsigned kMaxTiles = kMhcTiles;
  static constexpr unsigned kMaxTokens = kMaxTiles * kTileColumns;

  unsigned num_tokens = 0;   // of the tile
  unsigned num_columns = 0;  // whole tiles
  unsigned padded_size = 0;  // of a stream
  std::size_t column_bytes = 0;
  std::size_t coefficients = 0;  // (tokens, kMaxStreams, kMaxStreams + 1): H_res, then H_post
  std::size_t partial = 0;       // sums of each warp
  std::size_t received = 0;      // sums of each rank
  std::size_t squares = 0;       // of x: (ranks, tokens)
  std::size_t exchange = 0;      // barriers
  std::size_t fetched = 0;       // barriers of the copies
  std::size_t bytes = 0;

  constexpr MhcLayout(const TilePlan& plan, std::size_t num_streams)
      : num_tokens(plan.tokens_per_cluster),
        num_columns(static_cast<unsigned>(round_up(num_tokens, kTileColumns))),
        padded_size(plan.padded_size),
        column_bytes(bytes_of_column(num_streams * padded_size)) {
    const std::size_t sums = num_columns * kValuesPerColumn * sizeof(float);
    coefficients = num_columns * column_bytes;
    partial = coefficients + num_tokens * kMaxStreams * (kMaxStreams + 1) * sizeof(float);
    received = partial + kTileWarps * sums;
    squares = received + plan.cluster_size * sums;
    exchange = round_up(squares + plan.cluster_size * num_tokens * sizeof(float), 8);
    fetched = exchange + kExchangeFloats * sizeof(float);
    bytes = fetched + kMaxTiles * kBarrierBytes;
  }
};

/// The time of a plan, in the time that a CTA which has all of d takes for a token: what a tile
/// takes besides its tokens, most of it phi, goes with d as they do.
constexpr double relative_time(const TilePlan& plan, std::size_t num_tokens,
                               unsigned ctas_at_once) {
  const std::size_t at_once = std::max(1U, ctas_at_once / plan.cluster_size);
  const std::size_t waves = ceil_div(ceil_div(num_tokens, plan.tokens_per_cluster), at_once);
  return static_cast<double>(waves * (kMhcTokensLikePhi + plan.tokens_per_cluster)) /
         plan.cluster_size;
}

constexpr TilePlan mhc_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_streams,
                            const DeviceLimits& device) {
  if (num_streams > MhcLayout::kMaxStreams) return {};
  // Half of the SMs already take from L2 all that it gives: more clusters read phi again.
  const unsigned ctas_of_fewer_tokens = device.num_sms / 2;
  const auto plan_of = [&](unsigned tokens, std::size_t shared_bytes) {
    return tile_plan(
        num_tokens, vectors, tokens, shared_bytes, device,
        [&](const TilePlan& plan) { return MhcLayout(plan, num_streams).bytes; },
        ctas_of_fewer_tokens);
  };
  constexpr unsigned kUsual = kMhcUsualTiles * kTileColumns;
  const std::size_t half = device.shared_bytes_per_sm / 2 - kReservedSharedBytes;
  // Two CTAs per SM hide each other's phases. But if each then has fewer tokens, phi is fetched
  // more often, which costs more.
  const TilePlan two = plan_of(kUsual, half);
  const TilePlan one = plan_of(kUsual, device.shared_bytes_per_cta);
  const bool is_two = two.tokens_per_cluster >= one.tokens_per_cluster;
  const TilePlan usual = is_two ? two : one;
  const TilePlan larger =
      plan_of(MhcLayout::kMaxTokens, is_two ? half : device.shared_bytes_per_cta);
  if (larger.tokens_per_cluster < MhcLayout::kMaxTokens) return usual;
  const unsigned ctas_at_once = (is_two ? 2 : 1) * device.num_sms;
  return relative_time(larger, num_tokens, ctas_at_once) <
                 relative_time(usual, num_tokens, ctas_at_once)
             ? larger
             : usual;
}

/// Bytes on their way to a CTA: all streams of its tile, and the vectors of f that its threads
/// hold.
constexpr std::size_t mhc_bytes_in_flight(const TilePlan& plan, std::size_t num_streams,
                                          bool updates) {
  if (plan.variant == TileVariant::scalar) return bytes_in_flight(plan, 1);
  const std::size_t f =
      std::min<std::size_t>(plan.tokens_per_cluster * plan.padded_size * 2,
                            std::size_t{kMhcLayerOutputsInFlight} * kTileThreads * 16);
  return plan.tokens_per_cluster * plan.padded_size * 2 * num_streams + (updates ? f : 0);
}

/// The number of coefficients in H_post and H_res of a token.
constexpr double stored_coefficients(std::size_t m) { return count(m * m + m); }

/// In a tile the streams stay on chip between phi and the mix and are read once.
template <class T>
constexpr Descriptor descriptor(const MhcPre<T>& op, const DeviceLimits& device = {}) {
  const TilePlan plan =
      mhc_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size), op.num_streams, device);
  return {.operation = "mhc_pre",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"recent", count(op.num_streams), 0}, {"layer_input", 0, 1}}},
          .writes_scalars = stored_coefficients(op.num_streams),
          .bytes_in_flight_per_cta = mhc_bytes_in_flight(plan, op.num_streams, false)};
}

template <class T>
constexpr Descriptor descriptor(const MhcPost<T>& op) {
  const double m = count(op.num_streams);
  return {.operation = "mhc_post",
          .variant = "vectors",
          .skeleton = Skeleton::elementwise,
          .operands = {{{"layer_output", 1, 0}, {"streams", m, m}}},
          .reads_scalars = stored_coefficients(op.num_streams),
          .bytes_in_flight_per_cta =
              std::size_t{token_plan(vectors_of<T>(op.hidden_size)).threads_per_token} *
              (op.num_streams + 1) * 16};
}

template <class T>
constexpr Descriptor descriptor(const MhcBoundary<T>& op, const DeviceLimits& device = {}) {
  const double m = count(op.post.num_streams);
  const TilePlan plan = mhc_plan(op.post.num_tokens, tile_vectors_of<T>(op.post.hidden_size),
                                 op.post.num_streams, device);
  return {.operation = "mhc_boundary",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"layer_output", 1, 0}, {"streams", m, m}, {"layer_input", 0, 1}}},
          .reads_scalars = stored_coefficients(op.post.num_streams),
          .writes_scalars = stored_coefficients(op.post.num_streams),
          .bytes_in_flight_per_cta = mhc_bytes_in_flight(plan, op.post.num_streams, true)};
}

template <class T>
constexpr Descriptor descriptor(const SinglePassMhc<T>& op, const DeviceLimits& device = {}) {
  const double m = count(op.num_streams);
  const TilePlan plan =
      mhc_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size), op.num_streams, device);
  return {.operation = "single_pass_mhc",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"layer_output", 1, 0}, {"streams", m, m}, {"layer_input", 0, 1}}},
          .reads_scalars = stored_coefficients(op.num_streams) + m,
          .writes_scalars = stored_coefficients(op.num_streams) + m,
          .bytes_in_flight_per_cta = mhc_bytes_in_flight(plan, op.num_streams, true)};
}

}  // namespace depthcost::cuda
