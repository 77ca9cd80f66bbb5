// A walk over the layers, each asked of the scheme's own backward rule.
#include "model/ledger/backward.hpp"

#include <cassert>

#include "model/ledger/launches.hpp"

namespace depthcost {

std::vector<BackwardLayer> backward_layers(const ResidualPath& path, Schedule schedule,
                                           GradientAccumulation accumulation) {
  const BackwardRule& backward = backward_of(path.scheme);
  std::vector<BackwardLayer> layers;
  layers.reserve(static_cast<std::size_t>(path.num_layers) + 1);
  const auto push = [&](const SchemeLayer& at) {
    layers.push_back(backward.layer(at, schedule, accumulation));
  };
  each_layer(path, push);
  if (path.scheme.rule->output == nullptr)
    layers.emplace_back();
  else
    push(layer_at(path, path.num_layers + 1));
  return layers;
}

ChunkActivations chunk_activations(const ResidualPath& path, const ChunkOfLayers& chunk,
                                   const ActivationPlan& plan) {
  assert(chunk.first_layer >= 1 && chunk.first_layer + chunk.num_layers - 1 <= path.num_layers);
  return backward_of(path.scheme).activations(layer_at(path, path.num_layers), chunk, plan);
}

Count recompute_layers(const Scheme& scheme, Count num_layers) {
  const auto best = backward_of(scheme).recompute_layers;
  return best == nullptr ? 1 : best(scheme.parameters, num_layers);
}

double accumulation_d(const ResidualPath& path, GradientAccumulation accumulation) {
  const auto added = backward_of(path.scheme).accumulation_d;
  return added == nullptr ? 0 : added(layer_at(path, path.num_layers), accumulation);
}

}  // namespace depthcost
