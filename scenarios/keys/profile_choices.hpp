// What some keys of a profile say: the enums whose names they take.
#pragma once

#include "model/base/enum_names.hpp"

namespace depthcost::profile {

/// Where the streams of a ceiling lie.
enum class StreamLevel { L1, L2, L3, memory };

/// Whose ceilings a prediction rests on.
enum class Ceilings { same_mix, generic };

/// Kernels that a prediction is held against.
enum class Cases {
  calibration,  // shapes that the form and the interval were chosen on
  held_out,     // shapes that nothing was chosen on
  small,        // a few tokens, cold and from the cache: outside the calibrated range
};

}  // namespace depthcost::profile
