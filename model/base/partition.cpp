// The four readings of the remainder rule; each refuses what it cannot express.
#include "model/base/partition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/counted.hpp"
#include "model/base/infeasible.hpp"

namespace depthcost {
namespace {

void require_positive(std::string_view key, Count value) {
  if (value < 1)
    throw Infeasible(fmt::format("invalid {} '{}' (must be a positive integer)", key, value));
}

[[noreturn]] void refuse_count(Count num_blocks, const std::string& why) {
  throw Infeasible(fmt::format("invalid num_blocks '{}' ({})", num_blocks, why));
}

/// N blocks of floor(L/N) layers, then the remaining L mod N in a block of their own.
Partition paper_partition(Count num_layers, Count num_blocks) {
  const Count rest = num_layers % num_blocks;
  const Count block_size = num_layers / num_blocks;
  if (rest == 0) return partition_by_size(num_layers, block_size);
  return {.num_layers = num_layers,
          .block_size = block_size,
          .num_blocks = num_blocks + 1,
          .last_size = rest};
}

/// Exactly N blocks, the last of L mod N layers, N - 1 equal ones before it.
Partition literal_partition(Count num_layers, Count num_blocks) {
  const Count rest = num_layers % num_blocks;
  if (rest == 0) return partition_by_size(num_layers, num_layers / num_blocks);
  const Count in_equal_blocks = num_layers - rest;
  if (in_equal_blocks == 0 || in_equal_blocks % (num_blocks - 1) != 0)
    refuse_count(num_blocks, fmt::format("remainder 'literal' leaves {} layers for {} equal blocks",
                                         in_equal_blocks, num_blocks - 1));
  return {.num_layers = num_layers,
          .block_size = in_equal_blocks / (num_blocks - 1),
          .num_blocks = num_blocks,
          .last_size = rest};
}

}  // namespace

Partition partition_by_size(Count num_layers, Count block_size) {
  require_positive("num_layers", num_layers);
  require_positive("block_size", block_size);
  if (block_size > num_layers)
    throw Infeasible(fmt::format("invalid block_size '{}' (the model has only {})", block_size,
                                 counted(num_layers, "layer", "layers")));
  const Count num_blocks = divided_up(num_layers, block_size);
  return {.num_layers = num_layers,
          .block_size = block_size,
          .num_blocks = num_blocks,
          .last_size = num_layers - (num_blocks - 1) * block_size};
}

Partition partition_by_count(Count num_layers, Count num_blocks, Remainder rule) {
  require_positive("num_layers", num_layers);
  require_positive("num_blocks", num_blocks);
  if (num_blocks > num_layers)
    refuse_count(num_blocks,
                 fmt::format("the model has only {}", counted(num_layers, "layer", "layers")));
  switch (rule) {
    case Remainder::paper:
      return paper_partition(num_layers, num_blocks);
    case Remainder::ceil:
      return partition_by_size(num_layers, divided_up(num_layers, num_blocks));
    case Remainder::strict:
      if (num_layers % num_blocks != 0)
        refuse_count(num_blocks,
                     fmt::format("remainder 'strict' needs a divisor of {}", num_layers));
      return partition_by_size(num_layers, num_layers / num_blocks);
    case Remainder::literal:
      return literal_partition(num_layers, num_blocks);
  }
  return {};
}

LayerPosition position_of_layer(const Partition& partition, Count layer) {
  const Count block = std::min((layer - 1) / partition.block_size + 1, partition.num_blocks);
  return position(partition, block, layer - (block - 1) * partition.block_size);
}

std::vector<Count> block_sizes(const Partition& partition) {
  std::vector<Count> sizes(static_cast<std::size_t>(partition.num_blocks), partition.block_size);
  sizes.back() = partition.last_size;
  return sizes;
}

}  // namespace depthcost
