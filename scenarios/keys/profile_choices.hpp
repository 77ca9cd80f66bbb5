// The enums whose names some keys of a profile take.
#pragma once

#include "model/base/enum_names.hpp"

namespace depthcost::profile {

/// The memory level that holds the arrays of a ceiling.
enum class MemoryLevel { L1, L2, L3, memory };

/// The ceilings that a prediction uses.
enum class Ceilings { same_mix, generic };

/// The kernels that predictions are compared with.
enum class Cases {
  calibration,  // shapes that the form and the interval were chosen on
  held_out,     // shapes that no choice was made on
  small,        // a few tokens, cold and from the cache: outside the calibrated range
};

}  // namespace depthcost::profile
