// Distances, and equal rows merged.
#include "model/evaluation/nearest_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace depthcost {
namespace {

/// Another device is as far as seven times the tokens.
constexpr double kOtherDevice = 2;

/// Sum of the logarithms of all ratios.
double distance(const Evaluation& e, const TimeRow& row, const ComparedCase& measured) {
  const auto apart = [](double a, double b) { return std::abs(std::log(a / b)); };
  const StandaloneCall& call = measured.call;
  const double reads = traffic(*find_operation(call)).reads_d;
  return (measured.hardware_name == e.study.machine->name ? 0 : kOtherDevice) +
         apart(static_cast<double>(call.num_tokens), row.tokens) +
         apart(static_cast<double>(call.hidden_size),
               static_cast<double>(e.study.model.hidden_size)) +
         apart(1 + reads, 1 + traffic(row.operation).reads_d);
}

const ComparedCase* nearest(const Evaluation& e, const TimeRow& row,
                            std::span<const ComparedCase> published) {
  const ComparedCase* best = nullptr;
  for (const ComparedCase& measured : published) {
    if (find_operation(measured.call)->id != row.operation.id) continue;
    if (best == nullptr || distance(e, row, measured) < distance(e, row, *best)) best = &measured;
  }
  return best;
}

/// Of the kinds of one operation at one workload, the one that takes most of the time.
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

}  // namespace

std::vector<NearestMeasurement> nearest_measurements(const Evaluation& evaluation,
                                                     std::span<const ComparedCase> published) {
  std::vector<NearestMeasurement> rows;
  if (!evaluation.study.machine) return rows;
  for (const TimeRow* row : heaviest_kinds(evaluation)) {
    const ComparedCase* measured = nearest(evaluation, *row, published);
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
  at.path.attachment = Attachment::standalone;
  at.prefill.reset();
  at.training.reset();
  at.decode->sequences = {measured.sequences};
  at.decode->context = measured.context.value_or(study.decode->context);
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
