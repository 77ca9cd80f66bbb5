// `family`: every residual connection on the scenario's model, counted the same way.
#include "model/evaluation/family.hpp"

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/version.hpp"
#include "reports/family.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost {

ExitCode run_family(const FamilyOptions& options) {
  const Scenario scenario = options.question.model.empty()
                                ? read_scenario(options.scenario)
                                : scenario_from_options(options.question);
  const std::vector<FamilyRow> rows = family_rows(scenario.study);
  if (options.format == "json") {
    write_stdout(family_json(scenario.study, rows, kVersion));
    return ExitCode::good;
  }
  std::string text = scenario.study.name + "\n\n" +
                     plain_text(family_table(rows, FamilyColumns::terminal)) + "\n" +
                     family_legend(scenario.study, rows, FamilyColumns::terminal) + "\n";
  for (const std::string& problem : family_problems(rows)) text += problem + "\n";
  show(text + "Each of them: depthcost explain SCENARIO family.NAME\n");
  return ExitCode::good;
}

}  // namespace depthcost
