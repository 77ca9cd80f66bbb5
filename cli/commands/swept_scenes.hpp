// Reads and sweeps the scenes of `sweep`.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost {

/// Counts progress by points, or by scenes if there are several. Throws InputError if no point can
/// exist.
SweepReport swept_scenes(const SweepOptions& options, Progress& progress);

}  // namespace depthcost
