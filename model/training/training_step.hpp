// What the residual path adds to a training step: forward, backward and recomputation of every
// chunk, run through the simulated pipeline with the layers between them. REFERENCES.md,
// "training".
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/step/step.hpp"
#include "model/training/training_memory.hpp"
#include "model/training/training_work.hpp"

namespace depthcost {

/// One scheme and schedule, simulated in the middle of all intervals.
struct TrainingRun {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Seconds makespan;             // of the pipeline
  Seconds reduction;            // of gradients, behind it
  Seconds forward;              // of the residual path, all chunks on one micro-batch
  Seconds backward;             // as above
  Seconds recompute;            // as above
  Seconds communication;        // what the step would be shorter by if links were free
  double bubble = 0;            // share of the pipeline in which a stage does not compute
  double accumulation_d = 0;    // d-vectors per token that adding up gradients moves; of AttnRes
  std::vector<Bytes> messages;  // of one micro-batch over each transition, forward
  std::vector<StageMemory> stages;
};

struct TrainingAnswer {
  std::vector<TrainingRun> runs;           // every scheme and schedule
  std::vector<StepRow> steps;              // the same, in the same order
  RestOfStep rest;                         // one forward pass of a micro-batch, all layers
  std::optional<PipelineWork> work;        // of the study's scheme as it is quoted
  std::optional<SimulatedStep> simulated;  // the same, run
};

/// The steps of residual paths that differ in nothing but scheme, blocks and schedule: order, rest
/// of the step and baseline are found once. The study needs a training step and a machine, and
/// outlives this. row() is what training_answer() has in `steps`, and may be called by several
/// threads.
class TrainingSteps {
 public:
  explicit TrainingSteps(const Study& study);
  TrainingSteps(const TrainingSteps&) = delete;
  TrainingSteps& operator=(const TrainingSteps&) = delete;
  ~TrainingSteps();

  /// `path` is attached as the study's own.
  StepRow row(const ResidualPath& path, Schedule schedule) const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// The step with the fused standard residual, in the middle of all intervals. The study must have a
/// training step, a machine and an architecture.
Seconds standard_training_step(const Study& study);

/// What every step of the study takes at least, in the middle of all intervals, whatever its
/// residual path: its layers alone, without messages. No measured step; else as above.
Seconds least_seconds_of_training(const Study& study);

/// A step in which the layers take no time: the fused standard residual and its messages alone.
/// Nobody can have measured a shorter one. The study must have a training step and a machine.
Seconds least_training_step(const Study& study);

/// What the pipeline's links add to a step, as a share of the same step with free links: all that
/// is not hidden beside computation, of warm-up and cool-down too.
struct ExposedCommunication {
  std::optional<Estimate<double>> share;
  std::string missing;  // why there is none
};

/// What the study's scheme exposes in its schedule. The study must have a training step.
ExposedCommunication exposed_communication(const Study& study);

/// Empty without a training step or a machine. Rows point at `paths`.
TrainingAnswer training_answer(const Study& study, const std::vector<ResidualPath>& paths);

}  // namespace depthcost
