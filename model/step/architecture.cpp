// Names as they stand in model files and reports.
#include "model/step/architecture.hpp"

#include <array>

namespace depthcost {

std::string_view name(WeightDtype dtype) {
  constexpr std::array<std::string_view, 5> names{"mxfp4", "fp8", "bf16", "f16", "f32"};
  return names[static_cast<std::size_t>(dtype)];
}

std::string_view name(OutputGate gate) { return gate == OutputGate::absent ? "absent" : "present"; }

std::string_view name(const Attention& attention) {
  constexpr std::array<std::string_view, 4> names{"grouped", "latent", "linear", "compressed"};
  static_assert(names.size() == std::variant_size_v<Attention>);
  return names[attention.index()];
}

std::string_view name(const Mlp& mlp) {
  constexpr std::array<std::string_view, 2> names{"dense", "experts"};
  static_assert(names.size() == std::variant_size_v<Mlp>);
  return names[mlp.index()];
}

}  // namespace depthcost
