// Distances, and equal rows merged.
#include "model/evaluation/nearest_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/training/training_work.hpp"

namespace depthcost {
namespace {

/// Another device is as far as seven times the tokens.
constexpr double kOtherDevice = 2;

/// One kernel on so many tokens.
struct Call {
  Operation operation;
  double tokens = 0;
};

/// Where it runs, and on rows of which width.
struct Place {
  std::string_view hardware_name;
  double hidden_size = 0;
};

Place place_of(const Evaluation& e) {
  return {e.study.machine->name, static_cast<double>(e.study.model.hidden_size)};
}

/// Sum of the logarithms of all ratios.
double distance(const Place& place, const Call& ours, const ComparedCase& measured,
                const Operation& theirs) {
  const auto apart = [](double a, double b) { return std::abs(std::log(a / b)); };
  const StandaloneCall& call = measured.call;
  return (measured.hardware_name == place.hardware_name ? 0 : kOtherDevice) +
         apart(static_cast<double>(call.num_tokens), ours.tokens) +
         apart(static_cast<double>(call.hidden_size), place.hidden_size) +
         apart(1 + traffic(theirs).reads_d, 1 + traffic(ours.operation).reads_d);
}

const ComparedCase* nearest(const Place& place, const Call& ours,
                            std::span<const ComparedCase> published) {
  const ComparedCase* best = nullptr;
  double least = 0;
  for (const ComparedCase& measured : published) {
    const Operation theirs = find_operation(measured.call).value();
    if (theirs.id != ours.operation.id) continue;
    const double away = distance(place, ours, measured, theirs);
    if (best != nullptr && away >= least) continue;
    best = &measured;
    least = away;
  }
  return best;
}

/// For each operation at a workload, the kind that takes most of the time.
std::vector<const TimeRow*> heaviest_kinds(const Evaluation& e) {
  std::vector<const TimeRow*> heaviest;
  const auto key = [](const TimeRow& row) {
    return std::tuple(row.path, row.workload, row.operation.id);
  };
  for (const TimeRow& row : e.time) {
    if (row.schedule != quoted_schedule(e.study, *row.path)) continue;
    const auto same = std::find_if(heaviest.begin(), heaviest.end(),
                                   [&](const TimeRow* other) { return key(*other) == key(row); });
    const auto weight = [](const TimeRow& of) { return of.calls * of.predicted.value.value; };
    if (same == heaviest.end())
      heaviest.push_back(&row);
    else if (weight(row) > weight(**same))
      *same = &row;
  }
  return heaviest;
}

/// The kind that moves most of each operation in a training step's forward pass.
std::vector<Call> training_calls(const Evaluation& e) {
  struct Kind {
    Operation operation;
    double moved = 0;
  };
  std::vector<Kind> kinds;
  for (const PlacedOperation& placed : all_operations(e.paths.front(), e.study.schedule)) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.operation == placed.operation;
    });
    Kind& kind = same == kinds.end() ? kinds.emplace_back(Kind{placed.operation}) : *same;
    kind.moved += total_d(traffic(placed.operation));
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.moved > b.moved; });
  std::vector<Call> calls;
  for (const Kind& kind : kinds)
    if (std::none_of(calls.begin(), calls.end(),
                     [&](const Call& call) { return call.operation.id == kind.operation.id; }))
      calls.push_back({kind.operation, training_tokens(e.study)});
  return calls;
}

std::vector<Call> calls_at(WorkloadId workload, const Evaluation& e) {
  if (workload.kind == WorkloadKind::training) return training_calls(e);
  std::vector<Call> calls;
  for (const TimeRow* row : heaviest_kinds(e))
    if (row->path == &e.paths.front() && row->workload == workload)
      calls.push_back({row->operation, row->tokens});
  return calls;
}

}  // namespace

std::vector<NearestMeasurement> nearest_measurements(const Evaluation& evaluation,
                                                     std::span<const ComparedCase> published) {
  std::vector<NearestMeasurement> rows;
  if (!evaluation.study.machine) return rows;
  for (const TimeRow* row : heaviest_kinds(evaluation)) {
    const ComparedCase* measured =
        nearest(place_of(evaluation), {row->operation, row->tokens}, published);
    if (measured == nullptr) continue;
    const std::string scheme(name(row->path->scheme));
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const NearestMeasurement& other) {
      return other.scheme == scheme && other.measured == measured;
    });
    if (same != rows.end())
      same->workloads.push_back(row->workload);
    else
      rows.push_back({scheme, {row->workload}, measured});
  }
  return rows;
}

std::vector<NearestMeasurement> nearest_measurements_at(WorkloadId workload,
                                                        const Evaluation& evaluation,
                                                        std::span<const ComparedCase> published) {
  std::vector<NearestMeasurement> rows;
  if (!evaluation.study.machine) return rows;
  for (const Call& call : calls_at(workload, evaluation))
    if (const ComparedCase* measured = nearest(place_of(evaluation), call, published))
      rows.push_back({std::string(name(evaluation.paths.front().scheme)), {workload}, measured});
  return rows;
}

const ComparedCase* nearest_published(const ComparedCase& ours,
                                      std::span<const ComparedCase> published) {
  const StandaloneCall& call = ours.call;
  return nearest({ours.hardware_name, static_cast<double>(call.hidden_size)},
                 {find_operation(call).value(), static_cast<double>(call.num_tokens)}, published);
}

std::vector<MeasuredStep> measured_steps_of(const Study& study,
                                            std::span<const MeasuredStep> published) {
  std::vector<MeasuredStep> steps;
  for (const MeasuredStep& step : published)
    if (step.model == study.model.name && step.scheme == name(study.path.scheme))
      steps.push_back(step);
  return steps;
}

std::optional<PredictedStep> predicted_step(const Study& study, const MeasuredStep& measured) {
  if (!study.decode || study.tensor_parallel_size != measured.tensor) return std::nullopt;
  Study at = study;
  at.machine = measured.machine;
  at.schedule = measured.schedule;
  at.attachment = at.path.attachment = Attachment::standalone;
  at.prefill.reset();
  at.training.reset();
  at.decode->sequences = {measured.sequences};
  at.decode->context = measured.context.value_or(study.decode->context);
  at.decode->prompt.reset();
  at.decode->speculation = {};
  at.pipeline.reset();
  at.data_parallel_size = at.context_parallel_size = 1;
  at.expert_parallel_size = 1;  // a measured step has no key for expert ranks
  at.routing.reset();
  at.baseline_attachment.reset();
  at.decode->launch = Launch::graph;
  at.decode->baseline_steps.clear();
  at.written_terms.clear();
  PredictedStep predicted{.step = {},
                          .residual = step_rows(at, at.path, at.schedule).front().residual};
  const Workload workload = workloads_of(at, at.path, at.schedule).front();
  const RestOfStep rest = rest_of_step(at, workload);
  if (rest.rows.empty()) return predicted;
  // As if both erred the same way.
  predicted.step = rest.total() + predicted.residual;
  return predicted;
}

}  // namespace depthcost
