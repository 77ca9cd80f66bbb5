// The shapes that the benchmark programs measure, as far as a profile must know them.
#pragma once

#include <cstddef>

#include "model/base/units.hpp"

namespace depthcost::profile {

// Shapes that no choice is made on: predictions are compared with their times. Kernels with another
// number of blocks than the usual one are held out, too.
inline constexpr Count kHeldOutWidth = 5120;
inline constexpr Count kHeldOutTokens = 3000;
inline constexpr Count kUsualBlocks = 8;

// Bytes of all arrays of a ceiling that lies in a cache. They are fixed, because a virtual machine
// is told the sizes of its host's caches.
inline constexpr std::size_t kArrayBytesInL1 = std::size_t{24} << 10U;
inline constexpr std::size_t kArrayBytesInL2 = std::size_t{768} << 10U;
inline constexpr std::size_t kArrayBytesInL3 = std::size_t{12} << 20U;

}  // namespace depthcost::profile
