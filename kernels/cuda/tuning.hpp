// Launch and tuning constants of the CUDA kernels, in one table.
#pragma once

#include <cstddef>

namespace depthcost::cuda {

// Element by element, a CTA for each token: what runs where rows are not whole vectors.
inline constexpr unsigned kScalarThreads = 256;
inline constexpr unsigned kScalarWarps = kScalarThreads / 32;

// Elementwise additions.
inline constexpr unsigned kAddThreads = 256;
inline constexpr unsigned kAddVectors = 4;  // per thread, all in flight at once

// Streams of a token times a small matrix.
inline constexpr unsigned kMixThreads = 256;     // per token, at most
inline constexpr unsigned kMixCtaThreads = 128;  // at least; short rows share a CTA
inline constexpr unsigned kMixFewStreams = 4;    // in registers, as vectors
inline constexpr unsigned kMixManyStreams = 8;   // the same; more wait in shared memory
inline constexpr unsigned kMixWideThreads = 64;  // of the kernel for any number

// Rows that are reduced and written back, in registers in between where they fit.
inline constexpr unsigned kRowThreads = 1024;         // at most
inline constexpr unsigned kRowFewSlices = 2;          // vectors per thread
inline constexpr unsigned kRowManySlices = 4;         // the same, of rows that fill a CTA
inline constexpr std::size_t kRowManyVectors = 1024;  // more are a row that fills a CTA
inline constexpr unsigned kRowsPerCta = 4;            // of rows that fit a warp

// Rows that are combined from others and normalised in one scan.
inline constexpr unsigned kCombineThreads = 512;          // at most, of a row in registers
inline constexpr unsigned kCombineStreamedThreads = 256;  // of a row in two passes
inline constexpr unsigned kHcFewStreams = 4;              // the combined row fits into registers
inline constexpr unsigned kHcVectorStreams = 8;           // streams are read as vectors
inline constexpr unsigned kHcMostStreams = 32;            // that hc_boundary takes

// AltUp with LAuReL.
inline constexpr unsigned kAltupThreads = 256;
inline constexpr unsigned kAltupFewCopies = 4;    // in registers, as vectors
inline constexpr unsigned kAltupMostCopies = 15;  // with the squares, 16 sums of a thread
inline constexpr unsigned kAltupTokens = 4;       // of a CTA, which share LAuReL's matrices

/// A tile of attention over depth.
struct AttentionTile {
  unsigned rows;     // of the bank that are scored together, beside the newest source
  unsigned slices;   // vectors of a row in a thread
  unsigned threads;  // of a CTA, at most

  constexpr bool operator==(const AttentionTile&) const = default;
};
inline constexpr AttentionTile kSplitRow{.rows = 10, .slices = 1, .threads = 512};
/// Phase 2 without further rows has tokens for every SM, whose CTAs hide each other's latency.
inline constexpr AttentionTile kNewestAlone{.rows = 0, .slices = 2, .threads = 448};
/// Two CTAs of an SM hide each other's latency.
inline constexpr AttentionTile kSplitHeads{.rows = 4, .slices = 1, .threads = 448};
/// The warp that copies is one of the threads.
inline constexpr AttentionTile kRowRing{.rows = 5, .slices = 2, .threads = 512};
inline constexpr std::size_t kMaxRingSlots = 64;
inline constexpr std::size_t kRingRegistersPerThread = 128;  // at most, by its launch bounds

// Tiles for tensor cores.
inline constexpr unsigned kTileThreads = 256;
inline constexpr unsigned kPhase1Tiles = 8;   // 64 columns: tokens times sources in whole tiles
inline constexpr unsigned kPhase1Chunk = 64;  // elements of d that a warp mixes at once
inline constexpr unsigned kPhase1LoadsInFlight = 8;      // vectors per thread
inline constexpr unsigned kMhcTiles = 3;                 // at most 24 columns: tokens
inline constexpr unsigned kMhcUsualTiles = 2;            // where three do not fit or leave SMs idle
inline constexpr unsigned kMhcLayerOutputsInFlight = 4;  // vectors of f per thread
/// Tokens that take as long as phi and the exchange of a tile: 8.4 and 2 us against 0.6. [ours],
/// from bytes, in kernels/cuda/TRIALS.md.
inline constexpr unsigned kMhcTokensLikePhi = 17;

// Rows of a matrix that a warp holds in registers.
inline constexpr unsigned kHeldSteps = 10;                 // of 32 elements
inline constexpr unsigned kHeldColumns = 32 * kHeldSteps;  // Qwen3.8-Flash-Next has rank 320

// Gated Residual.
inline constexpr unsigned kGateStreams = 4;    // at most, on tensor cores
inline constexpr unsigned kGateTiles = 8;      // 64 columns: tokens of cluster_tile
inline constexpr unsigned kGateWarpTiles = 3;  // of 16 rows, that a warp of it adds up at once
inline constexpr unsigned kGateRows = kGateWarpTiles * 8 * 16;  // at most, of eight warps
inline constexpr unsigned kGateGroupRows = 16;                  // of a cluster of split_rows
inline constexpr unsigned kGateSplitTokens = 64;                // that meet them at once
inline constexpr unsigned kGateSplitThreads = 128;
inline constexpr unsigned kGateMixTokens = 32;   // of a tile of the second pass
inline constexpr unsigned kGateMixElements = 4;  // of x that a warp has, of each of four streams
inline constexpr unsigned kGateMixWarps = 8;
inline constexpr unsigned kGateMixFewWarps = 4;

// Backward kernels.
inline constexpr unsigned kBackwardThreads = 512;          // of a CTA, at most
inline constexpr unsigned kBackwardStreamedThreads = 256;  // of one that keeps nothing
inline constexpr unsigned kBackwardElements = 16;          // of a row, that a thread holds
inline constexpr unsigned kBackwardScored = 3;     // sources whose three sums are added up at once
inline constexpr unsigned kBackwardMet = 8;        // sources with one sum
inline constexpr unsigned kBackwardLeft = 2;       // sources whose gradients are made at once
inline constexpr unsigned kPreBackwardTokens = 4;  // that share each element of phi
inline constexpr unsigned kPreBackwardRows = 8;    // of phi, that meet them at once
inline constexpr unsigned kBoundaryThreads = 128;  // whose dX' waits in shared memory
inline constexpr unsigned kBoundaryElements = 4;   // of a row: 8 do not fit beside the products
inline constexpr unsigned kPhiThreads = 256;       // of the product that makes dphi
inline constexpr unsigned kPhiColumns = 4;         // of a thread
inline constexpr unsigned kPhiRows = 24;           // all of them with four streams
inline constexpr unsigned kPhiTokens = 32;         // whose dz wait in shared memory

// Sinkhorn's iteration, a matrix for each thread.
inline constexpr unsigned kSinkhornThreads = 128;

// Eager launches.
inline constexpr unsigned kEagerThreads = 256;
inline constexpr unsigned kStackVectors = 4;  // per thread, all in flight at once
inline constexpr unsigned kScoreVectors = 4;
inline constexpr unsigned kMixVectors = 8;
inline constexpr unsigned kElementwiseVectors = 4;  // per thread and input
inline constexpr unsigned kProductWarps = 4;        // of 16 rows of a matrix each
inline constexpr unsigned kProductThreads = kProductWarps * 32;
inline constexpr unsigned kProductTokens = 64;  // that meet them
inline constexpr unsigned kProductPiece = 64;   // elements of a token in shared memory at a time

}  // namespace depthcost::cuda
