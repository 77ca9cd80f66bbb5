// Sums of the trace beside the scenario's prediction.
#include "cli/commands/compared_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "cli/commands/compared_measurements.hpp"
#include "model/base/counted.hpp"
#include "model/evaluation/evaluation.hpp"
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

std::vector<std::string> notes_of(const KernelTrace& trace) {
  std::vector<std::string> notes;
  if (trace.other_devices > 0)
    notes.push_back(fmt::format(
        "Only kernels of device '{}' are counted, because it has the most; {} left out.",
        printable(trace.device),
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
