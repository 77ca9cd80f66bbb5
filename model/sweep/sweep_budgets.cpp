// The budgets of a study at a point of its sweep: budget_rows() without its words.
#include "model/sweep/sweep.hpp"

namespace depthcost {
namespace {

PointBudget decided(const Budget& budget, double low, double high) {
  return {budget, low, high, verdict_of(budget.limit, low, high)};
}

PointBudget overhead(const Budget& budget, const std::optional<AddedTime>& added) {
  if (!added || !added->overhead_of_fitting) return {budget, {}, {}, Verdict::unknown};
  const Estimate<double>& known = *added->overhead_of_fitting;
  PointBudget row = decided(budget, known.low, known.high);
  row.median = known.value;
  // What does not fit may break a limit that the others keep.
  if (!added->overhead && row.verdict == Verdict::pass) {
    row.high.reset();
    row.verdict = Verdict::unknown;
  }
  return row;
}

PointBudget exactly(const Budget& budget, std::optional<Bytes> need) {
  if (!need) return {budget, {}, {}, Verdict::unknown};
  return decided(budget, need->value, need->value);
}

PointBudget device_memory(Budget budget, const Study& study,
                          const std::optional<PointMemory>& memory) {
  if (!memory) return {budget, {}, {}, Verdict::unknown};
  const Bytes need = memory->all;
  if (!study.machine || !study.machine->memory_capacity)
    return {budget, need.value, {}, Verdict::unknown};
  budget.limit = study.machine->memory_capacity->value;
  if (study.model.architecture) return decided(budget, need.value, need.value / kCountedShare);
  if (need.value <= budget.limit) return {budget, need.value, {}, Verdict::unknown};
  return decided(budget, need.value, need.value);
}

}  // namespace

bool is_broken(const PointBudget& row) {
  return row.verdict == Verdict::fail || (row.median && *row.median > row.budget.limit);
}

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
      return overhead(budget, point.training);
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
