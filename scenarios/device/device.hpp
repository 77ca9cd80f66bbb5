// `hardware:` names a device: by a preset of datasheets and published figures, or by the profile
// that the machine has measured of itself.
#pragma once

#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/machine.hpp"
#include "scenarios/presets/reference.hpp"

namespace depthcost {

/// The values behind a reference to a device, and the kind of file that they come from.
struct DeviceValues {
  Values values;
  ReferenceKind kind;
};

/// Not a preset of datasheets.
bool is_profile(const DeviceValues& device);

/// A preset, a path or a map that stands in the file `file`. Throws InputError.
DeviceValues resolve_device(const Node& node, const std::string& file);

/// As above, for what the command line gives.
DeviceValues resolve_device(const std::string& name, const std::string& option);

/// With its own transfers only: borrow_transfers() is for who asks about several devices.
Machine machine_from(const DeviceValues& device, std::vector<ResolvedValue>& notes);

/// As borrow_transfers() of scenarios/device/transfers.hpp; for a profile, by the part that it
/// names.
void borrow_transfers(const DeviceValues& device, Machine& machine,
                      std::vector<ResolvedValue>& notes);

}  // namespace depthcost
