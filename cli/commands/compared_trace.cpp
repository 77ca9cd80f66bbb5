// Sums of the trace beside the scenario's prediction.
#include "cli/commands/compared_trace.hpp"

#include <fmt/format.h>

#include "model/evaluation/evaluation.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/traces/kernel_names.hpp"

namespace depthcost {
namespace {

[[noreturn]] void fail_trace_usage(std::string_view problem) {
  throw InputError({"compare", 1, 1}, problem);
}

void require_trace_options(const CompareOptions& options) {
  if (options.measurements.empty())
    fail_trace_usage("missing trace (--scenario says what a trace is a step of)");
  if (!options.hardware.empty())
    fail_trace_usage("conflicting --hardware (the scenario names its own)");
  if (!options.tolerances.empty() || !options.junit.empty() || options.github || options.strict)
    fail_trace_usage(
        "conflicting --tolerances, --junit, --github or --strict (a trace has no verdicts)");
}

std::vector<PredictedTrace> predicted_rows(const Evaluation& evaluation) {
  const ResidualPath& own = evaluation.paths.front();
  std::vector<PredictedTrace> rows;
  for (const StepRow& row : evaluation.step)
    if (row.path == &own && row.schedule == quoted_schedule(evaluation.study, own))
      rows.push_back({.workload = row.workload,
                      .residual = row.residual,
                      .standard = row.residual.value - row.delta.value,
                      .share = row.share,
                      .overhead = row.overhead,
                      .fits = !does_not_fit(row)});
  return rows;
}

std::vector<std::string> notes_of(const KernelTrace& trace) {
  std::vector<std::string> notes;
  if (trace.other_devices > 0)
    notes.push_back(fmt::format(
        "Kernels of device '{}' alone, which has most; {} other device{} left out.",
        printable(trace.device), trace.other_devices, trace.other_devices == 1 ? " is" : "s are"));
  if (trace.without_duration > 0)
    notes.push_back(
        fmt::format("{} kernels without a duration were left out.", trace.without_duration));
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
  const Scenario scenario = read_scenario(options.scenario, constants_of_option(options.constants));
  if (!scenario.study.machine)
    throw InputError({options.scenario, 1, 1},
                     "missing key 'hardware' (a trace is compared with predicted times)");
  const std::vector<KernelName> names = options.kernel_names.empty()
                                            ? shipped_kernel_names()
                                            : load_kernel_names(options.kernel_names);
  const KernelTrace trace = load_trace(options.measurements);
  TracedStep traced = traced_step(trace, names, options.measurements);
  if (options.steps > 0) traced.steps = options.steps;
  const Evaluation evaluation = evaluate(scenario.study);
  traced.predicted = predicted_rows(evaluation);
  const ResidualPath& own = evaluation.paths.front();
  return {.title = fmt::format("{} against {}", printable(file_label(options.measurements)),
                               file_label(options.scenario)),
          .scheme = predicted_as(evaluation.study, own),
          .traced = std::move(traced),
          .notes = notes_of(trace)};
}

}  // namespace depthcost
