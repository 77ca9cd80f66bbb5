// Launch floors of a part, with substitutes for what nobody has measured on it.
#pragma once

#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/machine.hpp"
#include "scenarios/device/nearest_parts.hpp"

namespace depthcost {

/// One floor for every launch mode, level and skeleton.
std::vector<LaunchFloor> launch_floors(const Values& self, const NearestParts& others,
                                       std::vector<ResolvedValue>& notes);

}  // namespace depthcost
