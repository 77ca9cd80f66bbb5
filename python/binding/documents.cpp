// Calls what the commands call.
#include "python/binding/documents.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/commands/answers/made_report.hpp"
#include "cli/commands/answers/planned_placements.hpp"
#include "cli/commands/checked_scenarios.hpp"
#include "cli/commands/compared_measurements.hpp"
#include "cli/commands/compared_trace.hpp"
#include "cli/commands/swept_scenes.hpp"
#include "cli/output/plot_files.hpp"
#include "cli/output/version.hpp"
#include "model/evaluation/family.hpp"
#include "reports/difference/difference_report.hpp"
#include "reports/formats/json_writer.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/topics/family/family_section.hpp"
#include "scenarios/import/import.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/measured/result_file.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/text/quantity.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost::python {
namespace {

constexpr const char* kPlotsApart = "The plots of a sweep are its member plots.";

std::string code_block(const std::string& text) { return "```text\n" + text + "```\n"; }

}  // namespace

MadeFiles report_of(const Question& question, Progress& progress) {
  Report report =
      made_report(asked_scenario(question.path, question.options),
                  stem_of(question.path, question.options), measured_by_others(), progress);
  return {std::move(report.files), std::move(report.summary), std::move(report.missing_plots)};
}

CheckAnswer check_of(const Question& question, Unknowns unknowns, Progress& progress) {
  CheckOptions options;
  options.scenarios = {question.path};
  options.question = question.options;
  CheckedScenarios checked = checked_scenarios(options, progress);
  if (!checked.errors.empty()) throw InputError(checked.errors.front());
  const CheckReport report{.scenarios = std::move(checked.scenarios), .unknowns = unknowns};
  CheckAnswer answer;
  answer.json = to_json(report, kVersion);
  answer.markdown = step_summary(report, kMostSummaryBytes);
  for (const CheckedScenario& scenario : report.scenarios)
    for (const BudgetRow& row : scenario.budgets)
      answer.holds = answer.holds && !is_red(row, report.unknowns);
  return answer;
}

Documents family_of(const Question& question) {
  const Study study = asked_scenario(question.path, question.options).study;
  const std::vector<FamilyRow> rows = family_rows(study);
  return {family_json(study, rows, kVersion),
          markdown(family_table(rows, FamilyColumns::all)) + "\n" +
              family_legend(study, rows, FamilyColumns::all) + "\n"};
}

Documents plan_of(const Question& question, const PlanQuestion& asked, Progress& progress) {
  PlanOptions options;
  options.scenario = question.path;
  options.question = question.options;
  options.devices = asked.devices;
  options.max_overhead = asked.max_overhead;
  const PlanReport report = planned_placements(options, progress);
  return {plan_json(report, kVersion), code_block(plan_text(report))};
}

Swept::Swept(const Question& question, const std::vector<std::string>& axes, Count max_points,
             double compute, Progress& progress)
    : stem_(stem_of(question.path, question.options)) {
  if (!std::isfinite(compute) || compute <= 0)
    throw InputError(
        {"--compute", 1, 1},
        fmt::format("invalid compute '{}' (must be PFLOP/s-days above zero)", compute));
  SweepOptions options;
  options.scenario = question.path;
  options.question = question.options;
  options.axes = axes;
  options.max_points = max_points;
  options.compute = compute;
  report_ = swept_scenes(plan_of(options, progress), options, progress);
}

Documents Swept::documents(Progress& progress) {
  const std::scoped_lock turn(turns_);
  report_.writing = &progress;
  // An interrupt ends the writing by an exception, and the progress is gone after it.
  const auto forget = [](SweepReport* report) { report->writing = nullptr; };
  const std::unique_ptr<SweepReport, decltype(forget)> forgetting(&report_, forget);
  return {sweep_json(report_, kVersion), sweep_markdown(report_, {}, kPlotsApart, kVersion)};
}

std::string Swept::csv() {
  const std::scoped_lock turn(turns_);
  return sweep_csv(report_);
}

std::string Swept::text() {
  const std::scoped_lock turn(turns_);
  return sweep_text(report_);
}

MadeFiles Swept::plots(Progress& progress) {
  const std::scoped_lock turn(turns_);
  DrawnPlots drawn = draw(sweep_plots(report_), stem_, progress);
  return {std::move(drawn.files), "", std::move(drawn.missing)};
}

Documents compare_of(const CompareQuestion& asked, const Question* scenario) {
  CompareOptions options;
  options.measurements = asked.measurements;
  options.published = asked.is_published;
  options.hardware = asked.hardware;
  options.tolerances = asked.tolerances;
  options.constants = asked.constants;
  options.workload = asked.workload;
  options.kernel_names = asked.kernel_names;
  options.steps = asked.steps;
  if (scenario != nullptr) {
    options.scenario = scenario->path;
    options.settings = scenario->options.settings;
    options.document = scenario->options.document;
  }
  require_no_conflicts(options);
  if (scenario != nullptr) {
    const TraceReport report = compared_trace(options);
    return {to_json(report, kVersion), to_markdown(report)};
  }
  const ComparisonReport report = compared_measurements(options);
  return {to_json(report, kVersion), to_markdown(report)};
}

DiffAnswer diff_of(const ResultSource& before, const ResultSource& after,
                   const std::string& tolerance, Improvements improvements) {
  const double allowed = tolerance.empty()
                             ? 0
                             : parse_quantity({tolerance, false}, {"--tolerance", 1, 1},
                                              Dimension::ratio, "tolerance", Range::non_negative);
  const auto read = [](const ResultSource& source, const char* name) {
    return source.is_path ? load_result(source.text_or_path, kJsonSchemaVersion)
                          : parse_result(source.text_or_path, name, kJsonSchemaVersion);
  };
  const auto label = [](const ResultSource& source, const char* name) {
    return source.is_path ? printable(source.text_or_path) : std::string(name);
  };
  const Result old_result = read(before, "before");
  const Result new_result = read(after, "after");
  const DifferenceReport report{.before = compared(label(before, "before"), old_result),
                                .after = compared(label(after, "after"), new_result),
                                .tolerance = allowed,
                                .difference = difference(old_result, new_result, allowed),
                                .improvements = improvements,
                                .shown = ShownMoves::all};
  DiffAnswer answer;
  answer.json = to_json(report, kVersion);
  answer.markdown = to_markdown(report);
  answer.holds = report.difference.holds(report.improvements);
  return answer;
}

std::string imported(const std::string& text, const std::string& path, const std::string& family) {
  return to_yaml(path.empty() ? import_config(text, "config.json", family)
                              : load_config(path, family));
}

std::vector<std::vector<std::string>> list_of_presets() {
  std::vector<std::vector<std::string>> rows;
  for (const Preset& preset : presets())
    rows.push_back({std::string(preset.kind), std::string(preset.id),
                    preset_values(preset.id, reference_of_folder(preset.kind)).text("name")});
  return rows;
}

std::string preset_text(const std::string& id) {
  std::vector<std::string> ids;
  for (const Preset& preset : presets()) {
    if (preset.id == id) return std::string(preset.text);
    ids.emplace_back(preset.id);
  }
  const std::string hint = did_you_mean(id, ids);
  throw InputError({"presets", 1, 1}, fmt::format("unknown preset '{}'{}", printable(id),
                                                  hint.empty() ? " (presets() lists them)" : hint));
}

}  // namespace depthcost::python
