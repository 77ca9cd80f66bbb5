// Which point of a study a row belongs to: one batch of its decode steps, its prefill, or its
// training step.
#pragma once

#include <compare>
#include <string>

#include "model/base/enum_names.hpp"
#include "model/base/units.hpp"

namespace depthcost {

enum class WorkloadKind { decode, prefill, training };

/// No two points of a study have the same. In order, decode steps come first, by their sequences.
struct WorkloadId {
  WorkloadKind kind = WorkloadKind::decode;
  Count sequences = 0;  // that a decode step decodes at a time; 0 for other kinds

  static constexpr WorkloadId decode(Count sequences) { return {WorkloadKind::decode, sequences}; }
  static constexpr WorkloadId prefill() { return {WorkloadKind::prefill}; }
  static constexpr WorkloadId training() { return {WorkloadKind::training}; }

  friend constexpr auto operator<=>(const WorkloadId&, const WorkloadId&) = default;
};

/// As reports show it: "decode/64", "prefill", "training".
inline std::string name(WorkloadId workload) {
  std::string text(name(workload.kind));
  if (workload.kind == WorkloadKind::decode) text += "/" + std::to_string(workload.sequences);
  return text;
}

}  // namespace depthcost
