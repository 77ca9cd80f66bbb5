// What a scheme adds to a whole step, measured and predicted: the number that everybody quotes.
#pragma once

#include <string>

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// One scheme and schedule at one batch.
struct StepComparison {
  std::string scheme;
  Schedule schedule = Schedule::fused;
  Phase1Order phase1 = Phase1Order::in_order;
  Count tokens = 0;
  Seconds step;                 // measured, with this scheme
  Seconds baseline;             // measured, with the fused standard residual
  Estimate<Seconds> predicted;  // added to the baseline

  constexpr Seconds added() const { return step - baseline; }
  constexpr double overhead() const { return added() / baseline; }
  /// measured / predicted - 1 of the whole step.
  constexpr double error() const { return step / (baseline + predicted.value) - 1; }
  constexpr bool is_inside() const { return predicted.low <= added() && added() <= predicted.high; }
};

}  // namespace depthcost
