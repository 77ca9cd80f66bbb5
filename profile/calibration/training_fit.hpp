// Fits the constants of training steps, and finds how far they err.
#pragma once

#include <span>

#include "profile/calibration/fit.hpp"

namespace depthcost::calibration {

/// A measured step, and how its prediction follows the time of its layers: fixed + slope x layers.
/// The line is exact at the constants that it was made with, and where all shares move alike; where
/// one moves alone, the stage with the head sets another pace.
struct TrainingLine {
  const TrainedStep* measured = nullptr;
  Study study;
  Seconds fixed;     // the residual path and its messages
  double slope = 0;  // passes through all layers that the step is long

  /// A forward pass of a micro-batch through all layers.
  Seconds layers(const Constants& constants) const;
  Seconds predicted(const Constants& constants) const { return fixed + slope * layers(constants); }
};

/// One for every row.
std::vector<TrainingLine> training_lines(std::span<const TrainedStep> steps,
                                         const Constants& start);

/// Constants of training from the steps that `left_out` does not hold, beginning at `start`. Lines
/// are made anew where the search has ended, until they are exact there.
Constants fitted_training(std::span<const TrainedStep> steps, const LeftOut& left_out,
                          Constants start);

/// The factor by which the layers' time would have to be longer for the prediction to be the
/// measurement.
double layers_error(const TrainingLine& line, const Constants& constants);

}  // namespace depthcost::calibration
