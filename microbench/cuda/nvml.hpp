// NVIDIA's management library, which comes with the driver. Without it the values here are missing.
#pragma once

#include <optional>
#include <string>

namespace depthcost::bench {

enum class DeviceClock { sm, memory };

/// Clock of the device in use, in MHz.
std::optional<unsigned> clock_mhz(DeviceClock clock);

/// "580.159.04".
std::optional<std::string> driver_version();

}  // namespace depthcost::bench
