// A run of a whole model that others have measured, beside its prediction.
#pragma once

#include <optional>
#include <string>

#include "model/machine/comparison.hpp"

namespace depthcost {

struct ComparedRun {
  std::string id;
  std::string model;
  std::string gpu;
  std::string stack;
  Comparison comparison;        // measured, predicted, error and whether it is inside
  std::optional<Seconds> peer;  // what another program predicts of the same run
};

/// A measured time beside a predicted one.
inline Comparison published_comparison(Seconds measured, const Estimate<Seconds>& predicted) {
  return {.measured = {measured, measured, measured, Evidence::published},
          .predicted = predicted,
          .error = measured / predicted.value - 1,
          .is_inside = predicted.low <= measured && measured <= predicted.high};
}

}  // namespace depthcost
