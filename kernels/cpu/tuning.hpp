// Tile sizes and limits of the CPU kernels, in one table. [ours]: chosen by our own measurements.
#pragma once

#include <cstddef>

namespace depthcost::cpu {

inline constexpr std::size_t kLineBytes = 64;

/// Traffic that is worth a thread: starting one costs about as much as moving this. [ours]
inline constexpr std::size_t kBytesPerThread = std::size_t{128} << 10;

/// Outputs of this size or more bypass the caches: they would leave L2 before anybody reads them.
/// From DRAM streaming stores gain 1.26-1.41x, from L2 they lose 2x. [ours]
inline constexpr std::size_t kStreamBytes = std::size_t{4} << 20;

/// How far ahead of its use a line is asked for where data streams through: enough for the latency
/// of memory, and little of L1. Without, arithmetic on bf16 fills the scheduler before enough loads
/// are under way: 17.4 GB/s in place of 22.8 on Sapphire Rapids. f32 computes less for each line:
/// on Granite Rapids h + f reaches 27 GB/s, and 20 where it asks as early as bf16, which loses 6 %
/// where it asks as late. [ours]
constexpr std::size_t near_bytes(std::size_t element_bytes) {
  return element_bytes == 4 ? 2048 : 3072;
}

/// How far ahead Zen 4 asks, into L2, where arithmetic stands between loads. Its add and norm in
/// bf16 goes from 0.69 to 0.91 of its ceiling, dense mixes from 0.64 to 0.93, add and norm backward
/// from 0.52 to 0.80. Zen 5 loses 5 to 29 %, and other CPUs were not tried: they ask near_bytes
/// ahead. So do copies and plain sums, which lose a fifth on Zen 4, too. [ours]
inline constexpr std::size_t kFarBytes = 8192;

/// How far ahead a line is asked for where updates bypass the caches (store_policy.hpp). Of 2048 to
/// 8192 it is the best on Zen 5; where updates stay in the caches it loses 10 %. [ours]
inline constexpr std::size_t kUpdateBytes = 4096;

/// How far ahead a line is asked for that waits in L2. [ours]
inline constexpr std::size_t kFromL2Bytes = 256;

/// The same where several sources are read side by side, which keep each line waiting. [ours]
inline constexpr std::size_t kSourceFromL2Bytes = 1024;

/// Residual scaling: from so many tokens on, its two shifts are added up once for all tokens.
/// [ours]
inline constexpr std::size_t kShiftTokens = 8;

/// Columns of Phase 1 whose 24 queries or 24 sources fit into 32 KiB of L1. [ours]
inline constexpr std::size_t kPhase1Columns = 512;
/// Tokens that share each chunk of the queries: 24 of them alone fill a third of L2. [ours]
inline constexpr std::size_t kPhase1Tokens = 2;

/// Columns of Phase 1's backward pass. [ours]
inline constexpr std::size_t kPhase1BackwardColumns = 128;

/// Columns of the single pass backward that all sources meet while these are in L1. [ours]
inline constexpr std::size_t kSinglePassBackwardColumns = 512;

/// Phase 2 with up to so many further sources, beside b and o, mixes h twice instead of storing it.
inline constexpr std::size_t kFewFurtherSources = 1;

/// Tokens that share each chunk of phi: enough that phi costs less traffic than the streams. [ours]
inline constexpr std::size_t kMhcTokens = 96;
/// Columns of a chunk, of each stream. [ours]
inline constexpr std::size_t kMhcColumns = 128;
/// Tokens of a tile whose chunks are widened at a time, and are in L1 when they meet phi. [ours]
inline constexpr std::size_t kMhcRows = 8;

/// Gated Residual: tokens that share each block of a matrix, and the rows of such a block.
struct GateTile {
  std::size_t num_tokens;
  std::size_t num_rows;
};
/// Of long rows, as of D: a block and the tokens' columns of it stay in L2. [ours]
inline constexpr GateTile kGateDownTile{64, 64};
/// Of short rows, as of U, which would be read too often otherwise. [ours]
inline constexpr GateTile kGateUpTile{128, 128};
/// Vectors: rows and columns that are widened at a time. [ours]
inline constexpr std::size_t kGateRows = 64;
inline constexpr std::size_t kGateColumns = 1024;
/// Up to so many columns are a short row. Vectors meet such rows as panels. [ours]
inline constexpr std::size_t kGateShortRow = 512;
/// Columns of a panel that stay in L1 while the tokens meet them. [ours]
inline constexpr std::size_t kGatePanelColumns = 128;

/// LAuReL: so many tokens are worth packing its matrices. [ours]
inline constexpr std::size_t kLaurelManyTokens = 32;
/// Rows of a matrix whose products with fewer tokens wait together. [ours]
inline constexpr std::size_t kLaurelRows = 96;
/// Vectors: tokens of a tile, which share each panel of the matrices. At d = 7168 L2 holds half as
/// many. More tokens are faster all the same, since the panels are read less often. [ours]
inline constexpr std::size_t kLaurelTokens = 48;
/// Columns of L that the tokens meet before the next. Their panel comes from L2. Fewer columns
/// would fit into L1, but then more sums would end, and products wait for the end of a sum. [ours]
inline constexpr std::size_t kLaurelColumns = 512;
/// Matrix units: tokens that share the columns of both matrices, which stay in L2. [ours]
inline constexpr std::size_t kLaurelTileTokens = 64;
/// Columns of L whose parts the tokens meet before the next. [ours]
inline constexpr std::size_t kLaurelTileColumns = 256;

/// Panels: columns from one step of the work beside products to the next. Memory has time enough,
/// and a token's blocks are done before its products are. [ours]
inline constexpr std::size_t kColumnsPerStep = 4;

// What fits into registers of `lanes` floats: 32 of AVX-512, 16 of smaller targets.

/// Rows that are scored together.
constexpr std::size_t num_scored_rows(std::size_t lanes) { return lanes >= 16 ? 8 : 4; }
/// Queries of Phase 1 that are mixed together.
constexpr std::size_t num_mixed_queries(std::size_t lanes) { return lanes >= 16 ? 4 : 2; }
/// Rows and parameter rows of a projection's tile: 4 x 6 sums, 4 rows and a parameter fill 29
/// registers of 32; 2 x 3 suit 16.
constexpr std::size_t num_tile_rows(std::size_t lanes) { return lanes >= 16 ? 4 : 2; }
constexpr std::size_t num_tile_parameters(std::size_t lanes) { return lanes >= 16 ? 6 : 3; }
/// Single pass backward: sources whose dot products are taken together, or which are held with the
/// products of their mix, and sources whose gradients are made together.
constexpr std::size_t num_held_sources(std::size_t lanes) { return lanes >= 16 ? 9 : 4; }
constexpr std::size_t num_left_sources(std::size_t lanes) { return lanes >= 16 ? 5 : 4; }
/// AltUp: dot products with the router's rows that are summed together, in pairs of registers.
constexpr std::size_t num_router_sums(std::size_t lanes) { return lanes >= 16 ? 8 : 4; }
/// Vectors of a panel's column: with six rows 6 x 4 sums, 4 columns and a number fill 29 registers
/// of 32; 6 x 2 suit 16.
constexpr std::size_t num_panel_vectors(std::size_t lanes) { return lanes >= 16 ? 4 : 2; }

}  // namespace depthcost::cpu
