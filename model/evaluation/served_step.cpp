// Sums what one token waits for.
#include "model/evaluation/served_step.hpp"

#include "model/step/step.hpp"

namespace depthcost {

std::optional<Estimate<Seconds>> predicted_time(const ServedStep& served) {
  const Study& study = served.study;
  Estimate<Seconds> sum;
  for (const StepRow& row : step_rows(study, study.path, Schedule::fused)) {
    if (!row.baseline_step) return std::nullopt;
    sum += (row.workload.kind == WorkloadKind::prefill ? served.prefills : 1) * *row.baseline_step;
  }
  sum.evidence = Evidence::assumed;
  return sum;
}

std::vector<ComparedRun> compared_servings(const std::vector<ServedStep>& steps) {
  std::vector<ComparedRun> compared;
  for (const ServedStep& step : steps) {
    const auto predicted = predicted_time(step);
    if (!predicted) continue;
    compared.push_back({step.id, step.model, step.gpu, step.stack,
                        published_comparison(step.seconds, *predicted), step.peer});
  }
  return compared;
}

}  // namespace depthcost
