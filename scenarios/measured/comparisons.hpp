// Makes cases from measurements, each with its device, its prediction and its rule.
#pragma once

#include <string>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/machine/comparison.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/measured/measurements.hpp"
#include "scenarios/measured/published.hpp"

namespace depthcost {

/// A device by the name of its preset or the path of its file.
struct Device {
  std::string label;  // its name in case ids
  Machine machine;
  std::vector<ResolvedValue> fallbacks;
};

Device device_of(const DeviceValues& values, const std::string& label,
                 const Constants& constants = shipped_constants());

/// The device of a preset or a path. Throws InputError for an unknown name and for a bad file.
Device device_of(const std::string& hardware, const Constants& constants = shipped_constants());

/// One case for each (device, operation, shape), judged by the fastest stack.
std::vector<ComparedCase> published_cases(const std::vector<PublishedMeasurement>& measurements,
                                          const std::vector<ToleranceRule>& rules);

/// Published measurements, each kernel with the prediction of its call.
struct MeasuredByOthers {
  std::vector<ComparedCase> kernels;
  std::vector<MeasuredStep> steps;
};

/// All shipped measurements.
const MeasuredByOthers& measured_by_others();

/// One case for each row.
std::vector<ComparedCase> measured_cases(const MeasurementTable& table, const Device& device,
                                         const std::vector<ToleranceRule>& rules);

}  // namespace depthcost
