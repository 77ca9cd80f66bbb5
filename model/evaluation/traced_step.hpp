// What a trace of kernels says of the residual path of a step, and what is predicted for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"
#include "model/step/workload_id.hpp"

namespace depthcost {

/// When a kernel ran, in nanoseconds of the trace's clock.
struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;  // not before `start`
};

/// The time in which at least one of them ran. Their sum would be more: a kernel that is launched
/// ahead waits for the one before it, and streams run beside one another.
Seconds time_in_any(std::vector<Interval> intervals);

/// From the first start to the last end.
Seconds span_of(const std::vector<Interval>& intervals);

/// Kernels of one operation, or of one name.
struct TracedKernels {
  std::string name;
  std::string beside;  // what else they do; empty: nothing, and their time is the residual path's
  Count launches = 0;
  Seconds time;  // in which at least one of them ran
};

/// One workload of the scenario, in its own scheme and schedule.
struct PredictedTrace {
  WorkloadId workload;
  Count launches = 0;  // of the residual path in a step, all chunks of a prefill
  Estimate<Seconds> residual;
  Seconds standard;                          // residual path of the fused standard residual
  std::optional<Estimate<double>> share;     // residual / step
  std::optional<Estimate<double>> overhead;  // added / step with the standard residual
  bool fits = true;                          // in the memory of the devices
};

struct TracedStep {
  Count launches = 0;
  Seconds kernel_time;  // in which any kernel ran
  Seconds span;
  Seconds residual;                       // in which a kernel of the residual path ran
  std::vector<TracedKernels> operations;  // mapped ones, longest first
  std::vector<TracedKernels> unmapped;    // by name, longest first
  Count steps = 0;                        // that the span holds; 0: not known
  std::vector<PredictedTrace> predicted;
  std::optional<WorkloadId> workload;  // that the trace is a step of; one of those predicted
  Count pipeline_stages = 1;           // of the scenario; a trace is of one rank
  std::vector<std::string> foreign;    // traced operations that the predicted scheme never launches

  double share_of_kernel_time() const { return residual / kernel_time; }
  double share_of_span() const { return residual / span; }
};

/// The prediction for the step that the trace is of; nullptr where that is not known.
inline const PredictedTrace* predicted_step(const TracedStep& traced) {
  for (const PredictedTrace& row : traced.predicted)
    if (traced.workload == row.workload) return &row;
  return nullptr;
}

/// Kernels that are the residual path's alone. Needs the number of steps.
inline double launches_per_step(const TracedStep& traced) {
  Count launches = 0;
  for (const TracedKernels& kernels : traced.operations)
    if (kernels.beside.empty()) launches += kernels.launches;
  return as_double(launches) / as_double(traced.steps);
}

/// Whether a kernel of the residual path also does something else, so that its own time is not
/// known.
inline bool has_folded(const TracedStep& traced) {
  return std::any_of(traced.operations.begin(), traced.operations.end(),
                     [](const TracedKernels& kernels) { return !kernels.beside.empty(); });
}

/// Whether a step of the trace has about as many launches as predicted: from half, where engines
/// leave some out, to four times, where they split each operation into several kernels. [ours]
inline bool is_comparable(const TracedStep& traced, const PredictedTrace& predicted) {
  if (traced.steps == 0 || predicted.launches == 0) return false;
  const double ratio = launches_per_step(traced) / as_double(predicted.launches);
  return ratio >= 0.5 && ratio <= 4;
}

/// What a step of the trace spends on its residual path, less the predicted fused standard
/// residual. Needs the number of steps.
inline Seconds traced_addition(const TracedStep& traced, const PredictedTrace& predicted) {
  return Seconds{traced.residual.value / as_double(traced.steps) - predicted.standard.value};
}

/// What the traced residual path adds to the step, over the step with the predicted fused standard
/// residual in its place. Nothing where the trace is not comparable, where part of it is folded, or
/// where the standard residual alone would take more than its residual path, or than the step.
inline std::optional<double> traced_overhead(const TracedStep& traced,
                                             const PredictedTrace& predicted) {
  if (!is_comparable(traced, predicted) || has_folded(traced)) return std::nullopt;
  const Seconds added = traced_addition(traced, predicted);
  const double baseline = traced.span.value / as_double(traced.steps) - added.value;
  if (added.value < 0 || baseline <= 0) return std::nullopt;
  return added.value / baseline;
}

struct Evaluation;

/// Puts beside the trace what the evaluation says of its own scheme and schedule.
void add_prediction(TracedStep& traced, const Evaluation& evaluation);

}  // namespace depthcost
