// Measured steps, each beside what the model says that its scheme adds.
#pragma once

#include <vector>

#include "model/machine/machine.hpp"
#include "model/step/step_comparison.hpp"
#include "profile/samples.hpp"

namespace depthcost::profile {

/// Every step that was measured but the baseline itself. Empty where no baseline was.
std::vector<StepComparison> compared_steps(const Machine& machine, const Samples& samples);

}  // namespace depthcost::profile
