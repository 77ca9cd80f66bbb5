// Two simulations make a row's line. The search moves along the lines, which are then made anew.
#include "profile/calibration/training_fit.hpp"

#include <cmath>

#include "model/training/rest_of_training.hpp"
#include "model/training/training_step.hpp"
#include "model/training/training_work.hpp"
#include "profile/calibration/search.hpp"

namespace depthcost::calibration {
namespace {

Study with_constants(Study study, const Constants& constants) {
  study.machine->engine = constants.engine;
  return study;
}

Constants with_slower_layers(Constants constants, double factor) {
  TrainingConstants& training = constants.engine.training;
  training.bf16_products /= factor;
  training.fp8_products /= factor;
  training.experts /= factor;
  return constants;
}

TrainingLine line_of(const TrainedStep& step, const Constants& start) {
  constexpr double kSlower = 2;
  TrainingLine line{.measured = &step, .study = step.study, .fixed = {}};
  const Constants slower = with_slower_layers(start, kSlower);
  const Seconds near = standard_training_step(with_constants(step.study, start));
  const Seconds far = standard_training_step(with_constants(step.study, slower));
  line.slope = (far - near) / (line.layers(slower) - line.layers(start));
  line.fixed = near - line.slope * line.layers(start);
  return line;
}

}  // namespace

Seconds TrainingLine::layers(const Constants& constants) const {
  const Study with = with_constants(study, constants);
  return rest_of_training(with, training_workload(with)).total().value;
}

std::vector<TrainingLine> training_lines(std::span<const TrainedStep> steps,
                                         const Constants& start) {
  std::vector<TrainingLine> lines;
  for (const TrainedStep& step : steps) lines.push_back(line_of(step, start));
  return lines;
}

Constants fitted_training(std::span<const TrainedStep> steps, const LeftOut& left_out,
                          Constants start) {
  constexpr int kRounds = 4;
  TrainingConstants& training = start.engine.training;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<TrainingLine> lines = training_lines(steps, start);
    minimise({{&training.bf16_products, 1}, {&training.fp8_products, 1}, {&training.experts, 1}},
             [&] {
               double loss = 0;
               for (const TrainingLine& line : lines)
                 if (!left_out.holds(*line.measured))
                   loss += log_error(line.measured->seconds, line.predicted(start));
               return loss;
             });
  }
  return start;
}

double layers_error(const TrainingLine& line, const Constants& constants) {
  return (line.measured->seconds - line.fixed) / (line.slope * line.layers(constants));
}

}  // namespace depthcost::calibration
