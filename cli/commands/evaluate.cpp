// `evaluate`: the numbers only.
#include "cli/commands/commands.hpp"

#include <fmt/format.h>

#include "cli/output/console.hpp"
#include "cli/output/stdout.hpp"
#include "cli/output/version.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/evaluation/predicted_work.hpp"
#include "reports/documents/answer_documents.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "reports/topics/training/pipeline_plan.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

void require_training(const Study& study, const std::string& file) {
  if (!study.training)
    throw InputError({file, 1, 1},
                     "missing key 'workload.training.sequence_length' (a plan is of a training "
                     "step)");
  if (!study.machine)
    throw InputError({file, 1, 1}, "missing key 'hardware' (a plan has modelled times)");
}

void require_few_rows(const Study& study) {
  const double rows = layer_rows_asked(study);
  if (rows > kMaxLayerRows)
    throw InputError({"--layers", 1, 1},
                     fmt::format("invalid --layers ({:.0f} rows of all schemes and schedules; at "
                                 "most {:.0f})",
                                 rows, kMaxLayerRows));
}

std::string text_for_people(const Evaluation& evaluation, const EvaluateOptions& options,
                            const Scenario& scenario, std::span<const LedgerRow> layers) {
  std::string warnings;
  for (const std::string& warning : value_warnings(scenario.values))
    warnings += "\nWarning: " + warning + "\n";
  if (options.details || options.layers)
    return to_table(evaluation, Depth::details, layers) + warnings;
  return to_table(evaluation, Depth::summary) + warnings +
         "\n--details shows every table, --format json every number.\n";
}

}  // namespace

ExitCode run_evaluate(const EvaluateOptions& options, Console& console) {
  console.watch("evaluate");
  const Scenario scenario =
      asked_scenario(options.scenario, options.question, constants_of_option(options.constants));
  if (options.format == Format::plan)
    require_training(scenario.study,
                     options.scenario.empty() ? options.question.model : options.scenario);
  if (options.layers) require_few_rows(scenario.study);
  const Evaluation evaluation = evaluate(scenario.study);
  const std::vector<LedgerRow> layers =
      options.layers ? all_layers(evaluation) : std::vector<LedgerRow>{};
  console.stop_watching();
  if (options.format == Format::json)
    write_stdout(to_json(evaluation, scenario.values, {kVersion, layers}));
  else if (options.format == Format::csv)
    write_stdout(to_csv(evaluation, layers));
  else if (options.format == Format::plan)
    write_stdout(pipeline_plan(evaluation));
  else
    show(text_for_people(evaluation, options, scenario, layers));
  return ExitCode::good;
}

}  // namespace depthcost
