// The launches of attention over depth, for the schemes that share them.
#pragma once

#include "model/schemes/scheme.hpp"

namespace depthcost::scheme_parts {

/// Eager AttnRes over `sources` rows, up to the normalised layer input: (6 s + 3) d.
Launches eager_attnres(Count sources);

/// Block AttnRes at a place of its partition, and behind the last layer.
Launches block_attnres(const LayerPosition& at, Schedule schedule);
Launches block_attnres_output(const Partition& blocks, Schedule schedule);

/// Rows that a layer of Block AttnRes attends to: the bank and, inside a block, its partial sum.
constexpr Count block_sources(const LayerPosition& at) {
  return at.index == 1 ? at.block : at.block + 1;
}

}  // namespace depthcost::scheme_parts
