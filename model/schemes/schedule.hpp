// How a scheme can be executed, and how its bytes can be counted.
#pragma once

#include <string>

#include "model/base/enum_names.hpp"

namespace depthcost {

/// How the mathematics is executed. REFERENCES.md, "schedules".
enum class Schedule {
  unfused,
  fused,
  two_pass,
  one_pass,
  single_pass,
  two_phase,
  fused_gate,
  folded_norm,
};

/// When Phase 1 computes what a block's later layers merge: with the mix of its first layer, or on
/// a second branch of a graph, beside that layer.
enum class Phase1Order { in_order, hoisted };

/// How bytes are counted: model/REFERENCES.md, "conventions".
enum class Convention {
  paper,
  appendixB,
  appendixB_emb,
  tied,
  physical,
  physical_unfused,
  kernel,
};

/// "two_phase", "two_phase_hoisted".
std::string name(Schedule schedule, Phase1Order phase1);

/// A way to run a scheme together with a way to count it.
struct Counting {
  Schedule schedule;
  Convention convention;
  friend constexpr bool operator==(const Counting&, const Counting&) = default;
};

}  // namespace depthcost
