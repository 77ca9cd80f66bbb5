// Which law magnitudes follow over depth, fitted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

/// r_l over layers l: r = a; r^2 = a + b l; r = a + b l; log r = a + b l.
enum class GrowthLaw { bounded, square_root, linear, exponential };

struct Growth {
  GrowthLaw law = GrowthLaw::bounded;
  double per_layer = 0;  // b; 0 where bounded
  double error = 0;      // root mean square of log(r / fitted)
  double largest = 0;    // of all r
};

/// Fewest magnitudes that a law is fitted to: quarters of four. [ours]
inline constexpr Count kMinGrowthLayers = 16;

/// The law that fits positive magnitudes of layers 1, 2, ... behind the first eighth best; bounded
/// where the last quarter's mean is less than 1.2 times the second's. [ours]: growth as the square
/// root of l would give 1.5, linear growth 2.3.
Growth fitted_growth(std::span<const double> magnitudes);

/// Correlation of r_l with r_{l + period} behind the first period: 1 where the same pattern comes
/// back. None with less than two periods behind it.
std::optional<double> recurrence(std::span<const double> magnitudes, Count period);

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
