// First layer, second layer and all the others of a block.
#include "model/schemes/block_operations.hpp"

#include <algorithm>

#include "model/schemes/walk.hpp"

namespace depthcost {
namespace {

/// Layers 3..size of a block launch the same, since the partial sum is read and written in all.
std::vector<CountedOperation> of_blocks(const BlockAttnRes& scheme, Schedule schedule,
                                        Attachment attachment) {
  std::vector<CountedOperation> counted;
  const auto emit = [&](Count calls) {
    return [&counted, attachment, calls](const Operation& operation) {
      counted.push_back({attached(operation, attachment), calls});
    };
  };
  for (Count block = 1; block <= scheme.blocks.num_blocks; ++block) {
    const Count size = scheme.blocks.size(block);
    for (Count index = 1; index <= std::min<Count>(size, 3); ++index)
      each_operation(scheme, schedule, position(scheme.blocks, block, index),
                     emit(index < 3 ? 1 : size - 2));
  }
  each_output_operation(scheme, schedule, emit(1));
  return counted;
}

}  // namespace

std::vector<CountedOperation> operations_by_block(const ResidualPath& path, Schedule schedule) {
  if (const auto* scheme = std::get_if<BlockAttnRes>(&path.scheme))
    return of_blocks(*scheme, schedule, path.attachment);
  return distinct_operations(path, schedule);
}

}  // namespace depthcost
