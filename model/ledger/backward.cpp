// A walk over the layers, each asked of the scheme's own backward rule.
#include "model/ledger/backward.hpp"

#include <cassert>

#include "model/ledger/launches.hpp"

namespace depthcost {

std::vector<BackwardLayer> backward_layers(const ResidualPath& path, Schedule schedule,
                                           GradientAccumulation accumulation) {
  const BackwardRule& backward = *path.scheme.rule->backward;
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
  return path.scheme.rule->backward->activations(layer_at(path, path.num_layers), chunk, plan);
}

Count recompute_layers(const Scheme& scheme, Count num_layers) {
  const auto best = scheme.rule->backward->recompute_layers;
  return best == nullptr ? 1 : best(scheme.parameters, num_layers);
}

BackwardLayer mean_backward(const ResidualPath& path, Schedule schedule,
                            GradientAccumulation accumulation) {
  std::vector<BackwardLayer> layers = backward_layers(path, schedule, accumulation);
  layers.pop_back();
  BackwardLayer sum;
  for (const BackwardLayer& layer : layers) sum = sum + layer;
  const auto L = static_cast<double>(path.num_layers);
  return {1 / L * sum.traffic, sum.kernels / L};
}

double accumulation_d(const ResidualPath& path, GradientAccumulation accumulation) {
  const auto added = path.scheme.rule->backward->accumulation_d;
  return added == nullptr ? 0 : added(layer_at(path, path.num_layers), accumulation);
}

}  // namespace depthcost
