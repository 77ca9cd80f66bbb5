// Compares measured kernels with the predictions of a profile.
#pragma once

#include <string>
#include <vector>

#include "model/machine/comparison.hpp"
#include "profile/samples.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/measured/comparisons.hpp"

namespace depthcost::profile {

/// Notes for the reader, a sentence each: how times were measured, kernels that are left out or
/// have changed since the profile was made, an interval that does not hold.
std::vector<std::string> comparison_notes(const Samples& samples, const DeviceValues& device);

/// The built-in rules for samples. Shipped ones have their own, which block: whoever changes a
/// formula must keep them. Nothing is promised of other machines, whose samples are only reported.
std::vector<ToleranceRule> rules_of(const Samples& samples);

/// One case for each kernel, without repeated measurements. Throws InputError where
/// rules and cases do not match one to one.
std::vector<ComparedCase> kernel_cases(const Samples& samples, const Device& device,
                                       const std::vector<ToleranceRule>& rules);

}  // namespace depthcost::profile
