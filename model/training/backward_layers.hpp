// What the residual path's backward pass moves and launches, layer by layer. No backward kernel is
// measured here: counts follow from the update rules and from public kernels, and times made of
// them are `assumed`. REFERENCES.md, "backward".
#pragma once

#include <vector>

#include "model/schemes/gradient_traffic.hpp"
#include "model/schemes/ledger.hpp"

namespace depthcost {

struct BackwardLayer {
  GradientTraffic traffic;  // per token
  double kernels = 0;       // launched
};

/// Layers 1..L in order, and behind them the output aggregation (nothing for schemes without one).
std::vector<BackwardLayer> backward_layers(const ResidualPath& path, Schedule schedule,
                                           GradientAccumulation accumulation);

}  // namespace depthcost
