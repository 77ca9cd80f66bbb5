// `family`: every residual connection on the scenario's model, counted the same way.
#include "model/evaluation/family.hpp"

#include "cli/commands/commands.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "reports/topics/family/family_section.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost {

ExitCode run_family(const FamilyOptions& options) {
  const Scenario scenario = asked_scenario(options.scenario, options.question);
  const std::vector<FamilyRow> rows = family_rows(scenario.study);
  if (options.format == Format::json) {
    write_stdout(family_json(scenario.study, rows, kVersion));
    return ExitCode::good;
  }
  show(family_text(scenario.study, rows));
  return ExitCode::good;
}

}  // namespace depthcost
