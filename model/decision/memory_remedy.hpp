// What would make a step fit into the memory of its devices.
#pragma once

#include <string>

#include "model/step/study.hpp"

namespace depthcost {

/// "workload.training.layers: recompute": a setting of a training step; in serving experts over
/// more of the same devices, a batch that is at most a quarter smaller, or more replicas of fewer
/// ranks; else the fewest devices, by doubling. Empty where none of those that are tried fits into
/// a limit in bytes of a device.
std::string memory_remedy(const Study& study, double limit);

}  // namespace depthcost
