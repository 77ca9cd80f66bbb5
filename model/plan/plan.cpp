// A sweep for each placement that fits, then the order of their answers.
#include "model/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/base/parallel.hpp"
#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kShown = 3;

/// Of the fullest workload.
Bytes memory_needed(const Study& study, const ResidualPath& path) {
  std::map<WorkloadId, Bytes> at_workload;
  Bytes largest;
  for (const MemoryRow& row : all_memory_rows(study, path)) {
    Bytes& sum = at_workload[row.workload];
    sum += row.bytes;
    largest = std::max(largest, sum);
  }
  return largest;
}

double limit_of(const Study& study, WorkloadKind workload) {
  BudgetKind kind = BudgetKind::decode_overhead;
  for (const BudgetKind each : kEnumerators<BudgetKind>)
    if (overhead_workload(each) == workload) kind = each;
  for (const Budget& budget : study.budgets)
    if (budget.kind == kind) return budget.limit;
  return paper_limit(kind);
}

std::vector<StepRow> rows_of(const Study& study) {
  std::vector<StepRow> rows = step_rows(study, study.path, study.schedule);
  if (study.training) rows.push_back(TrainingSteps(study).row(study.path, study.schedule));
  return rows;
}

/// Replicas work on prompts of their own. Of a batch, and of a training step, each has its share.
double replicas_of(const Study& study) {
  const bool is_shared = planned_workload(study) != WorkloadKind::prefill;
  return is_shared ? 1 : static_cast<double>(study.data_parallel_size);
}

/// The choice that keeps all limits; where nobody has published a loss of the scheme, the cheapest.
std::optional<std::size_t> kept_choice(const Sweep& sweep, const Recommendation& said) {
  if (said.best) return said.best;
  std::optional<std::size_t> cheapest;
  const auto cost = [&](std::size_t choice) {
    return cost_at(sweep.point(0, choice), cost_of(sweep));
  };
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(0, i);
    if (!point.exists() || point.choice->quality.by_size.kind != ReadingKind::unmeasured) continue;
    const std::vector<PointBudget> budgets = sweep.budgets(point);
    if (std::none_of(budgets.begin(), budgets.end(), is_broken) &&
        (!cheapest || cost(i) < cost(*cheapest)))
      cheapest = i;
  }
  return cheapest;
}

/// The choice that breaks the limits least: the cheapest with a published loss, or of all.
std::optional<std::size_t> least_choice(const Sweep& sweep, const Recommendation& said) {
  if (said.cheapest) return said.cheapest;
  for (std::size_t i = 0; i < sweep.choices().size(); ++i)
    if (sweep.point(0, i).exists()) return i;
  return std::nullopt;
}

void set_choice(PlannedPlacement& plan, const Sweep& sweep, std::size_t choice) {
  const Study study = sweep.study_at(0, choice);
  plan.schedule = study.schedule;
  plan.quality = sweep.choices()[choice].quality;
  if (const Partition* blocks = attnres_blocks(study.path.scheme)) plan.blocks = *blocks;
  plan.memory = memory_needed(study, study.path);
  for (const StepRow& row : rows_of(study)) {
    if (!row.overhead || !row.baseline_step) {
      plan.missing = row.missing;
      plan.fate = does_not_fit(row) ? PlanFate::does_not_fit : PlanFate::unknown;
      return;
    }
    const Seconds step = row.baseline_step->value + row.delta.value;
    plan.times.push_back(
        {row.workload, step, row.delta, *row.overhead, limit_of(study, row.workload.kind)});
    if (row.workload.kind == planned_workload(study)) plan.cost += step.value / replicas_of(study);
  }
}

/// How many times its limit the overhead is that exceeds it most.
double excess(const PlannedPlacement& plan) {
  double most = 0;
  for (const PlannedTime& time : plan.times)
    most = std::max(most, time.overhead.value / time.limit);
  return most;
}

bool is_before(const PlannedPlacement& one, const PlannedPlacement& other) {
  return std::tie(one.cost, one.memory, one.placement) <
         std::tie(other.cost, other.memory, other.placement);
}

/// What breaks a limit is nearer than what does not fit.
bool is_nearer(const PlannedPlacement& one, const PlannedPlacement& other) {
  const auto order = [](const PlannedPlacement& plan) {
    const bool is_timed = plan.fate == PlanFate::breaks;
    return std::tuple(!is_timed, is_timed ? excess(plan) : plan.memory.value, plan.placement);
  };
  return order(one) < order(other);
}

}  // namespace

WorkloadKind planned_workload(const Study& study) {
  if (study.decode) return WorkloadKind::decode;
  return study.prefill ? WorkloadKind::prefill : WorkloadKind::training;
}

Bytes planned_memory(const Study& study) { return kCountedShare * *study.machine->memory_capacity; }

PlannedPlacement planned(const PlacedStudy& placed) {
  Study study = placed.study;
  study.machine->memory_capacity = planned_memory(study);
  const auto fits = [&](Bytes need) { return need <= *study.machine->memory_capacity; };
  PlannedPlacement plan{.placement = placed.placement,
                        .scheme = std::string(name(study.path.scheme)),
                        .missing = {},
                        .memory = memory_needed(study, baseline_study(study).path),
                        .blocks = {},
                        .quality = {},
                        .times = {}};
  // The standard residual keeps least: where that is too much, nothing else needs a look.
  if (!fits(plan.memory)) {
    plan.fate = PlanFate::does_not_fit;
    return plan;
  }
  const Sweep sweep(study, placed.axes, 1);
  const Recommendation said = recommend(sweep, 0);
  const auto kept = kept_choice(sweep, said);
  const auto choice = kept ? kept : least_choice(sweep, said);
  if (!choice) {
    plan.missing = "no choice of schedule and blocks can exist";
    return plan;
  }
  plan.fate = kept ? PlanFate::keeps : PlanFate::breaks;
  set_choice(plan, sweep, *choice);
  if (!fits(plan.memory)) plan.fate = PlanFate::does_not_fit;
  return plan;
}

Plans plans_of(const std::vector<PlacedStudy>& placed, std::size_t num_threads,
               Progress& progress) {
  std::vector<PlannedPlacement> all(placed.size());
  progress.expected += placed.size();
  each_in_parallel(placed.size(), num_threads, [&](std::size_t i) {
    all[i] = planned(placed[i]);
    progress.count();
  });
  Plans plans;
  plans.searched = all.size();
  for (PlannedPlacement& plan : all) {
    if (plan.fate == PlanFate::keeps) {
      plans.best.push_back(std::move(plan));
      continue;
    }
    ++(plan.fate == PlanFate::does_not_fit ? plans.too_large
       : plan.fate == PlanFate::breaks     ? plans.broken
                                           : plans.unknown);
    if (plan.fate == PlanFate::breaks && (!plans.faster || is_before(plan, *plans.faster)))
      plans.faster = plan;
    if (plan.fate != PlanFate::unknown && (!plans.nearest || is_nearer(plan, *plans.nearest)))
      plans.nearest = std::move(plan);
  }
  plans.kept = plans.best.size();
  std::sort(plans.best.begin(), plans.best.end(), is_before);
  if (plans.best.size() > kShown) plans.best.erase(plans.best.begin() + kShown, plans.best.end());
  if (!plans.best.empty()) plans.nearest.reset();
  if (plans.best.empty() || (plans.faster && plans.faster->cost >= plans.best.front().cost))
    plans.faster.reset();
  return plans;
}

}  // namespace depthcost
