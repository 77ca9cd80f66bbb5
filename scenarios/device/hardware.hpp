// From the values of a hardware file to the machine of the time formula. A value without a source
// falls back on the nearest part that has one, with a wider interval and a note. REFERENCES.md,
// "intervals".
#pragma once

#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/machine.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// Appends to `notes` one line for each fallback.
Machine machine_from(const Values& values, std::vector<ResolvedValue>& notes,
                     const Constants& constants = shipped_constants());

}  // namespace depthcost
