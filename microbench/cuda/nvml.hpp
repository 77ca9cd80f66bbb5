// NVIDIA's management library, which comes with the driver. Where it is missing, so are its values.
#pragma once

#include <optional>
#include <string>

namespace depthcost::bench {

enum class DeviceClock { sm, memory };

/// In MHz, of the device in use.
std::optional<unsigned> clock_mhz(DeviceClock clock);

/// "580.159.04".
std::optional<std::string> driver_version();

}  // namespace depthcost::bench
