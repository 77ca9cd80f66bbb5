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
#include "scenarios/text/input_error.hpp"

namespace depthcost {

/// What no profile measures (capacity, arithmetic of a GPU), for a machine of `kind`: the values of
/// the hardware preset `part`, or fallbacks if that is empty, which `notes` then tells. Throws
/// InputError if it is no preset or of another kind.
Machine unmeasured_machine(const std::string& part, std::string_view kind, const Position& position,
                           std::vector<ResolvedValue>& notes,
                           const Constants& constants = shipped_constants());

/// What the profile measures, on top of the unmeasured machine of its `part`. Appends to `notes`
/// when and on which kernels it was made.
Machine machine_from_profile(const Values& values, std::vector<ResolvedValue>& notes,
                             const Constants& constants = shipped_constants());

}  // namespace depthcost
