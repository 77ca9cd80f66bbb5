// Measured steps beside the time that the model says their scheme adds.
#pragma once

#include <vector>

#include "model/machine/machine.hpp"
#include "model/step/step_comparison.hpp"
#include "profile/samples.hpp"

namespace depthcost::profile {

/// Every measured step except the baseline. Empty where no baseline was measured.
std::vector<StepComparison> compared_steps(const Machine& machine, const Samples& samples);

}  // namespace depthcost::profile
