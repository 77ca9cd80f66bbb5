// What the ablations of AttnRes change in its launches ([attnres] Table 4), where they do.
#pragma once

#include <cassert>

#include "model/operations/operation.hpp"

namespace depthcost::operations {

/// The partial sum is read and written in two places of the list: in one there is room for another.
constexpr void add_access(Operation& operation, const Access& added) {
  std::array<Access, 5> merged{};
  std::size_t used = 0;
  const auto merge = [&](const Access& access) {
    if (access.reads_d == 0 && access.writes_d == 0) return;
    for (std::size_t i = 0; i < used; ++i)
      if (merged[i].operand == access.operand) {
        merged[i].reads_d += access.reads_d;
        merged[i].writes_d += access.writes_d;
        return;
      }
    assert(used < merged.size());
    merged[used++] = access;
  };
  for (const Access& access : operation.accesses) merge(access);
  merge(added);
  operation.accesses = merged;
}

/// The query is a row of each token, which the launch before has made, and no parameter.
constexpr Operation with_token_query(Operation operation) {
  operation.parameters_d -= kQuery_d;
  add_access(operation, Access{Operand::recent, 1, 0});
  return operation;
}

/// Keys are not normalised. One launch that scores and mixes.
constexpr Operation with_raw_keys(Operation operation) {
  operation.flops_d -= kFlopsPerKey * d_vectors(operation.sources);
  return operation;
}

}  // namespace depthcost::operations
