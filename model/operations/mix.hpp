// The read:write mix of an operation: what a ceiling must repeat to be its ceiling.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "model/operations/operation.hpp"

namespace depthcost {

/// Streams of d-vectors. The first `in_place` of those written are those read first.
struct Mix {
  unsigned reads = 0;
  unsigned writes = 0;
  unsigned in_place = 0;

  friend constexpr auto operator<=>(const Mix&, const Mix&) = default;
};

/// Rows of an operand that are read and written by one call lie in one buffer; but for `recent`,
/// which only says how old they are.
constexpr Mix mix_of(const Operation& operation) {
  Mix mix;
  for (const Access& access : operation.accesses) {
    mix.reads += static_cast<unsigned>(access.reads_d);
    mix.writes += static_cast<unsigned>(access.writes_d);
  }
  for (const Operand operand :
       {Operand::hidden_state, Operand::partial_sum, Operand::streams, Operand::gradients}) {
    double reads = 0;
    double writes = 0;
    for (const Access& access : operation.accesses) {
      reads += access.operand == operand ? access.reads_d : 0;
      writes += access.operand == operand ? access.writes_d : 0;
    }
    mix.in_place += static_cast<unsigned>(std::min(reads, writes));
  }
  return mix;
}

/// Whether `part` has the same share of writes and of updates in place, in no more streams. A
/// kernel may move its streams one after the other: nine copies are at least as fast as one.
constexpr bool is_part_of(const Mix& part, const Mix& mix) {
  const std::uint64_t streams = std::uint64_t{mix.reads} + mix.writes;
  const std::uint64_t part_streams = std::uint64_t{part.reads} + part.writes;
  return part_streams > 0 && part_streams <= streams &&
         part.reads * streams == mix.reads * part_streams &&
         part.in_place * streams == mix.in_place * part_streams;
}

/// Read, triad, copy, write. An update in place has the copy's share of reads and its own rate.
constexpr bool is_generic(const Mix& mix) {
  return mix.in_place == 0 && mix.reads <= 2 && mix.writes <= 1;
}

}  // namespace depthcost
