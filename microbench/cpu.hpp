// What the CPU programs share: the memory that operands are taken from.
#pragma once

#include "microbench/space.hpp"

namespace depthcost::bench {

/// Room for the largest case and its rotation, made at first use.
Space& host_memory();

/// Room for a few tokens.
Space& small_memory();

}  // namespace depthcost::bench
