// Reads the attention, MLPs and embedding of a model file: everything beside its residual path.
#pragma once

#include <optional>
#include <vector>

#include "model/architecture/architecture.hpp"
#include "model/base/resolved_value.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// The largest number in a model file. It is far above any real one, and no product of six
/// overflows a double.
inline constexpr Count kMaxWidth = Count{1} << 24;

/// Returns nothing if the file has neither `attention` nor `mlp`. `num_layers` counts sublayers, as
/// in Transformer. Appends to `notes` one line for each default. Throws InputError for
/// contradictions.
std::optional<Architecture> architecture_from(const Values& values, Count num_layers,
                                              std::vector<ResolvedValue>& notes);

}  // namespace depthcost
