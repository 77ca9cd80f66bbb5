// The memory access cost as the paper prints it: [attnres] Table 1, per token and layer. The
// AttnRes rows are amortised over a block, and are not what a kernel moves: REFERENCES.md,
// "conventions".
#pragma once

#include "model/base/traffic.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// Residual merge: reads 2d, writes d. [attnres] Table 1, row "Standard".
constexpr Traffic table1_traffic(const Standard&) { return {.reads_d = 2, .writes_d = 1}; }

/// Reads (5m+1) d + m^2 + 2m, writes (3m+1) d + m^2 + 2m: five kernels, no fusion.
/// [attnres] Table 1, row "mHC"; the same row as [mhc] Table 2.
constexpr Traffic table1_traffic(const Mhc& scheme) {
  const double m = static_cast<double>(scheme.num_streams);
  return {.reads_d = 5 * m + 1,
          .writes_d = 3 * m + 1,
          .reads_scalars = m * m + 2 * m,
          .writes_scalars = m * m + 2 * m};
}

/// Reads (N-1) d + (S-1) d, writes 2 d, with S = L/N. [attnres] Table 1, row "Full".
constexpr Traffic table1_traffic(const FullAttnRes& scheme) {
  const double N = static_cast<double>(scheme.groups.num_blocks);
  const double S = static_cast<double>(scheme.groups.num_layers) / N;
  return {.reads_d = (N - 1) + (S - 1), .writes_d = 2};
}

/// Reads (N/S + 3) d, writes 2 d, with S = L/N. [attnres] Table 1, row "Block".
constexpr Traffic table1_traffic(const BlockAttnRes& scheme) {
  const double N = static_cast<double>(scheme.blocks.num_blocks);
  const double S = static_cast<double>(scheme.blocks.num_layers) / N;
  return {.reads_d = N / S + 3, .writes_d = 2};
}

}  // namespace depthcost
