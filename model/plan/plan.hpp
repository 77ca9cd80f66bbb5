// Which placement on the devices is the fastest whose residual path keeps the limits?
//
//   1. A placement that does not fit into memory is out, before anything is timed.
//   2. Its schedule and its blocks are what a sweep of them recommends: recommendation.hpp.
//   3. All placements have the same work. The least time wins among those whose choice keeps every
//      limit with its median.
//   4. A training step is simulated. A placement is looked at no further if its layers alone,
//      simulated once, take longer than the third best whole step, and than the best of its scheme.
//
// [ours]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/progress.hpp"
#include "model/plan/placement.hpp"
#include "model/sweep/recommendation.hpp"

namespace depthcost {

/// A study on one placement, and the axes of the choices that it leaves open.
struct PlacedStudy {
  Placement placement;
  Study study;
  std::vector<SweptAxis> axes;
};

enum class PlanFate : std::uint8_t { keeps, breaks, does_not_fit, unknown };

/// One workload point of a plan.
struct PlannedTime {
  WorkloadId workload;
  Estimate<Seconds> step;  // with the residual path
  Estimate<Seconds> added;
  Estimate<double> overhead;
  double limit = 0;
  double tokens_per_second = 0;  // and device
};

struct PlannedPlacement {
  Placement placement;
  std::string scheme;
  PlanFate fate = PlanFate::unknown;
  std::string missing = {};  // why it is unknown
  Bytes memory;              // of the fullest workload
  Schedule schedule = Schedule::fused;
  Schedule shipped = Schedule::fused;    // what engines run of this scheme
  std::optional<Partition> blocks = {};  // of AttnRes
  QualityEvidence quality = {};
  std::vector<PlannedTime> times = {};  // nothing where it does not fit
  double cost = 0;                      // seconds that all devices take for the same work
  std::vector<Placement> as_good = {};  // others that no number here tells apart
};

/// What the time of a plan is of: decode steps, else prompts, else training steps.
WorkloadKind planned_workload(const Study& study);

/// The bytes that a plan may fill of the device's memory: engines keep the rest. The study must
/// have a machine that says its capacity.
Bytes planned_memory(const Study& study);

/// Whether not even the standard residual fits, which keeps least.
bool is_too_large(const PlacedStudy& placed);

/// What a plan on this placement costs at least; 0 where no bound is known.
double least_cost(const PlacedStudy& placed);

/// The best choice on one placement. The study must have a machine with a capacity, an
/// architecture, and no measured steps; its budgets are the limits.
PlannedPlacement planned(const PlacedStudy& placed);

struct Plans {
  std::vector<PlannedPlacement> best;  // at most three that differ, the best first
  /// One for each scheme that is not among the best: its fastest that keeps the limits, or else the
  /// one that exceeds them least.
  std::vector<PlannedPlacement> others;
  /// What the first would choose if it might fill the whole device.
  std::optional<PlannedPlacement> just_too_large;
  std::optional<PlannedPlacement> nearest;  // where none keeps the limits
  std::optional<PlannedPlacement> faster;   // the fastest that fits, if it breaks a limit
  std::size_t searched = 0;
  std::size_t kept = 0;
  std::size_t too_large = 0;
  std::size_t broken = 0;
  std::size_t unknown = 0;
  std::size_t slower = 0;  // their layers alone take longer than the last of the best
};

/// Counts placements into `progress`. The nearest is the one that exceeds its limits least, and
/// where nothing fits the one that needs the least memory.
Plans plans_of(const std::vector<PlacedStudy>& placed, std::size_t num_threads, Progress& progress);

}  // namespace depthcost
