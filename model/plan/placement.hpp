// How a model can lie on a number of devices.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "model/step/study.hpp"

namespace depthcost {

/// Devices of a plan. 840, the number below it with the most divisors, has 1300 placements. [ours]
inline constexpr Count kMostPlannedDevices = 1024;

/// Ranks of each kind of parallelism. tensor x pipeline x context x data are all devices; experts
/// lie on `expert` of a stage's devices.
struct Placement {
  Count tensor = 1;
  Count pipeline = 1;
  Count context = 1;
  Count data = 1;
  Count expert = 1;

  friend auto operator<=>(const Placement&, const Placement&) = default;
};

/// "tensor 4, data 2"; what is 1 is left out.
std::string placement_text(const Placement& placement);

/// Every placement on all of `devices` in which tensor ranks share the attention heads evenly, each
/// stage has a decoder layer, and no expert rank is without an expert. A dense model has `expert`
/// 1. The study must have an architecture. Rising.
std::vector<Placement> placements(const Study& study, Count devices);

}  // namespace depthcost
