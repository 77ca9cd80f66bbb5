// The memory that the CPU programs take operands from.
#pragma once

#include "microbench/harness/arena.hpp"

namespace depthcost::bench {

/// Room for the largest case and its rotation, made at first use.
Arena& host_memory();

/// Room for the rotation of a ceiling that is timed beside a kernel.
Arena& ceiling_memory();

/// Room for a few tokens.
Arena& small_memory();

}  // namespace depthcost::bench
