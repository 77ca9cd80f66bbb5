// How many experts the layers of a model have.
#pragma once

#include <algorithm>
#include <optional>
#include <variant>

#include "model/architecture/architecture.hpp"

namespace depthcost {

/// Experts of the layer that has fewest: no more ranks can each hold one. Nothing for a dense
/// model.
inline std::optional<Count> fewest_experts(const Architecture& architecture) {
  std::optional<Count> fewest;
  for (const MlpLayers& layers : architecture.mlp)
    if (const auto* experts = std::get_if<ExpertMlp>(&layers.mlp))
      fewest = std::min(fewest.value_or(experts->num_experts), experts->num_experts);
  return fewest;
}

}  // namespace depthcost
