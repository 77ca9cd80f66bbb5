// Reads files in parallel.
#include "cli/commands/checked_scenarios.hpp"

#include <optional>

#include "model/base/parallel.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/evaluation/nearest_measurement.hpp"
#include "model/schemes/list.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "scenarios/measured/comparisons.hpp"

namespace depthcost {
namespace {

/// One scenario, or the error that CI and stderr show instead.
struct Checked {
  CheckedScenario scenario;
  std::optional<InputError> error;
  std::vector<std::string> warnings = {};
};

std::vector<BudgetMeasurement> nearest_to_budgets(const Evaluation& evaluation) {
  std::vector<BudgetMeasurement> nearest;
  for (const BudgetRow& row : evaluation.budgets) {
    if (!row.at) continue;
    for (const NearestMeasurement& it :
         nearest_measurements_at(*row.at, evaluation, measured_by_others().kernels))
      nearest.push_back({row.budget.kind, it.scheme, *row.at, *it.measured});
  }
  return nearest;
}

/// Overheads that are more than the paper allows, where the scenario sets no limit of its own.
std::vector<BudgetRow> ungated(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  std::vector<BudgetRow> rows;
  if (!study.machine || is_standard(study.path.scheme)) return rows;
  for (const BudgetKind kind : asked_overheads(study)) {
    const Budget limit = overhead_limit(study, kind);
    if (limit.origin != BudgetOrigin::assumed) continue;
    BudgetRow row = decided_row(limit, {study, evaluation.step, evaluation.memory});
    const Fate fate = fate_of(row);
    if (row.middle && row.high && (fate == Fate::too_much || fate == Fate::likely_too_much))
      rows.push_back(std::move(row));
  }
  return rows;
}

template <class Read>
Checked checked(const std::string& file, const Read& read) {
  Checked result{.scenario = {.file = printable(file, file.size() * 4)}, .error = std::nullopt};
  try {
    const Scenario scenario = read();
    result.scenario.name = scenario.study.name;
    result.warnings = value_warnings(scenario.values);
    const Evaluation evaluation = evaluate_budgets(scenario.study);
    result.scenario.budgets = evaluation.budgets;
    result.scenario.nearest = nearest_to_budgets(evaluation);
    if (!result.scenario.budgets.empty()) result.scenario.ungated = ungated(evaluation);
  } catch (const InputError& error) {
    result.scenario.refused = RefusedScenario{error.position().line, error.message()};
    result.error = error;
  }
  return result;
}

std::vector<Checked> check_all(const CheckOptions& options, Progress& progress) {
  if (!options.question.model.empty())
    return {checked(options.question.model, [&] { return asked_scenario("", options.question); })};
  std::vector<Checked> all(options.scenarios.size());
  each_in_parallel(all.size(), num_hardware_threads(), [&](std::size_t i) {
    const std::string& path = options.scenarios[i];
    all[i] = checked(path, [&] { return asked_scenario(path, options.question); });
    progress.count();
  });
  return all;
}

[[noreturn]] void refuse_to_pass(const CheckOptions& options) {
  if (!options.question.model.empty())
    throw InputError({"--budget", 1, 1},
                     "missing budget (as --budget decode_overhead=2%: without one there is nothing "
                     "to check)");
  throw InputError(
      {options.scenarios.front(), 1, 1},
      "missing key 'budgets' (a scenario without budgets cannot be checked; for example "
      "budgets: {decode_overhead: 2 %})");
}

}  // namespace

CheckedScenarios checked_scenarios(const CheckOptions& options, Progress& progress) {
  CheckedScenarios result;
  bool is_any = false;
  for (Checked& it : check_all(options, progress)) {
    is_any = is_any || it.scenario.refused || !it.scenario.budgets.empty();
    if (it.error) result.errors.push_back(*it.error);
    for (std::string& warning : it.warnings) result.warnings.push_back(std::move(warning));
    result.scenarios.push_back(std::move(it.scenario));
  }
  if (!is_any) refuse_to_pass(options);
  return result;
}

}  // namespace depthcost
