// The kernels that a machine has measured, each held against what a profile predicts.
#pragma once

#include <string>
#include <vector>

#include "model/machine/comparison.hpp"
#include "profile/samples.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/measured/comparisons.hpp"

namespace depthcost::profile {

/// What a reader must know before the numbers, a sentence each: kernels that are left out or that
/// have changed since the profile was made, an interval that does not hold.
std::vector<std::string> comparison_notes(const Samples& samples, const DeviceValues& device);

/// One case for each kernel that is not measured merely for its noise. Throws InputError where
/// rules and cases do not match one to one.
std::vector<ComparedCase> kernel_cases(const Samples& samples, const Device& device,
                                       const std::vector<ToleranceRule>& rules);

}  // namespace depthcost::profile
