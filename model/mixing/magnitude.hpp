// Magnitudes through depth of random networks, run by the reference kernels in float64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/partition.hpp"
#include "model/mixing/growth_law.hpp"

namespace depthcost {

/// Root mean square of something in each layer, over tokens and features.
struct MagnitudeSeries {
  std::string scheme;              // "block_attnres"
  std::string layers;              // "prenorm": what the layers do with their input
  std::string quantity;            // "layer_input" | "partial_sum"
  std::vector<double> magnitudes;  // layers 1..L
  Growth growth;
  Count period = 0;                  // of blocks; 0 without
  std::optional<double> recurrence;  // after a period
};

/// Standard residual and Full AttnRes, and Block AttnRes where `blocks` has some, around the same
/// `num_layers` random layers. At least kMinGrowthLayers.
std::vector<MagnitudeSeries> random_magnitudes(Count num_layers, const Partition& blocks,
                                               std::uint64_t seed);

}  // namespace depthcost
