// The ledger: what a scheme moves per token, layer by layer, in total, and as the mean, for every
// schedule and convention. The formulas stand in the files of the schemes.
#pragma once

#include <vector>

#include "model/base/traffic.hpp"
#include "model/operations/operation.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// A scheme on a model of L layers. `attachment` changes convention `kernel` alone.
struct ResidualPath {
  Scheme scheme;
  Count num_layers = 0;
  Attachment attachment = Attachment::standalone;
};

/// What layer `layer` (1-based) moves.
Traffic layer_traffic(const ResidualPath& path, Counting counting, Count layer);

/// What each of the layers 1..L moves, in order: layer_traffic without looking for each place.
std::vector<Traffic> layer_traffics(const ResidualPath& path, Counting counting);

/// Sum over layers 1..L, in closed form; without the output aggregation.
Traffic total_traffic(const ResidualPath& path, Counting counting);

/// Mean over layers 1..L.
Traffic mean_traffic(const ResidualPath& path, Counting counting);

/// The aggregation behind the last layer, its own line: Table 1 leaves it out. Zero for schemes
/// without one and under convention `paper`.
Traffic output_traffic(const ResidualPath& path, Counting counting);

/// A whole forward pass: all layers and the output aggregation.
Traffic forward_traffic(const ResidualPath& path, Counting counting);

/// Table 1 assumes S = L/N: false if blocks differ in size and `counting` is the paper's.
bool inside_domain(const ResidualPath& path, Counting counting);

}  // namespace depthcost
