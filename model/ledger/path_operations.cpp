// Collects what a walk over the layers emits.
#include "model/ledger/path_operations.hpp"

#include <algorithm>
#include <map>

#include "model/ledger/launches.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// Layers 3..size of a block launch the same, since the partial sum is read and written in all.
std::vector<CountedOperation> of_blocks(const ResidualPath& path, const Partition& blocks,
                                        Schedule schedule) {
  std::vector<CountedOperation> counted;
  const auto push = [&](const Launches& launches, Count calls) {
    for (const Operation& operation : launches)
      counted.push_back({attached(operation, path.attachment), calls});
  };
  for (Count block = 1; block <= blocks.num_blocks; ++block) {
    const Count size = blocks.size(block);
    for (Count index = 1; index <= std::min<Count>(size, 3); ++index) {
      const LayerPosition at = position(blocks, block, index);
      const SchemeLayer layer{path.scheme.parameters, at.layer, path.num_layers, at};
      push(path.scheme.rule->operations(layer, schedule), index < 3 ? 1 : size - 2);
    }
  }
  push(output_launches(path, schedule), 1);
  return counted;
}

}  // namespace
std::vector<CountedOperation> distinct_operations(const ResidualPath& path, Schedule schedule) {
  std::vector<CountedOperation> distinct;
  std::map<Operation, std::size_t> place;
  each_launch(path, schedule, [&](Count, const Operation& operation) {
    const auto [entry, is_new] = place.try_emplace(operation, distinct.size());
    if (is_new) distinct.push_back({operation, 0});
    ++distinct[entry->second].calls;
  });
  return distinct;
}

std::vector<PlacedOperation> all_operations(const ResidualPath& path, Schedule schedule) {
  std::vector<PlacedOperation> placed;
  placed.reserve(static_cast<std::size_t>(path.num_layers) * 2);
  each_launch(path, schedule, [&](Count layer, const Operation& operation) {
    placed.push_back({layer, operation});
  });
  return placed;
}

double bank_age(const Scheme& scheme, Schedule schedule) {
  if (schedule != Schedule::two_phase) return 1;
  const Partition* blocks = blocks_of(scheme);
  return blocks == nullptr ? 1 : static_cast<double>(largest_block(*blocks));
}

std::vector<CountedOperation> operations_by_block(const ResidualPath& path, Schedule schedule) {
  // Full AttnRes has more sources at every layer.
  if (const Partition* blocks = attnres_blocks(path.scheme))
    return of_blocks(path, *blocks, schedule);
  return distinct_operations(path, schedule);
}

}  // namespace depthcost
