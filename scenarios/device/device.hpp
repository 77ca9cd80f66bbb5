// `hardware:` names a device. It is a preset, made from datasheets and published figures, or a
// profile, measured on the machine itself.
#pragma once

#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/machine.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/presets/reference.hpp"

namespace depthcost {

/// The values behind a reference to a device, and the kind of file that they come from.
struct DeviceValues {
  Values values;
  ReferenceKind kind;
};

/// Whether the values are those of a profile, not of a preset.
bool is_profile(const DeviceValues& device);

/// A preset, a path or a map that stands in the file `file`. Throws InputError.
DeviceValues resolve_device(const Node& node, const std::string& file);

/// The same for a name from the command line.
DeviceValues resolve_device(const std::string& name, const std::string& option);

/// The machine has its own transfers only. Call borrow_transfers() too if there are several
/// devices.
Machine machine_from(const DeviceValues& device, std::vector<ResolvedValue>& notes,
                     const Constants& constants = shipped_constants());

/// Does what borrow_transfers() of scenarios/device/transfers.hpp does. A profile borrows for the
/// part that it names.
void borrow_transfers(const DeviceValues& device, Machine& machine,
                      std::vector<ResolvedValue>& notes);

}  // namespace depthcost
