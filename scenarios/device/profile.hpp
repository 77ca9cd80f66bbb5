// From the values of a machine profile to the machine of the time formula. profile/ writes such
// files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/machine.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// What the profile does not measure (capacity, arithmetic of a GPU) comes from the preset that it
/// names as its `part`. Appends to `notes` when and on which kernels it was made.
Machine machine_from_profile(const Values& values, std::vector<ResolvedValue>& notes,
                             const Constants& constants = shipped_constants());

/// The values of the hardware preset `part`, which a profile of kind `kind` names. Throws
/// InputError if it is no preset or of another kind.
Values part_values(const std::string& part, std::string_view kind, const Position& position);

}  // namespace depthcost
