// Magnitudes through depth of random networks, run by the reference kernels in float64.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/partition.hpp"
#include "model/mixing/growth_law.hpp"

namespace depthcost {

/// Standard residual and Full AttnRes, and Block AttnRes where `blocks` has some, around the same
/// `num_layers` random layers. At least kMinGrowthLayers.
std::vector<MagnitudeSeries> random_magnitudes(Count num_layers, const Partition& blocks,
                                               std::uint64_t seed);

}  // namespace depthcost
