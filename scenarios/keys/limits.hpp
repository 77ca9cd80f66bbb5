// The most that one file may ask for, so that a small file takes little time and memory. KEYS.md
// lists them all.
#pragma once

#include <string>

#include "model/base/units.hpp"

namespace depthcost {

/// Layers (sublayers) of a model. The deepest published one has 2,000. [ours]
inline constexpr Count kMaxLayers = 16384;

/// Routed experts of a layer: a skewed load is a sum over them. [ours]
inline constexpr Count kMaxExperts = 65536;

/// Devices of a scenario, whose ranks are multiplied. [ours]
inline constexpr Count kMostDevices = Count{1} << 40;

/// Batches of a decode step. [ours]
inline constexpr std::size_t kMaxBatches = 256;

/// Readings of a scenario by a sweep or a plan. Each takes a millisecond or two and ten kilobytes.
/// [ours]
inline constexpr double kMaxScenes = 10'000;

/// The most that --max-points may ask for. Points take 120 bytes, and 200 as CSV. [ours]
inline constexpr Count kMostPoints = 4'000'000;

/// A table of all limits, as Markdown.
std::string limits_documentation();

}  // namespace depthcost
