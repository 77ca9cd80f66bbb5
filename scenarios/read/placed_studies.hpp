// A scenario read again on each of many placements, so that a placement can do no more than a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/progress.hpp"
#include "model/plan/plan.hpp"
#include "scenarios/read/sweep_plan.hpp"

namespace depthcost {

/// Whether a plan looks for a block size, or keeps the one that is written.
enum class PlannedBlocks : bool { written, searched };

struct PlanSource {
  UnreadScenario source;
  Study own;                          // the scenario as it is written
  std::vector<std::string> warnings;  // its value_warnings()
  PlannedBlocks blocks = PlannedBlocks::searched;
  std::optional<double> overhead = {};  // a limit in place of the scenario's, of every workload
};

struct PlacedStudies {
  std::vector<PlacedStudy> placed;
  std::size_t refused = 0;           // placements that the scenario cannot have
  std::string first_refusal;         // why
  std::size_t left_out_context = 0;  // placements whose context ranks nobody has asked for
  std::size_t left_out_data = 0;     // placements whose replicas cannot share the work evenly
};

/// What a plan asks for, over all its schemes. Throws InputError at `--devices` for what would take
/// minutes, as soon as that is known.
class PlanWork {
 public:
  /// So many placements will be read.
  void ask(std::size_t placements);
  /// What a sweep on one of them goes through.
  void add(const PlacedStudy& placed);

 private:
  void refuse_above(double limit, double asked, const char* what, const char* advice) const;

  double readings_ = 0;
  double layers_ = 0;
  double passes_ = 0;
};

/// How many placements are read for `question`. Throws InputError at `position` where a plan cannot
/// say a time: without hardware or an architecture, or with a step that has been measured.
std::size_t num_placements(const PlanSource& question, Count devices, const Position& position);

/// The scenario on every placement on so many devices. All of them have the work of the scenario:
/// replicas share the sequences of each decode step, and the micro-batches of a training step,
/// evenly. Context ranks are placed where the scenario has some: what they exchange is not
/// modelled. Throws as num_placements() does. Adds to `work`. Stops where `progress` is stopped,
/// and counts nothing into it.
PlacedStudies placed_studies(const PlanSource& question, Count devices, const Position& position,
                             PlanWork& work, std::size_t num_threads,
                             const Progress& progress = {});

/// The settings, such as "parallelism.tensor=8", that turn the scenario of `question` into the one
/// that `plan` was timed with.
std::vector<std::string> plan_settings(const PlanSource& question, const PlannedPlacement& plan);

}  // namespace depthcost
