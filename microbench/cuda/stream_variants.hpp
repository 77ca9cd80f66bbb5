// Which variants of a ceiling kernel are tried, and their names.
#pragma once

#include <string>
#include <vector>

#include "microbench/cuda/stream_kernels.hpp"
#include "microbench/mix.hpp"

namespace depthcost::bench {

std::string name(const DeviceStreamVariant& variant);

/// What a thread has in flight must fit its registers.
std::vector<DeviceStreamVariant> variants_for(const Mix& mix);

}  // namespace depthcost::bench
