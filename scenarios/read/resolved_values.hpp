// The list of all values that an answer depends on: written values, defaults and fallbacks.
#pragma once

#include <optional>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/step/study.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// A study and the files that it was made from.
struct StudySources {
  const Study& study;
  const Values& scenario;
  const Values& model;
  const std::optional<DeviceValues>& device;
  const std::vector<ResolvedValue>& model_defaults;
  const std::vector<ResolvedValue>& fallbacks;  // values that the device borrowed
};

/// Whether there are several devices.
bool has_peers(const Study& study);

/// All values in the order of the scenario, its model and its device, each with its origin.
std::vector<ResolvedValue> resolved_values(const StudySources& sources);

}  // namespace depthcost
