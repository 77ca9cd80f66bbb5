// The budgets of a study at a point of its sweep, decided as budget_rows() decides them.
#include "model/sweep/sweep.hpp"

namespace depthcost {

bool is_broken(const PointBudget& row) { return breaks(row.verdict, row.median, row.budget.limit); }

namespace {

PointBudget overhead(const Budget& budget, const std::optional<AddedTime>& added) {
  if (!added || !added->overhead_of_fitting) return {{.budget = budget}};
  const Estimate<double>& known = *added->overhead_of_fitting;
  const LeftOut left_out = added->overhead ? LeftOut::none : LeftOut::some;
  return {decided_overhead(budget, known.low, known.high, left_out), known.value};
}

PointBudget exactly(const Budget& budget, std::optional<Bytes> need) {
  if (!need) return {{.budget = budget}};
  return {decided(budget, need->value, need->value)};
}

/// What needs nothing but the study.
PointBudget of_training(const Budget& budget, Study study, const SweepPoint& point) {
  if (!point.exists()) return {{.budget = budget}};
  study.path = point.choice->path;
  study.schedule = point.choice->schedule;
  const BudgetRow row = decided_row(budget, {study, {}, {}});
  return {{row.budget, row.low, row.high, row.verdict}};
}

/// Whether a modelled training step does not fit.
bool cannot_train(const Study& study, const SweepPoint& point) {
  return point.memory && !is_measured(study, WorkloadKind::training) &&
         exceeds_memory(study, point.memory->training);
}

/// A step that cannot run may break a limit. It never keeps one.
PointBudget training_overhead(const Budget& budget, const Study& study, const SweepPoint& point) {
  const PointBudget row = overhead(budget, point.training);
  if (cannot_train(study, point) && !is_broken(row)) return {{.budget = budget}};
  return row;
}

PointBudget device_memory(const Budget& budget, const Study& study,
                          const std::optional<PointMemory>& memory) {
  if (!memory) return {{.budget = budget}};
  return {decided_memory(budget, study, memory->all)};
}

}  // namespace

PointBudget Sweep::budget_at(const Budget& budget, const SweepPoint& point) const {
  const auto of_prefill = [&](Bytes PointMemory::*item) -> std::optional<Bytes> {
    if (!study_.prefill || !point.memory) return std::nullopt;
    return (*point.memory).*item;
  };
  switch (budget.kind) {
    case BudgetKind::decode_overhead:
      return overhead(budget, point.decode);
    case BudgetKind::prefill_overhead:
      return overhead(budget, point.prefill);
    case BudgetKind::training_overhead:
      return training_overhead(budget, study_, point);
    case BudgetKind::exposed_communication:
    case BudgetKind::added_activations:
    case BudgetKind::pipeline_cache:
      return of_training(budget, study_, point);
    case BudgetKind::prefill_bank:
      return exactly(budget, of_prefill(&PointMemory::prefill_bank));
    case BudgetKind::prefill_peak:
      return exactly(budget, of_prefill(&PointMemory::prefill_peak));
    case BudgetKind::pipeline_peak:
      return exactly(budget, point.choice->payload_peak);
    case BudgetKind::device_memory:
      return device_memory(budget, study_, point.memory);
  }
  return {};
}

std::vector<PointBudget> Sweep::budgets(const SweepPoint& point) const {
  std::vector<PointBudget> rows;
  for (const Budget& budget : study_.budgets) rows.push_back(budget_at(budget, point));
  return rows;
}

Verdict Sweep::verdict(const SweepPoint& point) const {
  Verdict worst = Verdict::pass;
  for (const Budget& budget : study_.budgets) {
    const Verdict verdict = budget_at(budget, point).verdict;
    if (verdict == Verdict::fail) return Verdict::fail;
    if (verdict == Verdict::unknown) worst = verdict;
  }
  return worst;
}

}  // namespace depthcost
