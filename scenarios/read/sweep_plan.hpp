// A scenario and the axes of a sweep. For the values of some axes it is read again; the model
// varies the others itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/progress.hpp"
#include "model/sweep/sweep.hpp"
#include "model/sweep/swept_key.hpp"
#include "scenarios/keys/values.hpp"
#include "scenarios/read/axis.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost {

/// The scenario at one combination of the axes for which it is read again. With an axis of schemes
/// it has the first scheme that can be read.
struct SweepScene {
  std::vector<std::string> values;  // one for each of SweepPlan::scene_axes
  std::optional<Study> study;
  std::string refused;              // why the scenario cannot be read
  std::vector<SchemePath> schemes;  // the values of an axis of schemes
  Remainder remainder = Remainder::paper;
  std::optional<std::size_t> batches_that_fit;  // usual_batches_that_fit()
  std::vector<SweptAxis> axes;  // the model varies these, in all scenes the same values
};

struct SweepPlan {
  std::vector<std::string> scene_axes;  // paths
  std::vector<SweepScene> scenes;
  UnreadScenario source;  // without the axes
  std::vector<std::string>
      warnings;  // value_warnings() of scenes, those that all schemes of one have
};

inline constexpr Count kDefaultMaxPoints = 1'000'000;

/// Reads the scenario as often as axes need it. All scenes have the usual decode batches that fit
/// in every scene where any fits, so that they can be compared. Without arguments the axis is
/// block_size=1..L, or the schedules of a scheme that has no blocks. Throws InputError for mistakes
/// in the scenario or an axis, for more than `max_points` points, and if no point can exist. Stops
/// where `progress` is stopped, and counts nothing into it.
SweepPlan plan_sweep(UnreadScenario source, const std::vector<std::string>& axes, Count max_points,
                     const Progress& progress = {});

/// The same with all batches and no limit on the work: for callers with limits of their own.
SweepPlan read_sweep(UnreadScenario source, const std::vector<std::string>& axes, Count max_points,
                     const Progress& progress = {});

/// The scenario without axes; nothing if it lacks a key that an axis has.
std::optional<Study> study_as_written(const UnreadScenario& source);

}  // namespace depthcost
