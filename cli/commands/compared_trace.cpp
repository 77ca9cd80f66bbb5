// Sums of the trace beside the scenario's prediction.
#include "cli/commands/compared_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "cli/commands/compared_measurements.hpp"
#include "model/base/counted.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/ledger/path_operations.hpp"
#include "profile/traces/kernel_names.hpp"
#include "scenarios/read/scenario_options.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

void require_trace_options(const CompareOptions& options) {
  if (options.measurements.empty())
    refuse_call("missing trace (--scenario says what a trace is a step of)");
  if (!options.hardware.empty()) refuse_call("conflicting --hardware (the scenario names its own)");
  if (!options.tolerances.empty() || !options.junit.empty() || options.github || options.strict)
    refuse_call(
        "conflicting --tolerances, --junit, --github or --strict (a trace has no verdicts)");
}

/// Launches of the study's own path in a step.
Count launches_of(const Study& study, WorkloadId workload) {
  const auto operations = all_operations(study.path, quoted_schedule(study, study.path));
  Count runs = 1;
  if (workload.kind == WorkloadKind::prefill && study.prefill->chunk)
    runs = (study.prefill->tokens + *study.prefill->chunk - 1) / *study.prefill->chunk;
  return runs * static_cast<Count>(operations.size());
}

std::vector<PredictedTrace> predicted_rows(const Evaluation& evaluation) {
  const ResidualPath& own = evaluation.paths.front();
  std::vector<PredictedTrace> rows;
  for (const StepRow& row : evaluation.step)
    if (row.path == &own && row.schedule == quoted_schedule(evaluation.study, own))
      rows.push_back({.workload = row.workload,
                      .launches = launches_of(evaluation.study, row.workload),
                      .residual = row.residual,
                      .standard = row.residual.value - row.delta.value,
                      .share = row.share,
                      .overhead = row.overhead,
                      .fits = !does_not_fit(row)});
  return rows;
}

/// The workload that the trace is a step of, where it is known.
std::optional<WorkloadId> workload_of(const CompareOptions& options,
                                      const std::vector<PredictedTrace>& rows) {
  std::vector<std::string> names;
  for (const PredictedTrace& row : rows) {
    if (options.workload == name(row.workload)) return row.workload;
    names.push_back(name(row.workload));
  }
  if (!options.workload.empty())
    refuse_call(fmt::format("unknown workload '{}' (the scenario has: {})",
                            printable(options.workload), fmt::join(names, ", ")));
  return rows.size() == 1 ? std::optional(rows.front().workload) : std::nullopt;
}

/// "mhc_pre" of "mhc_pre/on_chip".
std::string_view without_variant(OperationId id) { return name(id).substr(0, name(id).find('/')); }

/// Whether some schedule of the path launches an operation of that name.
bool launches(const ResidualPath& path, std::string_view operation) {
  const std::span<const Schedule> schedules = path.scheme.rule->schedules;
  return std::any_of(schedules.begin(), schedules.end(), [&](Schedule schedule) {
    const std::vector<PlacedOperation> all = all_operations(path, schedule);
    return std::any_of(all.begin(), all.end(), [&](const PlacedOperation& placed) {
      return without_variant(placed.operation.id) == operation;
    });
  });
}

void add_prediction(TracedStep& traced, const Evaluation& evaluation) {
  const ResidualPath& own = evaluation.paths.front();
  traced.predicted = predicted_rows(evaluation);
  if (evaluation.study.pipeline) traced.pipeline_stages = evaluation.study.pipeline->num_stages;
  std::set<std::string> foreign;
  for (const TracedKernels& kernels : traced.operations)
    if (!launches(own, without_variant({kernels.name}))) foreign.insert(kernels.name);
  traced.foreign.assign(foreign.begin(), foreign.end());
}

std::vector<std::string> notes_of(const KernelTrace& trace) {
  std::vector<std::string> notes;
  if (trace.other_devices > 0)
    notes.push_back(fmt::format(
        "Kernels of device '{}' alone, which has most; {} left out.", printable(trace.device),
        counted(trace.other_devices, "other device is", "other devices are")));
  if (trace.without_duration > 0)
    notes.push_back(counted(trace.without_duration, "kernel without a duration was left out.",
                            "kernels without a duration were left out."));
  return notes;
}

/// "block_attnres, single_pass (at decode all_reduce: residual.attach)".
std::string predicted_as(const Study& study, const ResidualPath& path) {
  const Schedule schedule = quoted_schedule(study, path);
  const ResidualPath attached = attached_path(study, path, schedule, WorkloadKind::decode);
  const std::string where =
      study.decode ? fmt::format(" (at decode {}: residual.attach)", name(attached.attachment))
                   : "";
  return fmt::format("{}, {}{}", name(path.scheme), name(schedule), where);
}

}  // namespace

TraceReport compared_trace(const CompareOptions& options) {
  require_trace_options(options);
  const ScenarioOptions question{.settings = options.settings, .document = options.document};
  const Scenario scenario =
      asked_scenario(options.scenario, question, constants_of_option(options.constants));
  if (!scenario.study.machine)
    throw InputError({options.scenario, 1, 1},
                     "missing key 'hardware' (a trace is compared with predicted times)");
  const std::vector<KernelName> names = options.kernel_names.empty()
                                            ? shipped_kernel_names()
                                            : load_kernel_names(options.kernel_names);
  const KernelTrace trace = load_trace(options.measurements);
  TracedStep traced = traced_step(trace, names, options.measurements);
  std::vector<std::string> notes = notes_of(trace);
  if (options.steps > 0 && traced.steps > 0 && options.steps != traced.steps)
    notes.push_back(fmt::format("The trace names {} of the profiler's steps; --steps {} was taken.",
                                traced.steps, options.steps));
  if (options.steps > 0) traced.steps = options.steps;
  const Evaluation evaluation = evaluate(scenario.study);
  add_prediction(traced, evaluation);
  traced.workload = workload_of(options, traced.predicted);
  const ResidualPath& own = evaluation.paths.front();
  return {.title = fmt::format("{} against {}", printable(file_label(options.measurements)),
                               file_label(options.scenario)),
          .scheme = predicted_as(evaluation.study, own),
          .traced = std::move(traced),
          .notes = std::move(notes)};
}

}  // namespace depthcost
