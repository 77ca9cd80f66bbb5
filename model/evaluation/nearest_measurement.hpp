// What others have measured that is nearest to what a study calls. A measurement is held against
// the prediction of the very call that was measured, on the device that it was measured on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "model/machine/comparison.hpp"

namespace depthcost {

/// One published kernel beside the calls of a scheme that it is nearest to.
struct NearestMeasurement {
  std::string scheme;
  std::vector<WorkloadId> workloads;  // whose calls it is nearest to
  const ComparedCase* measured = nullptr;
};

/// For each scheme in its quoted schedule and each of its operations, at every workload, the
/// nearest of `published`: the same operation, and as like as can be in device, tokens, width and
/// d-vectors. Operations that nobody has measured have no row. Rows point into `published`.
std::vector<NearestMeasurement> nearest_measurements(const Evaluation& evaluation,
                                                     std::span<const ComparedCase> published);

/// The same for the study's own scheme and schedule at one of its workloads, a row for each
/// operation. A training step has its forward pass: nobody has published a time of a backward
/// kernel.
std::vector<NearestMeasurement> nearest_measurements_at(WorkloadId workload,
                                                        const Evaluation& evaluation,
                                                        std::span<const ComparedCase> published);

/// The nearest of `published` to a measured kernel, in the same sense; nullptr if nobody has
/// published a time of its operation.
const ComparedCase* nearest_published(const ComparedCase& ours,
                                      std::span<const ComparedCase> published);

/// What the time of a measured step covers: the sum of its kernels, or everything.
enum class StepSpan : std::uint8_t { kernels, step };

/// A decode step of a served model as somebody has published it.
struct MeasuredStep {
  Machine machine;  // as its preset says
  std::string stack;
  std::string model;
  std::string scheme;
  Schedule schedule = Schedule::single_pass;
  Count tensor = 1;
  Count sequences = 1;
  std::optional<Count> context;
  StepSpan span = StepSpan::step;
  Seconds time;
  std::optional<Seconds> residual;
  std::string source;
};

/// The published steps of the study's model in the study's scheme.
std::vector<MeasuredStep> measured_steps_of(const Study& study,
                                            std::span<const MeasuredStep> published);

/// A measured step as it is predicted.
struct PredictedStep {
  std::optional<Estimate<Seconds>> step;  // nothing where the rest of the step is not modelled
  Estimate<Seconds> residual;
};

/// The study's model and blocks on the device that was measured, in the batch and schedule that
/// were, in a graph, the residual path as kernels of its own. The context is the study's where none
/// was published. Nothing without a decode workload, or where the ranks are others.
std::optional<PredictedStep> predicted_step(const Study& study, const MeasuredStep& measured);

}  // namespace depthcost
