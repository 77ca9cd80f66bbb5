// First layer, second layer and all the others of a block.
#include "model/ledger/block_operations.hpp"

#include <algorithm>

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

std::vector<CountedOperation> operations_by_block(const ResidualPath& path, Schedule schedule) {
  // Full AttnRes has more sources at every layer.
  if (const Partition* blocks = attnres_blocks(path.scheme))
    return of_blocks(path, *blocks, schedule);
  return distinct_operations(path, schedule);
}

}  // namespace depthcost
