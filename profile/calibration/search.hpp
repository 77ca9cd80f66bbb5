// The search for constants: least |log(measured / predicted)|.
#pragma once

#include <functional>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost::calibration {

double log_error(Seconds measured, Seconds predicted);

/// A constant that is fitted: where it stands, and how large it may become.
struct Free {
  double* value = nullptr;
  double most = 1e300;
};

/// Moves the constants to where `loss` is least. The same rows always give the same constants.
void minimise(const std::vector<Free>& constants, const std::function<double()>& loss);

}  // namespace depthcost::calibration
