// `plan`: the best placements on so many devices. Exit code 1 if none keeps the limits.
#include "cli/commands/answers/planned_placements.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"

namespace depthcost {

ExitCode run_plan(const PlanOptions& options, Console& console) {
  const PlanReport report = planned_placements(options, console.watch("plan"));
  console.stop_watching();
  if (options.format == Format::json)
    write_stdout(plan_json(report, kVersion));
  else
    show(plan_text(report));
  return report.plans.best.empty() ? ExitCode::gate_said_no : ExitCode::good;
}

}  // namespace depthcost
