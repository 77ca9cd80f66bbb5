// What others have measured, read and predicted once.
#pragma once

#include "scenarios/measured/comparisons.hpp"

namespace depthcost::python {

inline const MeasuredByOthers& published() {
  static const MeasuredByOthers measured = measured_by_others();
  return measured;
}

}  // namespace depthcost::python
