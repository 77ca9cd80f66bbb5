// What the residual path's backward pass moves, launches and keeps, layer by layer: counts that
// follow from the update rules and from public kernels. Times made of them have the rates of
// forward kernels and up to twice their length. REFERENCES.md, "backward" and "activations".
#pragma once

#include <vector>

#include "model/ledger/ledger.hpp"

namespace depthcost {

/// Layers 1..L in order, and behind them the output aggregation (nothing for schemes without one).
std::vector<BackwardLayer> backward_layers(const ResidualPath& path, Schedule schedule,
                                           GradientAccumulation accumulation);

/// The mean over the layers, without the output aggregation.
BackwardLayer mean_backward(const ResidualPath& path, Schedule schedule,
                            GradientAccumulation accumulation);

/// What a chunk of layers keeps. A chunk without any layer or output keeps nothing.
ChunkActivations chunk_activations(const ResidualPath& path, const ChunkOfLayers& chunk,
                                   const ActivationPlan& plan);

/// How many layers of a chunk are best made again from one kept state.
Count recompute_layers(const Scheme& scheme, Count num_layers);

/// d-vectors per token that adding up the gradients of shared sources adds in a whole pass.
double accumulation_d(const ResidualPath& path, GradientAccumulation accumulation);

}  // namespace depthcost
