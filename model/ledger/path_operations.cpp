// Collects what a walk over the layers emits.
#include "model/ledger/path_operations.hpp"

#include <algorithm>
#include <map>

#include "model/ledger/launches.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// Calls `visit(operation, calls)` for the launches of a pass over blocks, in order of first use.
/// Layers 3..size of a block launch the same, since the partial sum is read and written in all.
template <class Visit>
void each_of_blocks(const ResidualPath& path, const Partition& blocks, Schedule schedule,
                    const Visit& visit) {
  const auto visit_all = [&](const Launches& launches, Count calls) {
    Folding folding(path.attachment);
    for (const Operation& operation : launches) visit(folding.folded(operation), calls);
  };
  for (Count block = 1; block <= blocks.num_blocks; ++block) {
    const Count size = blocks.size(block);
    for (Count index = 1; index <= std::min<Count>(size, 3); ++index) {
      const LayerPosition at = position(blocks, block, index);
      const SchemeLayer layer{path.scheme.parameters, at.layer, path.num_layers, at};
      visit_all(path.scheme.rule->operations(layer, schedule), index < 3 ? 1 : size - 2);
    }
  }
  visit_all(output_launches(path, schedule), 1);
}

}  // namespace

std::vector<CountedOperation> distinct_operations(const ResidualPath& path, Schedule schedule) {
  std::vector<CountedOperation> distinct;
  std::map<Operation, std::size_t> place;
  const auto count = [&](const Operation& operation, Count calls) {
    const auto [entry, is_new] = place.try_emplace(operation, distinct.size());
    if (is_new) distinct.push_back({operation, 0});
    distinct[entry->second].calls += calls;
  };
  // Full AttnRes has more sources at every layer.
  if (const Partition* blocks = attnres_blocks(path.scheme))
    each_of_blocks(path, *blocks, schedule, count);
  else
    each_launch(path, schedule, [&](Count, const Operation& operation) { count(operation, 1); });
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
  const Partition* blocks = attnres_blocks(path.scheme);
  if (blocks == nullptr) return distinct_operations(path, schedule);
  std::vector<CountedOperation> counted;
  each_of_blocks(path, *blocks, schedule, [&](const Operation& operation, Count calls) {
    counted.push_back({operation, calls});
  });
  return counted;
}

}  // namespace depthcost
