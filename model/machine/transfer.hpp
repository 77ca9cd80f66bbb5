// What it takes to move bytes between devices, from measured points: sends and collectives.
// REFERENCES.md, "intervals" and "rest of the step".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/evidence.hpp"
#include "model/base/transfer_kind.hpp"
#include "model/base/units.hpp"

namespace depthcost {

/// The slowest link that is crossed: inside a node (scale-up), or between nodes.
enum class TransferScope : std::uint8_t { node, network };

/// Half-width of the interval of a transfer that was measured on the part itself. REFERENCES.md,
/// "intervals".
inline constexpr double kTransferScatter = 0.10;

/// One measurement. `size` as nccl-tests count it: the whole vector that is reduced, gathered or
/// scattered, on one rank; of a send the message.
struct TransferPoint {
  TransferKind kind = TransferKind::send;
  TransferScope scope = TransferScope::node;
  Count num_ranks = 2;
  Bytes size;
  Estimate<Seconds> time;
};

/// Seconds for `size` bytes: the straight line between the two measured sizes around it, the
/// outermost slope beyond them, and below the smallest its time; no longer than a larger size.
/// Between two measured numbers of ranks a straight line again, since latency grows by a hop for
/// each. Beyond them assumed: the share of bytes that a rank moves, with a latency that grows as
/// this share or as the rounds of a tree. Nothing where that kind and scope have not been measured
/// at all; zero for a rank by itself. Sizes, times > 0; ranks of points >= 2.
std::optional<Estimate<Seconds>> transfer_time(const std::vector<TransferPoint>& points,
                                               TransferKind kind, TransferScope scope,
                                               Count num_ranks, Bytes size);

}  // namespace depthcost
