// Visits every layer of a scheme in order, without searching for its place.
#pragma once

#include "model/schemes/layer_operations.hpp"
#include "model/schemes/ledger.hpp"

namespace depthcost {

constexpr const Partition& partition_of(const FullAttnRes& scheme) { return scheme.groups; }
constexpr const Partition& partition_of(const BlockAttnRes& scheme) { return scheme.blocks; }

/// Calls `visit(position)` for layers 1..L.
template <class Visit>
void each_layer(const Partition& partition, const Visit& visit) {
  for (Count block = 1; block <= partition.num_blocks; ++block)
    for (Count index = 1; index <= partition.size(block); ++index)
      visit(position(partition, block, index));
}

/// Calls `visit(layer, operation)` for every launch, attached as the path says; the output
/// aggregation comes last, as layer 0.
template <class Visit>
void each_launch(const ResidualPath& path, Schedule schedule, const Visit& visit) {
  const auto at_layer = [&](Count layer, const auto& launches) {
    Folding folding(path.attachment);
    launches([&](const Operation& operation) { visit(layer, folding.folded(operation)); });
  };
  std::visit(
      [&]<class S>(const S& scheme) {
        if constexpr (requires { partition_of(scheme); })
          each_layer(partition_of(scheme), [&](const LayerPosition& at) {
            at_layer(at.layer,
                     [&](const auto& emit) { each_operation(scheme, schedule, at, emit); });
          });
        else
          for (Count layer = 1; layer <= path.num_layers; ++layer)
            at_layer(layer,
                     [&](const auto& emit) { each_operation(scheme, schedule, layer, emit); });
        at_layer(0, [&](const auto& emit) { each_output_operation(scheme, schedule, emit); });
      },
      path.scheme);
}

}  // namespace depthcost
