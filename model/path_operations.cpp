// Collects what a walk over the layers emits.
#include "model/path_operations.hpp"

#include <map>

#include "model/walk.hpp"

namespace depthcost {
namespace {

struct LayersPerBlock {
  double operator()(const Standard&) const { return 1; }
  double operator()(const Mhc&) const { return 1; }
  double operator()(const FullAttnRes& s) const { return static_cast<double>(s.groups.num_layers); }
  double operator()(const BlockAttnRes& s) const {
    return static_cast<double>(s.blocks.block_size);
  }
};

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

double layers_per_block(const Scheme& scheme) { return std::visit(LayersPerBlock{}, scheme); }

}  // namespace depthcost
