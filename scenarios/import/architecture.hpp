// From the values of a model file to what the model consists of beside its residual path.
#pragma once

#include <optional>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/step/architecture.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// Bound of one model's numbers: far above any, and no product of six of them overflows a double.
inline constexpr Count kMaxWidth = Count{1} << 24;

/// A file may ask for this many layers (sublayers) at most: each can cost a row.
inline constexpr Count kMaxLayers = 65536;

/// Nothing where the file has neither `attention` nor `mlp`. `num_layers` as in Transformer.
/// Appends to `notes` one line for each default. Throws InputError for what contradicts itself.
std::optional<Architecture> architecture_from(const Values& values, Count num_layers,
                                              std::vector<ResolvedValue>& notes);

}  // namespace depthcost
