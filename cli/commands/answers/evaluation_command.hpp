// The commands that evaluate what `plan` has found.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/commands.hpp"
#include "model/plan/plan.hpp"
#include "scenarios/read/placed_studies.hpp"

namespace depthcost {

/// One for each plan: "depthcost evaluate ... --set ...", as a shell takes it. `sources` hold the
/// schemes of the plans.
std::vector<std::string> evaluation_commands(const PlanOptions& options,
                                             const std::vector<PlanSource>& sources,
                                             const std::vector<PlannedPlacement>& plans);

}  // namespace depthcost
