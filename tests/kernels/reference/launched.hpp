// A launch of the ledger, and what the counting accessor has seen of one.
#pragma once

#include <ostream>

#include "tests/kernels/reference/counting_access.hpp"

namespace depthcost::test {

/// A launch as it was counted, or as the ledger has it.
struct Launched {
  OperationId id;
  Moved moved;

  friend bool operator==(const Launched&, const Launched&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Launched& launch) {
  out << name(launch.id) << ':';
  for (const auto& [operand, d] : launch.moved.reads_d) out << " r " << name(operand) << ' ' << d;
  for (const auto& [operand, d] : launch.moved.writes_d) out << " w " << name(operand) << ' ' << d;
  return out << " scalars " << launch.moved.reads_scalars << ' ' << launch.moved.writes_scalars;
}

inline Launched from_ledger(const Operation& operation) {
  Launched launch{operation.id, {}};
  for (const Access& access : operation.accesses) {
    if (access.reads_d != 0) launch.moved.reads_d[access.operand] += access.reads_d;
    if (access.writes_d != 0) launch.moved.writes_d[access.operand] += access.writes_d;
  }
  launch.moved.reads_scalars = operation.reads_scalars;
  launch.moved.writes_scalars = operation.writes_scalars;
  return launch;
}

}  // namespace depthcost::test
