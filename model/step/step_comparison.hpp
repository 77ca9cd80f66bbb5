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
  Estimate<Seconds> step;       // measured, with this scheme
  Estimate<Seconds> baseline;   // measured, with the fused standard residual
  Estimate<Seconds> predicted;  // added to the baseline

  /// A small difference of two long times: its interval is that of both.
  constexpr Estimate<Seconds> added() const {
    return {step.low - baseline.high, step.value - baseline.value, step.high - baseline.low,
            step.evidence};
  }
  constexpr double overhead() const { return added().value / baseline.value; }
  /// measured / predicted - 1 of the whole step.
  constexpr double error() const { return step.value / (baseline.value + predicted.value) - 1; }
};

}  // namespace depthcost
