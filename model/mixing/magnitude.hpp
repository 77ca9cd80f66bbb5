// How large the inputs of the layers become through depth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/units.hpp"
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

}  // namespace depthcost
