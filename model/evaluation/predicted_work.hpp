// How much work a study asks for, known before any of it is done. Limits are in units of work and
// not in seconds, so that a file is refused on every machine or on none.
#pragma once

#include "model/step/study.hpp"
#include "model/sweep/sweep.hpp"

namespace depthcost {

/// Kinds of launches that are timed for one evaluation. 2^18 rows take 100 MB as JSON. [ours]
inline constexpr double kMaxTimedLaunches = 1 << 18;

/// Passes of chunks that are simulated for one evaluation: of all schemes and schedules. A
/// simulation of 2^19 takes a fifth of a second and 200 MB; each is run a dozen times. [ours]
inline constexpr double kMaxSimulatedPasses = 1 << 21;

/// Layers that a sweep goes through: those of every choice. 2^23 take 16 s and 400 MB. [ours]
inline constexpr double kMaxSweptLayers = 1 << 23;

/// Passes of chunks that a sweep simulates. [ours]
inline constexpr double kMaxSweptPasses = 1 << 24;

/// Layers that a plan goes through: those of its sweeps on all placements, at every batch. 2^25
/// take two minutes of two cores where every placement breaks a limit, else a few seconds. [ours]
inline constexpr double kMaxPlannedLayers = 1 << 25;

/// Passes of chunks that a plan simulates on all placements: two minutes of two cores. [ours]
inline constexpr double kMaxPlannedPasses = 1 << 28;

/// Rows of `evaluate --layers`: layers and launches of all schemes. [ours]
inline constexpr double kMaxLayerRows = 1 << 20;

/// Kinds of launches of a forward pass, as a few of its layers promise: at least as many as
/// distinct_operations() has.
double distinct_launches(const ResidualPath& path, Schedule schedule);

/// Launches of all paths and schedules in all workloads, and once without a workload.
double timed_launches(const Study& study);

/// Passes of all paths and schedules; 0 without a training step.
double simulated_passes(const Study& study);

/// Rows that `evaluate --layers` adds.
double layer_rows_asked(const Study& study);

/// Layers of all choices. A layer of Block AttnRes weighs a sixteenth, since its blocks have closed
/// forms, and a choice whose layers are all alike weighs as much as one layer.
double swept_layers(const Study& study, const std::vector<SweptAxis>& axes);

/// The same at every batch, and at whole chunks and the rest of a prefill.
double planned_layers(const Study& study, const std::vector<SweptAxis>& axes);

/// Passes of all choices; 0 without a training step.
double swept_passes(const Study& study, const std::vector<SweptAxis>& axes);

}  // namespace depthcost
