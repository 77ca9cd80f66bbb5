// Names as they stand in scenarios and reports.
#include "model/training.hpp"

#include <array>

namespace depthcost {

std::string_view name(ResidualActivations activations) {
  constexpr std::array<std::string_view, 3> names{"keep", "recompute", "offload"};
  return names[static_cast<std::size_t>(activations)];
}

std::string_view name(GradientAccumulation accumulation) {
  constexpr std::array<std::string_view, 3> names{"autograd", "fused", "per_block"};
  return names[static_cast<std::size_t>(accumulation)];
}

}  // namespace depthcost
