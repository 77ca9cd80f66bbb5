// The placements of `plan`, searched.
#pragma once

#include "cli/commands/commands.hpp"
#include "reports/plan/plan_report.hpp"

namespace depthcost {

/// Throws InputError for mistakes, and if the model cannot lie on so many devices. Counts progress
/// by placement.
PlanReport planned_placements(const PlanOptions& options, Progress& progress);

}  // namespace depthcost
