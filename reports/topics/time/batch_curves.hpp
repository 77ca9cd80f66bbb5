// What each scheme adds to a decode step, batch by batch: the data of the plots against the batch.
#pragma once

#include <cstdint>
#include <vector>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

struct BatchPoint {
  StepRow row;            // its path is that of the curve
  bool is_asked = false;  // the scenario has this batch; the others make the curve smooth
};

struct BatchCurve {
  const ResidualPath* path = nullptr;  // of the evaluation
  Schedule schedule = Schedule::fused;
  std::vector<BatchPoint> points;  // batches rising
};

/// The step that a scheme is added to: as the scenario writes it, or modelled at every batch.
enum class CurveBaseline : std::uint8_t { as_written, modelled };

/// Every scheme but the standard residual, as it is quoted, at the scenario's batches and all
/// powers of two between them. None without decode or a machine.
std::vector<BatchCurve> batch_curves(const Evaluation& evaluation, CurveBaseline baseline);

}  // namespace depthcost
