// How long a transfer between nodes takes where nobody has measured it: what was measured inside a
// node, and what the network between nodes must carry. REFERENCES.md, "links between nodes".
#pragma once

#include <optional>

#include "model/machine/machine.hpp"

namespace depthcost {

/// Share of a network adapter's datasheet rate that transfers reach.
inline constexpr Estimate<double> kNetworkEfficiency{0.50, 0.80, 0.95, Evidence::assumed};

/// A link of which nobody has measured what transfers take: so many bytes at that share of its
/// rate.
Estimate<Seconds> time_over(BytesPerSecond link, Bytes bytes);

/// A round of messages between nodes, whatever their bytes.
inline constexpr Estimate<Seconds> kNetworkRound{{5e-6}, {12e-6}, {30e-6}, Evidence::assumed};

/// Seconds for `size` bytes among `num_ranks` devices in nodes as full as each other. Every device
/// has an adapter of its own. At the low end messages inside and between nodes hide each other; at
/// the value their bytes do, but not their latencies; at the high end nothing does. Nothing where
/// the machine lacks `network_bandwidth` or that kind of transfer inside a node.
std::optional<Estimate<Seconds>> derived_network_time(const Machine& machine, TransferKind kind,
                                                      Count num_ranks, Bytes size);

}  // namespace depthcost
