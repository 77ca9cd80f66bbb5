// Which outputs bypass the caches.
#pragma once

#include <cstddef>

#include "kernels/cpu/tuning.hpp"

namespace depthcost::cpu {

enum class StorePolicy { cached, streaming };

/// The policy of a call that writes `output_bytes`.
inline StorePolicy store_policy(std::size_t output_bytes) {
  return output_bytes < kStreamBytes ? StorePolicy::cached : StorePolicy::streaming;
}

}  // namespace depthcost::cpu
