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
    bytes = exchange + kExchangeFloats * sizeof(float);
  }
};

constexpr TilePlan mhc_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_streams,
                            const DeviceLimits& device) {
  if (num_streams > MhcLayout::kMaxStreams) return {};
  const auto plan_within = [&](std::size_t shared_bytes) {
    return tile_plan(num_tokens, vectors, MhcLayout::kMaxTokens, shared_bytes, device,
                     [&](const TilePlan& plan) { return MhcLayout(plan, num_streams).bytes; });
  };
  // Two CTAs per SM hide each other's phases. But if each then has fewer tokens, phi is fetched
  // more often, which costs more.
  const TilePlan two = plan_within(device.shared_bytes_per_sm / 2 - kReservedSharedBytes);
  const TilePlan one = plan_within(device.shared_bytes_per_cta);
  return two.tokens_per_cluster >= one.tokens_per_cluster ? two : one;
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
          .bytes_in_flight_per_cta = bytes_in_flight(plan, op.num_streams)};
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
          .bytes_in_flight_per_cta = bytes_in_flight(plan, op.post.num_streams + 1)};
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
          .bytes_in_flight_per_cta = bytes_in_flight(plan, op.num_streams + 1)};
}

}  // namespace depthcost::cuda
