// The launches of a forward pass by block instead of by layer: sweeps ask for those of every block
// size, and a block of many layers has three kinds of them.
#pragma once

#include <vector>

#include "model/ledger/path_operations.hpp"

namespace depthcost {

/// What distinct_operations() counts, for Block AttnRes in O(blocks); equal operations of different
/// blocks are not merged, and the order is not that of their first use.
std::vector<CountedOperation> operations_by_block(const ResidualPath& path, Schedule schedule);

}  // namespace depthcost
