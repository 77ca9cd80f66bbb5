// The simulated step of the standard residual.
#include "model/evaluation/trained_step.hpp"

#include "model/training/training_step.hpp"

namespace depthcost {

std::vector<ComparedRun> compared_training(const std::vector<TrainedStep>& steps) {
  std::vector<ComparedRun> compared;
  for (const TrainedStep& step : steps) {
    const StepRow row = TrainingSteps(step.study).row(step.study.path, step.study.schedule);
    if (!row.baseline_step) continue;
    compared.push_back({.id = step.id,
                        .model = step.model,
                        .gpu = step.gpu,
                        .stack = "Megatron-Bridge " + step.release,
                        .comparison = published_comparison(step.seconds, *row.baseline_step),
                        .peer = {}});
  }
  return compared;
}

}  // namespace depthcost
