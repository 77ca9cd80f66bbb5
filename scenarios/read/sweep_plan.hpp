// A scenario and the axes of a sweep over it: what is read again for some of their values, and what
// the model varies itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/sweep/sweep.hpp"
#include "model/sweep/swept_key.hpp"
#include "scenarios/keys/values.hpp"
#include "scenarios/read/axis.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost {

/// The scenario at one combination of the axes for which it is read again; under an axis of schemes
/// at the first that can be read.
struct SweepScene {
  std::vector<std::string> values;  // of SweepPlan::scene_axes
  std::optional<Study> study;
  std::string refused;              // why there is none
  std::vector<SchemePath> schemes;  // of an axis of schemes
  std::vector<SweptAxis> axes;  // what the model varies: the same in all scenes, but for schemes
};

struct SweepPlan {
  std::vector<std::string> scene_axes;  // paths
  std::vector<SweepScene> scenes;
  std::optional<Study> own;  // the scenario as it is written; none if it cannot stand alone
};

inline constexpr Count kDefaultMaxPoints = 1'000'000;

/// A scenario before it is read.
struct SweepSource {
  Node document;
  std::string file;  // labels positions; references are relative to its folder
  Provenance provenance = Provenance::scenario;
};

/// Reads the scenario as often as axes need it. Without arguments the axis is block_size=1..L.
/// Throws InputError: what the scenario or an axis says wrongly, more points than `max_points`, or
/// that none of them can exist.
SweepPlan plan_sweep(SweepSource source, const std::vector<std::string>& axes, Count max_points);

/// As above, of a scenario file.
SweepPlan plan_sweep(const std::string& scenario, const std::vector<std::string>& axes,
                     Count max_points);

}  // namespace depthcost
