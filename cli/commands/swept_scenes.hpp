// Reads and sweeps the scenes of `sweep`.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "scenarios/read/sweep_plan.hpp"

namespace depthcost {

/// Reads all files that the sweep needs. Throws InputError.
SweepPlan plan_of(const SweepOptions& options, const Progress& progress);

/// Times the rows that `rows` asks for. Counts progress by points, or by scenes if there are
/// several. Throws InputError if no point can exist.
SweepReport swept_scenes(SweepPlan plan, const SweepOptions& options, Progress& progress,
                         SweepRows rows = {});

}  // namespace depthcost
