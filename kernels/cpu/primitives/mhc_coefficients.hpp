// Coefficients of mHC for a tile of tokens: Eq. 7-8 of arXiv:2512.24880v2.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_COEFFICIENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_COEFFICIENTS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_COEFFICIENTS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_COEFFICIENTS
#endif

#include "kernels/cpu/primitives/projection.hpp"
#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/score.hpp"
#include "kernels/cpu/primitives/sigmoid.hpp"
#include "kernels/cpu/primitives/sinkhorn.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"
#include "kernels/cpu/tuning.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// Where coefficients go. H_pre of token t is row `t - first token of the tile + first_pre_token`.
struct MhcOutputs {
  float* pre = nullptr;
  std::size_t first_pre_token = 0;
  float* post = nullptr;
  float* residual = nullptr;
};

/// z -> H_pre, H_post, H_res, in place, for kLanes tokens: row r of lane i at r * kLanes + i.
inline void coefficients_from(float* z, std::size_t m, const MhcMapping& mapping) {
  const std::size_t num_rows = m * (m + 2);
  for (std::size_t r = 0; r < num_rows; ++r) {
    const std::size_t part = std::min(r / m, std::size_t{2});
    const Vec logit = hn::MulAdd(broadcast(mapping.scales[part]), load_vec(z + r * kLanes),
                                 broadcast(mapping.bias[r]));
    Vec result = logit;
    if (part == 0) result = sigmoid(logit);
    if (part == 1) result = hn::Mul(broadcast(2), sigmoid(logit));
    hn::StoreU(result, Lanes(), z + r * kLanes);
  }
  sinkhorn_of_logits(z + 2 * m * kLanes, m, mapping.iterations, mapping.order);
}

/// Scratch for a tile of tokens.
struct MhcWorkspace {
  Buffer<float> chunk;    // (kMhcRows, m, kMhcColumns)
  Buffer<float> squares;  // (tokens) pairs
  Buffer<float> dots;     // (tokens, m m + 2 m) vectors
  Buffer<float> lanes;    // (m m + 2 m) vectors
  Buffer<float> pre;      // (tokens, m)
  Buffer<float> mixed;    // h
  Buffer<float> phi;      // (m m + 2 m, m, kMhcColumns)
  Buffer<const char*> next_rows;
};

/// A tile's arguments and scratch.
struct MhcTile {
  std::size_t first_token = 0;
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  std::size_t num_streams = 0;
  const MhcMapping& mapping;
  MhcOutputs outputs;
  float* chunk = nullptr;
  float* squares = nullptr;
  float* dots = nullptr;
  float* lanes = nullptr;
  float* phi = nullptr;
  const char** next_rows = nullptr;
};

HWY_INLINE MhcTile mhc_tile(MhcWorkspace& workspace, std::size_t hidden_size,
                            std::size_t num_streams, const MhcMapping& mapping,
                            MhcOutputs outputs) {
  const std::size_t num_rows = num_streams * (num_streams + 2);
  if (outputs.pre == nullptr) outputs.pre = workspace.pre.at_least(kMhcTokens * num_streams);
  return {.hidden_size = hidden_size,
          .num_streams = num_streams,
          .mapping = mapping,
          .outputs = outputs,
          .chunk = workspace.chunk.at_least(kMhcRows * num_streams * kMhcColumns),
          .squares = workspace.squares.at_least(kMhcTokens * kBlock),
          .dots = workspace.dots.at_least(kMhcTokens * num_rows * kLanes),
          .lanes = workspace.lanes.at_least(num_rows * kLanes),
          .phi = workspace.phi.at_least(num_rows * num_streams * kMhcColumns),
          .next_rows = workspace.next_rows.at_least(kMhcTokens * (num_streams + 1))};
}

/// Aims the fetcher at columns that a source reads next, while the chunk before them is projected.
template <class Source>
HWY_INLINE void aim_at_columns(const MhcTile& tile, const Source& source, std::size_t column,
                               Fetcher& fetcher) {
  const std::size_t size = std::min(kMhcColumns, tile.hidden_size - column);
  std::size_t num_rows = 0;
  for (std::size_t i = 0; i < tile.num_tokens; ++i)
    num_rows += source.rows(tile.first_token + i, column, tile.next_rows + num_rows);
  fetcher.aim(tile.next_rows, num_rows, size * Source::kElementBytes,
              num_tiles(tile.num_tokens, tile.num_streams * (tile.num_streams + 2)));
}

/// A source that could fetch columns itself does nothing: aim_at_columns has fetched them.
inline constexpr auto fetched = [](std::size_t, std::size_t) {};

/// A copy of phi's columns: its own rows, often a multiple of 4 KiB apart, would compete for a few
/// sets of L1.
HWY_INLINE void copy_phi(const MhcTile& tile, std::size_t column, std::size_t size) {
  const std::size_t m = tile.num_streams;
  for (std::size_t segment = 0; segment < m * m * (m + 2); ++segment)
    for_each_block(size, [&](std::size_t i, auto where) HWY_ATTR {
      const float* p = tile.mapping.phi + segment * tile.hidden_size + column + i;
      store_raw(tile.phi + segment * kMhcColumns + i, load(p, where));
      prefetch(p + kMhcColumns);
    });
}

/// phi . vec(X) and vec(X)^2 of the tile, as vectors of partial sums. Column chunks go outermost:
/// phi is larger than L2 for all but narrow models, and each chunk of it serves the whole tile.
/// The source's fill(token, column, size, chunk) leaves columns of the token's m streams in the
/// chunk, in order and kMhcColumns apart, and returns their squares; its rows(token, column, rows)
/// lists what that reads.
template <class Source>
HWY_INLINE void project_tile_of_tokens(const MhcTile& tile, const Source& source) {
  const std::size_t m = tile.num_streams;
  const std::size_t d = tile.hidden_size;
  const std::size_t num_rows = m * (m + 2);
  std::fill_n(tile.squares, tile.num_tokens * kBlock, 0.0F);
  std::fill_n(tile.dots, tile.num_tokens * num_rows * kLanes, 0.0F);
  for (std::size_t column = 0; column < d; column += kMhcColumns) {
    const std::size_t size = std::min(kMhcColumns, d - column);
    copy_phi(tile, column, size);
    Fetcher fetcher;
    if (column + size < d) aim_at_columns(tile, source, column + size, fetcher);
    for (std::size_t first = 0; first < tile.num_tokens; first += kMhcRows) {
      const std::size_t count = std::min(kMhcRows, tile.num_tokens - first);
      for (std::size_t i = 0; i < count; ++i) {
        float* sums = tile.squares + (first + i) * kBlock;
        const Pair squares = source.fill(tile.first_token + first + i, column, size,
                                         tile.chunk + i * m * kMhcColumns);
        store_raw(sums, squares + load_raw(sums));
      }
      project({.rows = tile.chunk,
               .num_rows = count,
               .row_stride = m * kMhcColumns,
               .row_segment_stride = kMhcColumns,
               .parameters = tile.phi,
               .num_parameters = num_rows,
               .parameter_stride = m * kMhcColumns,
               .parameter_segment_stride = kMhcColumns,
               .num_segments = m,
               .size = size,
               .sums = tile.dots + first * num_rows * kLanes,
               .fetcher = &fetcher});
    }
  }
}

/// Coefficients of up to kLanes tokens, from the tile's `first` on.
inline void store_lanes(const MhcTile& tile, std::size_t first) {
  const std::size_t m = tile.num_streams;
  const std::size_t num_rows = m * (m + 2);
  const std::size_t count = std::min(kLanes, tile.num_tokens - first);
  std::fill_n(tile.lanes, num_rows * kLanes, 0.0F);
  for (std::size_t lane = 0; lane < count; ++lane) {
    const float squares = sum(load_raw(tile.squares + (first + lane) * kBlock));
    const double scale = inverse_rms(squares, m * tile.hidden_size, tile.mapping.eps);
    for (std::size_t r = 0; r < num_rows; ++r) {
      const float dot = sum(load_vec(tile.dots + ((first + lane) * num_rows + r) * kLanes));
      tile.lanes[r * kLanes + lane] = static_cast<float>(scale * static_cast<double>(dot));
    }
  }
  coefficients_from(tile.lanes, m, tile.mapping);
  for (std::size_t lane = 0; lane < count; ++lane) {
    const std::size_t token = first + lane;
    const std::size_t stored = tile.first_token + token;
    for (std::size_t r = 0; r < num_rows; ++r) {
      const float value = tile.lanes[r * kLanes + lane];
      if (r < m)
        tile.outputs.pre[(tile.outputs.first_pre_token + token) * m + r] = value;
      else if (r < 2 * m)
        tile.outputs.post[stored * m + r - m] = value;
      else
        tile.outputs.residual[stored * m * m + r - 2 * m] = value;
    }
  }
}

/// Calls run(first, count) for tile after tile.
template <class Run>
HWY_INLINE void for_each_tile(TokenRange tokens, const Run& run) {
  for (std::size_t first = tokens.begin; first < tokens.end; first += kMhcTokens)
    run(first, std::min(kMhcTokens, tokens.end - first));
}

inline void store_coefficients(const MhcTile& tile) {
  for (std::size_t first = 0; first < tile.num_tokens; first += kLanes) store_lanes(tile, first);
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_COEFFICIENTS
