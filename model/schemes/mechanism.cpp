// Looks mechanisms up, and asks them about a whole model.
#include "model/schemes/mechanism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/infeasible.hpp"
#include "model/schemes/mechanisms/list.hpp"

namespace depthcost {
namespace {

/// A part of a d-vector takes the place of a whole one.
Count state_behind(const MechanismScheme& scheme, Count layer) {
  return static_cast<Count>(
      std::ceil(scheme.mechanism->state_d({scheme.parameters, layer, scheme.num_layers})));
}

}  // namespace

bool takes(const Mechanism& mechanism, Count MechanismParameters::*parameter) {
  return std::any_of(mechanism.keys.begin(), mechanism.keys.end(),
                     [&](const MechanismKey& key) { return key.member == parameter; });
}

std::span<const Mechanism* const> mechanisms() { return kMechanisms; }

const Mechanism* find_mechanism(std::string_view id) {
  const auto found = std::find_if(kMechanisms.begin(), kMechanisms.end(),
                                  [&](const Mechanism* each) { return each->id == id; });
  return found == kMechanisms.end() ? nullptr : *found;
}

std::optional<ParameterProblem> parameter_problem(const MechanismScheme& scheme) {
  if (scheme.mechanism->problem == nullptr) return std::nullopt;
  return scheme.mechanism->problem({scheme.parameters, scheme.num_layers, scheme.num_layers});
}

void refuse_training(const MechanismScheme& scheme) {
  throw Infeasible(
      fmt::format("training with scheme {} is not modelled (no backward pass of it is counted)",
                  scheme.mechanism->id));
}

Count largest_state(const MechanismScheme& scheme) {
  // An output is behind the last layer, and has its sources too.
  const Count last =
      scheme.mechanism->output == nullptr ? scheme.num_layers - 1 : scheme.num_layers;
  Count largest = 0;
  for (Count layer = 0; layer <= last; ++layer)
    largest = std::max(largest, state_behind(scheme, layer));
  return largest;
}

PipelineTraffic mechanism_traffic(const PipelineLayout& layout, const MechanismScheme& scheme) {
  return traffic_by_layer(layout, [&](Count layer) { return state_behind(scheme, layer); });
}

}  // namespace depthcost
