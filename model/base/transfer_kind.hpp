// How devices send each other bytes.
#pragma once

#include <cstdint>

namespace depthcost {

enum class TransferKind : std::uint8_t { send, all_reduce, all_gather, reduce_scatter, all_to_all };

}  // namespace depthcost
