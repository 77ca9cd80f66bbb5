// The scenes of `sweep`, read and swept.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost {

/// Counts points, or scenes where there are several. Throws InputError where no point can exist.
SweepReport swept_scenes(const SweepOptions& options, Progress& progress);

}  // namespace depthcost
