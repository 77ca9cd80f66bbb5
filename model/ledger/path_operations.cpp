// Collects what a walk over the layers emits.
#include "model/ledger/path_operations.hpp"

#include <map>

#include "model/ledger/launches.hpp"

namespace depthcost {
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

}  // namespace depthcost
