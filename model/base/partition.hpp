// How L layers are cut into AttnRes blocks. [attnres] Sec. 3.2; its remainder rule has several
// readings (REFERENCES.md, "partition"), so the block *size* is the primary parameter here.
#pragma once

#include <algorithm>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

/// What happens to L mod N when a number of blocks N is asked for.
enum class Remainder {
  paper,    // N blocks of floor(L/N) layers, and one more of L mod N: Sec. 3.2 read with S = L/N
  ceil,     // blocks of ceil(L/N) layers, the last one shorter; there may be fewer than N
  strict,   // N must divide L
  literal,  // exactly N blocks, the last of L mod N layers: "the last block contains the remaining"
};

/// Blocks 1..num_blocks over layers 1..num_layers. All blocks hold `block_size` layers but the
/// last, which holds `last_size` (shorter, equal, or under `Remainder::paper` possibly longer).
struct Partition {
  Count num_layers = 0;
  Count block_size = 0;
  Count num_blocks = 0;
  Count last_size = 0;

  /// Layers in block `block` (1-based).
  constexpr Count size(Count block) const { return block == num_blocks ? last_size : block_size; }
  constexpr bool is_uniform() const { return last_size == block_size; }

  friend constexpr bool operator==(const Partition&, const Partition&) = default;
};

/// Layers of the longest block.
constexpr Count largest_block(const Partition& partition) {
  return std::max(partition.num_blocks > 1 ? partition.block_size : 0, partition.last_size);
}

/// Where a layer stands: layer i (`index`) of block n (`block`), both 1-based.
struct LayerPosition {
  Count layer = 0;
  Count block = 0;
  Count index = 0;
  Count size = 0;           // layers in this block
  Count previous_size = 0;  // layers in block n - 1; 0 in block 1
};

/// Blocks of `block_size` layers; the last one takes what is left. Throws Infeasible for S > L.
Partition partition_by_size(Count num_layers, Count block_size);

/// `num_blocks` blocks under `rule`. Throws Infeasible where the rule cannot be met.
Partition partition_by_count(Count num_layers, Count num_blocks, Remainder rule);

/// Position of layer `index` in block `block`.
constexpr LayerPosition position(const Partition& partition, Count block, Count index) {
  return {.layer = (block - 1) * partition.block_size + index,
          .block = block,
          .index = index,
          .size = partition.size(block),
          .previous_size = block == 1 ? 0 : partition.block_size};
}

/// Position of layer `layer` (1-based).
LayerPosition position_of_layer(const Partition& partition, Count layer);

/// The sizes of all blocks, in order.
std::vector<Count> block_sizes(const Partition& partition);

}  // namespace depthcost
