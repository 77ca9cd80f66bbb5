// Two walks over the order tables, and their ratios.
#include "model/decision/kept_in_training.hpp"

#include <algorithm>

#include "model/training/training_memory.hpp"
#include "model/training/training_work.hpp"

namespace depthcost {

std::vector<KeptOnStage> kept_in_training(const Study& study, BudgetKind kind) {
  const PipelineOrder order = training_order(study, study.training->num_micro_batches);
  const auto own = training_memory(study, study.path, study.schedule, order);
  const auto standard = training_memory(
      study, baseline_path(study, study.path, WorkloadKind::training), Schedule::fused, order);
  std::vector<KeptOnStage> stages;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Bytes of_standard = standard[i].activations;
    if (of_standard.value == 0) continue;
    const Bytes bytes =
        kind == BudgetKind::pipeline_cache ? own[i].blocks : own[i].activations - of_standard;
    stages.push_back({static_cast<Count>(i), bytes, of_standard});
  }
  return stages;
}

KeptOnStage largest_share(const std::vector<KeptOnStage>& stages) {
  return *std::max_element(stages.begin(), stages.end(),
                           [](const auto& a, const auto& b) { return a.share() < b.share(); });
}

Bytes least_kept_by_layers(const std::vector<KeptOnStage>& stages, double limit) {
  Bytes least;
  for (const KeptOnStage& at : stages)
    least = std::max(least, (1 / limit) * at.bytes - at.standard);
  return least;
}

}  // namespace depthcost
