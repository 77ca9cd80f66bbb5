// No more steps than the budget is about.
#include "model/decision/decided_budget.hpp"

#include "model/step/scheme_payload.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

/// The steps that a budget is about. Rows point at the study's path.
std::vector<StepRow> asked_steps(const Study& study, BudgetKind kind) {
  if (!study.machine) return {};
  Study asked = study;
  if (kind == BudgetKind::decode_overhead)
    asked.prefill.reset();
  else if (kind == BudgetKind::prefill_overhead)
    asked.decode.reset();
  else if (kind == BudgetKind::training_overhead && study.training)
    return {TrainingSteps(study).row(study.path, study.schedule)};
  else
    return {};
  return step_rows(asked, study.path, study.schedule);
}

/// The memory that a budget is about.
std::vector<MemoryRow> asked_memory(const Study& study, BudgetKind kind) {
  switch (kind) {
    case BudgetKind::device_memory:
      return all_memory_rows(study, study.path);
    case BudgetKind::prefill_bank:
    case BudgetKind::prefill_peak:
      return memory_rows(study, study.path);
    default:
      return {};
  }
}

}  // namespace

BudgetRow decided_for(const Study& study, const Budget& budget) {
  const std::vector<StepRow> steps = asked_steps(study, budget.kind);
  const std::vector<MemoryRow> memory = asked_memory(study, budget.kind);
  std::optional<PipelineTraffic> payload;
  if (study.pipeline && budget.kind == BudgetKind::pipeline_peak)
    payload = scheme_payload(*study.pipeline, study.path, Cache::none);
  const BudgetInputs inputs{study, steps, memory, payload ? &*payload : nullptr};
  return decided_row(budget, inputs);
}

}  // namespace depthcost
