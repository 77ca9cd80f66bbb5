// The variants of Phase 1: which one runs, where things lie in the shared memory of a CTA, and what
// moves.
#pragma once

#include "kernels/cuda/attnres/newest_traffic.hpp"
#include "kernels/operations/attnres.hpp"

namespace depthcost::cuda {

/// The shared memory of a CTA: some tokens with all their sources, a column each.
struct Phase1Layout {
  static constexpr unsigned kMaxTiles = kPhase1Tiles;
  static constexpr unsigned kWeightRow = kTileRows + 8;  // four columns' weights meet other banks

  unsigned num_tokens = 0;         // of the tile
  unsigned columns_per_token = 0;  // its sources, rounded up to whole tiles
  unsigned num_columns = 0;
  unsigned padded_size = 0;
  unsigned owned_columns = 0;  // of the tokens that a rank owns, at most
  std::size_t column_bytes = 0;
  std::size_t partial = 0;   // sums of each warp; later query 1's mix, (tokens, padded_size)
  std::size_t received = 0;  // the owned columns' sums of each rank
  std::size_t weights = 0;   // (columns, kWeightRow)
  std::size_t squares = 0;   // of query 1's mix: (ranks, tokens)
  std::size_t bytes = 0;

  constexpr Phase1Layout(const TilePlan& plan, std::size_t num_sources)
      : num_tokens(plan.tokens_per_cluster),
        columns_per_token(static_cast<unsigned>(round_up(num_sources, kTileColumns))),
        num_columns(num_tokens * columns_per_token),
        padded_size(plan.padded_size),
        owned_columns(static_cast<unsigned>(ceil_div(num_tokens, plan.cluster_size)) *
                      columns_per_token),
        column_bytes(bytes_of_column(padded_size)) {
    const std::size_t sums = num_columns * kValuesPerColumn * sizeof(float);
    partial = num_columns * column_bytes;
    received = partial + std::max(kTileWarps * sums, num_tokens * padded_size * sizeof(float));
    weights = received + plan.cluster_size * owned_columns * kValuesPerColumn * sizeof(float);
    squares = weights + num_columns * kWeightRow * sizeof(float);
    bytes = squares + plan.cluster_size * num_tokens * sizeof(float);
  }
};

/// `vectors` is the number of vectors of a row in bf16, 0 if they cannot be used.
constexpr TilePlan phase1_plan(std::size_t num_tokens, std::size_t vectors, std::size_t num_sources,
                               const DeviceLimits& device) {
  constexpr std::size_t kMaxColumns = Phase1Layout::kMaxTiles * kTileColumns;
  if (num_sources == 0 || num_sources > kMaxColumns) return {};
  const auto max_tokens = static_cast<unsigned>(kMaxColumns / round_up(num_sources, kTileColumns));
  return tile_plan(num_tokens, vectors, max_tokens, device.shared_bytes_per_cta, device,
                   [&](const TilePlan& plan) { return Phase1Layout(plan, num_sources).bytes; });
}

template <class T, class O>
constexpr Descriptor descriptor(const AttnResPhase1<T, O>& op, const DeviceLimits& device = {}) {
  const bool closes = op.layer_output != nullptr;
  const TilePlan plan = phase1_plan(op.num_tokens, tile_vectors_of<T>(op.hidden_size),
                                    op.num_bank_sources + (closes ? 1 : 0), device);
  const NewestTraffic newest = newest_traffic(op.partial_sum != nullptr, closes);
  const double stored = count(op.num_queries) - 1;
  return {.operation = "attnres_phase1",
          .variant = name(plan.variant),
          .skeleton = skeleton_of(plan.cluster_size),
          .operands = {{{"bank", count(op.num_bank_sources), closes ? 1.0 : 0.0},
                        newest.partial_sum,
                        newest.layer_output,
                        {"layer_input", 0, 1},
                        {"phase1_output", 0, stored}}},
          .writes_scalars = 2 * stored,
          .bytes_in_flight_per_cta = bytes_in_flight(plan, kPhase1LoadsInFlight)};
}

}  // namespace depthcost::cuda
