// Visits every launch of a forward pass, layer by layer.
#pragma once

#include "model/ledger/ledger.hpp"

namespace depthcost {

/// Calls `visit(position)` for layers 1..L of a partition.
template <class Visit>
void each_layer(const Partition& partition, const Visit& visit) {
  for (Count block = 1; block <= partition.num_blocks; ++block)
    for (Count index = 1; index <= partition.size(block); ++index)
      visit(position(partition, block, index));
}

/// Calls `visit(at)` with the SchemeLayer of layers 1..L, in order.
template <class Visit>
void each_layer(const ResidualPath& path, const Visit& visit) {
  const SchemeParameters& parameters = path.scheme.parameters;
  if (const Partition* blocks = blocks_of(path.scheme)) {
    each_layer(*blocks, [&](const LayerPosition& at) {
      visit(SchemeLayer{parameters, at.layer, path.num_layers, at});
    });
    return;
  }
  for (Count layer = 1; layer <= path.num_layers; ++layer)
    visit(SchemeLayer{parameters, layer, path.num_layers});
}

/// Layer `layer` of the path, L + 1 being the output aggregation.
inline SchemeLayer layer_at(const ResidualPath& path, Count layer) {
  SchemeLayer at{path.scheme.parameters, layer, path.num_layers};
  if (const Partition* blocks = blocks_of(path.scheme); blocks != nullptr && layer <= at.num_layers)
    at.position = position_of_layer(*blocks, layer);
  return at;
}

/// The launches behind the last layer; none for schemes without an output aggregation.
inline Launches output_launches(const ResidualPath& path, Schedule schedule) {
  if (path.scheme.rule->output == nullptr) return {};
  return path.scheme.rule->output({path.scheme.parameters, path.num_layers, path.num_layers},
                                  schedule);
}

/// Calls `visit(layer, operation)` for every launch, attached as the path says; the output
/// aggregation comes last, as layer 0. `schedule` must be one of the scheme's.
template <class Visit>
void each_launch(const ResidualPath& path, Schedule schedule, const Visit& visit) {
  const auto visit_all = [&](Count layer, const Launches& launches) {
    Folding folding(path.attachment);
    for (const Operation& operation : launches) visit(layer, folding.folded(operation));
  };
  each_layer(path, [&](const SchemeLayer& at) {
    visit_all(at.layer, path.scheme.rule->operations(at, schedule));
  });
  visit_all(0, output_launches(path, schedule));
}

}  // namespace depthcost
