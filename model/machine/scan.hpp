// One scan over rows of a token. An operation that is no more is timed by what it reads and writes;
// any other has to say what its kernel does.
#pragma once

#include <stdexcept>
#include <string>

#include "model/operations/operation.hpp"

namespace depthcost {

/// Without sources, streams, coefficients or products: it waits for nothing but its rows.
constexpr bool is_scan(const Operation& operation) {
  return operation.unit == ExecutionUnit::vector_lanes && operation.sources == 0 &&
         operation.queries == 0 && operation.streams == 0 && operation.reads_scalars == 0 &&
         operation.writes_scalars == 0;
}

/// A backward pass, which leaves gradients for earlier layers.
constexpr bool makes_gradients(const Operation& operation) {
  for (const Access& access : operation.accesses)
    if (access.operand == Operand::gradients && access.writes_d > 0) return true;
  return false;
}

/// Refuses an operation that `table` leaves out though it is more than a scan: it must not be timed
/// as one.
inline void expect_scan(const Operation& operation, const char* table) {
  if (!is_scan(operation))
    throw std::logic_error(std::string(name(operation.id)) + " is more than a scan, but " + table +
                           " has no row for it");
}

}  // namespace depthcost
