// A forward pass of the residual path as the distinct operations that it consists of.
#pragma once

#include <vector>

#include "model/ledger/ledger.hpp"
#include "model/operations/operation.hpp"

namespace depthcost {

/// An operation and how often a forward pass of all layers launches it.
struct CountedOperation {
  Operation operation;
  Count calls = 0;

  friend constexpr bool operator==(const CountedOperation&, const CountedOperation&) = default;
};

/// The operations of all layers and of the output aggregation, equal ones merged, in order of first
/// use, attached as the path says.
std::vector<CountedOperation> distinct_operations(const ResidualPath& path, Schedule schedule);

/// What distinct_operations() counts, but equal operations of different blocks are not merged: a
/// sweep asks for those of every block size, and merges them by what their time depends on.
std::vector<CountedOperation> operations_by_block(const ResidualPath& path, Schedule schedule);

/// One row of the ledger under convention `kernel`, operation by operation.
struct PlacedOperation {
  Count layer = 0;  // 1-based; 0 for the output aggregation
  Operation operation;
};

/// Every launch of a forward pass, in order.
std::vector<PlacedOperation> all_operations(const ResidualPath& path, Schedule schedule);

/// Layers between two uses of a bank row: two_phase reads the bank once a block and comes back to
/// Phase 1's outputs up to a block later; every other schedule reads all rows at every layer.
double bank_age(const Scheme& scheme, Schedule schedule);

}  // namespace depthcost
