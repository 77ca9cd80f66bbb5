// The memory that the CPU programs take operands from.
#pragma once

#include "microbench/harness/arena.hpp"

namespace depthcost::bench {

/// Room for the largest case and its rotation, made at first use.
Arena& host_memory();

/// Room for a few tokens.
Arena& small_memory();

}  // namespace depthcost::bench
