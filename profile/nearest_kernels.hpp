// What the machine of a scenario has measured of itself: its profile's kernels beside what is
// predicted of them.
#pragma once

#include <optional>

#include "model/evaluation/evaluation.hpp"
#include "model/evaluation/measured_kernels.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost::profile {

/// Nothing where the scenario's hardware is no profile.
std::optional<MeasuredKernels> measured_kernels(const Scenario& scenario,
                                                const Evaluation& evaluation);

}  // namespace depthcost::profile
