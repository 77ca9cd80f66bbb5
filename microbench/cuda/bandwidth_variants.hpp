// Which variants of a ceiling kernel are tried, and their names.
#pragma once

#include <string>
#include <vector>

#include "microbench/cuda/bandwidth_kernels.hpp"
#include "microbench/harness/traffic_label.hpp"

namespace depthcost::bench {

std::string name(const DeviceBandwidthVariant& variant);

/// The variants whose loads in flight fit the registers of a thread.
std::vector<DeviceBandwidthVariant> variants_for(const Mix& mix);

}  // namespace depthcost::bench
