// Bytes of one adapter and rounds between nodes, kind by kind.
#include "model/machine/node_crossing.hpp"

#include <algorithm>
#include <cmath>

namespace depthcost {
namespace {

/// Devices of a group, spread over as few nodes as hold them; the two of a send lie apart.
struct Nodes {
  double count = 1;
  Count ranks_each = 1;
};

Nodes nodes_of(const Machine& machine, TransferKind kind, Count num_ranks) {
  if (kind == TransferKind::send) return {2, 1};
  const Count per_node = machine.devices_per_node;
  const Count nodes = divided_up(num_ranks, per_node);
  return {as_double(nodes), divided_up(num_ranks, nodes)};
}

/// What a collective sends besides what it does inside a node. Each device of a node holds the part
/// of the vector that it exchanges with its peers in other nodes.
struct Crossing {
  double share = 1;         // of `size` that leaves an adapter
  double inside_share = 0;  // of `size` that a collective of that kind moves inside each node
  Estimate<double> rounds;  // between nodes, one after another
};

double rounds_of_a_tree(const Nodes& nodes) { return std::ceil(std::log2(nodes.count)); }

/// Every device sends to every other: S / n each, all at once, or at worst in as many rounds as a
/// tree has.
///   between nodes (k - 1) / k of S, inside a node the rest
Crossing scattered(const Nodes& nodes) {
  const double k = nodes.count;
  return {(k - 1) / k, 1 / k, {1, 1, rounds_of_a_tree(nodes)}};
}

/// A tree has log2(k) rounds, a ring k - 1.
///   (k - 1) / k of S / g
Crossing gathered(const Nodes& nodes) {
  const double k = nodes.count;
  const double tree = rounds_of_a_tree(nodes);
  return {(k - 1) / k / as_double(nodes.ranks_each), 1, {tree, tree, k - 1}};
}

Crossing crossing_of(TransferKind kind, const Nodes& nodes) {
  switch (kind) {
    case TransferKind::send:
      return {1, 0, {1, 1, 1}};
    case TransferKind::all_to_all:
      return scattered(nodes);
    case TransferKind::all_gather:
    case TransferKind::reduce_scatter:
      return gathered(nodes);
    case TransferKind::all_reduce: {
      const Crossing half = gathered(nodes);
      return {2 * half.share, 1, 2 * half.rounds};
    }
  }
  return {};
}

}  // namespace

Estimate<Seconds> time_over(BytesPerSecond link, Bytes bytes) {
  return {bytes / (kNetworkEfficiency.high * link), bytes / (kNetworkEfficiency.value * link),
          bytes / (kNetworkEfficiency.low * link), Evidence::assumed};
}

std::optional<Estimate<Seconds>> derived_network_time(const Machine& machine, TransferKind kind,
                                                      Count num_ranks, Bytes size) {
  if (!machine.network_bandwidth) return std::nullopt;
  const Nodes nodes = nodes_of(machine, kind, num_ranks);
  if (nodes.count < 2) return std::nullopt;
  const Crossing crossing = crossing_of(kind, nodes);
  const auto inside_of = [&](Bytes bytes) {
    const Count ranks = crossing.inside_share > 0 ? nodes.ranks_each : 1;
    return transfer_time(machine, kind, TransferScope::node, ranks, bytes);
  };
  const auto inside = inside_of(crossing.inside_share * size);
  const auto latency = inside_of(Bytes{});
  if (!inside || !latency) return std::nullopt;
  const Bytes sent = crossing.share * size;
  const auto wire = [&](double efficiency) {
    return sent / (efficiency * *machine.network_bandwidth);
  };
  const Seconds first = std::min(latency->value, inside->value);
  return Estimate<Seconds>{
      std::max(inside->low,
               crossing.rounds.low * kNetworkRound.low + wire(kNetworkEfficiency.high)),
      first + crossing.rounds.value * kNetworkRound.value +
          std::max(inside->value - first, wire(kNetworkEfficiency.value)),
      inside->high + crossing.rounds.high * kNetworkRound.high + wire(kNetworkEfficiency.low),
      Evidence::assumed};
}

}  // namespace depthcost
