// `evaluate`: the numbers only.
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/version.hpp"
#include "model/evaluation.hpp"
#include "reports/csv.hpp"
#include "reports/json.hpp"
#include "reports/table.hpp"
#include "scenarios/scenario.hpp"

namespace depthcost {
namespace {

std::vector<LedgerRow> all_layers(const Evaluation& evaluation) {
  std::vector<LedgerRow> rows;
  const auto append = [&](const std::vector<LedgerRow>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  for (const ResidualPath& path : evaluation.paths) {
    for (const Counting counting : countings_of(path.scheme))
      append(layer_rows(evaluation.study, path, counting));
    for (const Schedule schedule : schedules_of(path.scheme))
      append(operation_rows(evaluation.study, path, schedule));
  }
  return rows;
}

}  // namespace

ExitCode run_evaluate(const EvaluateOptions& options) {
  const Scenario scenario = options.question.model.empty()
                                ? read_scenario(options.scenario)
                                : scenario_from_options(options.question);
  const Evaluation evaluation = evaluate(scenario.study);
  const std::vector<LedgerRow> layers =
      options.layers ? all_layers(evaluation) : std::vector<LedgerRow>{};
  if (options.format == "json")
    write_stdout(to_json(evaluation, scenario.values, {kVersion, layers}));
  else if (options.format == "csv")
    write_stdout(to_csv(evaluation, layers));
  else
    write_stdout(to_table(evaluation, layers));
  return ExitCode::good;
}

}  // namespace depthcost
