// A sweep for each placement that fits, then the order of their answers.
#include "model/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <tuple>

#include "model/base/parallel.hpp"
#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "model/step/rest_of_step.hpp"
#include "model/step/step.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/step/workload.hpp"
#include "model/training/training_memory.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

constexpr std::size_t kShown = 3;

/// Placements that are looked at between two prunings. A fixed number, so that the answer does not
/// depend on how many threads there are.
constexpr std::size_t kAtOnce = 4;

std::vector<StepRow> rows_of(const Study& study) {
  std::vector<StepRow> rows = step_rows(study, study.path, study.schedule);
  if (study.training) rows.push_back(TrainingSteps(study).row(study.path, study.schedule));
  return rows;
}

/// Each replica works on prompts of its own, and on its share of a batch or of a training step.
double replicas_of(const Study& study) {
  const bool is_shared = planned_workload(study) != WorkloadKind::prefill;
  return is_shared ? 1 : static_cast<double>(study.data_parallel_size);
}

/// The choice that keeps all limits; where nobody has published a loss of the scheme, or of the
/// block size that is written, the cheapest.
std::optional<std::size_t> kept_choice(const Sweep& sweep, const Recommendation& said) {
  if (said.best) return said.best;
  return cheapest_choice(sweep, 0, [&](const SweepPoint& point) {
    const std::vector<PointBudget> budgets = sweep.budgets(point);
    const bool has_rivals = said.cheapest.has_value();  // with a published loss
    return (!has_rivals || point.choice->quality.by_size.kind == ReadingKind::unmeasured) &&
           std::none_of(budgets.begin(), budgets.end(), is_broken);
  });
}

/// The choice that breaks the limits least: the cheapest with a published loss, or of all.
std::optional<std::size_t> least_choice(const Sweep& sweep, const Recommendation& said) {
  if (said.cheapest) return said.cheapest;
  return cheapest_choice(sweep, 0, [](const SweepPoint&) { return true; });
}

/// That a replica gets through in a step; of decode those that its sequences keep.
double tokens_of_replica(const Study& study, const WorkloadId& workload) {
  switch (workload.kind) {
    case WorkloadKind::decode:
      return as_double(workload.sequences) * study.decode->speculation.accepted;
    case WorkloadKind::prefill:
      return as_double(study.prefill->tokens);
    case WorkloadKind::training:
      break;
  }
  return tokens_of_step(*study.training);
}

double devices_of_replica(const Study& study) {
  return as_double(num_devices(study) / study.data_parallel_size);
}

void set_choice(PlannedPlacement& plan, const Sweep& sweep, std::size_t choice) {
  const Study study = sweep.study_at(0, choice);
  plan.schedule = study.schedule;
  plan.shipped = shipped_schedule(study.path.scheme);
  plan.quality = sweep.choices()[choice].quality;
  if (const Partition* blocks = attnres_blocks(study.path.scheme)) plan.blocks = *blocks;
  plan.memory = fullest_memory(study, study.path);
  for (const StepRow& row : rows_of(study)) {
    if (!row.overhead || !row.baseline_step) {
      plan.missing = row.missing;
      plan.fate = does_not_fit(row) ? PlanFate::does_not_fit : PlanFate::unknown;
      return;
    }
    const Estimate<Seconds> step = whole_step(row);
    const double tokens = tokens_of_replica(study, row.workload) / step.value.value;
    plan.times.push_back({row.workload, step, row.delta, *row.overhead,
                          overhead_limit(study, row.workload.kind).limit,
                          tokens / devices_of_replica(study)});
    if (row.workload.kind == planned_workload(study))
      plan.cost += step.value.value / replicas_of(study);
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

/// The same choice, and numbers that only rounding could tell apart.
bool is_as_good(const PlannedPlacement& one, const PlannedPlacement& other) {
  constexpr double kRounding = 1e-9;
  const auto same = [](double a, double b) { return std::abs(a - b) <= kRounding * std::abs(a); };
  return one.scheme == other.scheme && one.schedule == other.schedule &&
         one.blocks == other.blocks && same(one.cost, other.cost) &&
         same(one.memory.value, other.memory.value);
}

/// Sorted plans, of which the first of those that are as good stands for all.
std::vector<PlannedPlacement> distinct(std::vector<PlannedPlacement> sorted) {
  std::vector<PlannedPlacement> first;
  for (PlannedPlacement& plan : sorted) {
    const auto same = std::find_if(first.begin(), first.end(), [&](const PlannedPlacement& it) {
      return is_as_good(it, plan);
    });
    if (same == first.end())
      first.push_back(std::move(plan));
    else
      same->as_good.push_back(plan.placement);
  }
  return first;
}

/// What breaks a limit is nearer than what does not fit.
bool is_nearer(const PlannedPlacement& one, const PlannedPlacement& other) {
  const auto order = [](const PlannedPlacement& plan) {
    const bool has_times = plan.fate == PlanFate::breaks;
    return std::tuple(!has_times, has_times ? excess(plan) : plan.memory.value, plan.placement);
  };
  return order(one) < order(other);
}

/// By scheme.
using FirstOfScheme = std::map<std::string, PlannedPlacement>;

/// Keeps `plan` if none of its scheme is there, or if it comes before that one.
template <class Before>
void keep_first(FirstOfScheme& first, const PlannedPlacement& plan, const Before& before) {
  const auto [it, is_new] = first.try_emplace(plan.scheme, plan);
  if (!is_new && before(plan, it->second)) it->second = plan;
}

std::vector<PlannedPlacement> others_than(const std::vector<PlannedPlacement>& best,
                                          FirstOfScheme keeping, FirstOfScheme breaking) {
  keeping.merge(breaking);
  std::vector<PlannedPlacement> others;
  for (auto& first : keeping)
    if (std::none_of(best.begin(), best.end(),
                     [&](const PlannedPlacement& it) { return it.scheme == first.first; }))
      others.push_back(std::move(first.second));
  return others;
}

PlannedPlacement unplanned(const PlacedStudy& placed) {
  return {.placement = placed.placement, .scheme = std::string(name(placed.study.path.scheme))};
}

/// The standard residual keeps least: where that is too much, nothing else needs a look.
std::optional<PlannedPlacement> too_large(const PlacedStudy& placed) {
  const Study& study = placed.study;
  PlannedPlacement plan = unplanned(placed);
  if (fullest_memory(study, baseline_study(study).path) <= planned_memory(study))
    return std::nullopt;
  plan.memory = fullest_memory(study, study.path);
  plan.schedule = study.schedule;
  plan.fate = PlanFate::does_not_fit;
  return plan;
}

/// What the decode steps or the prefill take beside the residual path: the same with every path.
Seconds least_seconds_of_forward(const Study& study, WorkloadKind kind) {
  Seconds least;
  for (const Workload& workload : workloads_of(study, baseline_study(study).path, Schedule::fused))
    if (workload.id.kind == kind) least += rest_of_step(study, workload).total().value;
  return least;
}

/// The best choice that fills no more than `capacity`, on a placement where the standard residual
/// fits.
PlannedPlacement planned_within(const PlacedStudy& placed, Bytes capacity) {
  Study study = placed.study;
  study.machine->memory_capacity = capacity;
  PlannedPlacement plan = unplanned(placed);
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
  if (plan.memory > *study.machine->memory_capacity) plan.fate = PlanFate::does_not_fit;
  return plan;
}

/// What each placement has come to; nothing where it was not looked at.
using Fates = std::vector<std::optional<PlannedPlacement>>;

/// The cost that a further placement must not exceed to be among those shown.
double largest_shown_cost(const Fates& fates) {
  std::vector<PlannedPlacement> kept;
  for (const auto& plan : fates)
    if (plan && plan->fate == PlanFate::keeps) kept.push_back(*plan);
  std::sort(kept.begin(), kept.end(), is_before);
  kept = distinct(std::move(kept));
  if (kept.size() < kShown) return std::numeric_limits<double>::infinity();
  return kept[kShown - 1].cost;
}

/// Those that fit, by what they cost at least.
struct Bound {
  double cost = 0;
  std::size_t placed = 0;

  friend auto operator<=>(const Bound&, const Bound&) = default;
};

/// The least cost of each scheme's placements that keep the limits. A further one must not exceed
/// it to be the best of its scheme.
std::map<std::string_view, double> least_kept_costs(const Fates& fates) {
  std::map<std::string_view, double> least;
  for (const auto& plan : fates) {
    if (!plan || plan->fate != PlanFate::keeps) continue;
    const auto [it, is_new] = least.try_emplace(plan->scheme, plan->cost);
    if (!is_new) it->second = std::min(it->second, plan->cost);
  }
  return least;
}

Fates fates_of(const std::vector<PlacedStudy>& placed, std::size_t num_threads,
               Progress& progress) {
  Fates fates(placed.size());
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < placed.size(); ++i) bounds.push_back({.placed = i});
  each_in_parallel(placed.size(), num_threads, [&](std::size_t i) {
    fates[i] = too_large(placed[i]);
    if (fates[i])
      progress.count();
    else
      bounds[i].cost = least_cost(placed[i]);
  });
  std::erase_if(bounds, [&](const Bound& bound) { return fates[bound.placed].has_value(); });
  std::sort(bounds.begin(), bounds.end());
  auto next = bounds.begin();
  const auto take_next = [&] {
    std::vector<std::size_t> taken;
    const double most = largest_shown_cost(fates);
    const auto least = least_kept_costs(fates);
    for (; next != bounds.end() && taken.size() < kAtOnce; ++next) {
      const auto own = least.find(name(placed[next->placed].study.path.scheme));
      if (next->cost <= most || own == least.end() || next->cost <= own->second)
        taken.push_back(next->placed);
    }
    return taken;
  };
  for (auto taken = take_next(); !taken.empty(); taken = take_next())
    each_in_parallel(taken.size(), num_threads, [&](std::size_t i) {
      fates[taken[i]] = planned_within(placed[taken[i]], planned_memory(placed[taken[i]].study));
      progress.count();
    });
  return fates;
}

/// What the plan would choose instead if it might fill the whole device; nothing where that is the
/// same choice.
std::optional<PlannedPlacement> just_too_large(const std::vector<PlacedStudy>& placed,
                                               const PlannedPlacement& plan) {
  const auto own = std::find_if(placed.begin(), placed.end(), [&](const PlacedStudy& it) {
    return it.placement == plan.placement && name(it.study.path.scheme) == plan.scheme;
  });
  PlannedPlacement other = planned_within(*own, *own->study.machine->memory_capacity);
  if (other.fate != PlanFate::keeps || other.memory <= planned_memory(own->study)) return {};
  return other;
}

}  // namespace

WorkloadKind planned_workload(const Study& study) {
  if (study.decode) return WorkloadKind::decode;
  return study.prefill ? WorkloadKind::prefill : WorkloadKind::training;
}

Bytes planned_memory(const Study& study) { return kCountedShare * *study.machine->memory_capacity; }

bool is_too_large(const PlacedStudy& placed) { return too_large(placed).has_value(); }

double least_cost(const PlacedStudy& placed) {
  const Study& study = placed.study;
  const WorkloadKind kind = planned_workload(study);
  const Seconds least = kind == WorkloadKind::training ? least_seconds_of_training(study)
                                                       : least_seconds_of_forward(study, kind);
  // Rounding may make the sum of a step's parts a little smaller.
  constexpr double kRounding = 1e-9;
  return (1 - kRounding) * least.value / replicas_of(study);
}

PlannedPlacement planned(const PlacedStudy& placed) {
  if (auto plan = too_large(placed)) return *std::move(plan);
  return planned_within(placed, planned_memory(placed.study));
}

Plans plans_of(const std::vector<PlacedStudy>& placed, std::size_t num_threads,
               Progress& progress) {
  progress.expected += placed.size();
  Fates fates = fates_of(placed, num_threads, progress);
  Plans plans;
  plans.searched = fates.size();
  FirstOfScheme keeping;
  FirstOfScheme breaking;
  for (std::optional<PlannedPlacement>& fate : fates) {
    if (!fate) {
      ++plans.slower;
      progress.count();
      continue;
    }
    PlannedPlacement& plan = *fate;
    if (plan.fate == PlanFate::keeps) {
      keep_first(keeping, plan, is_before);
      plans.best.push_back(std::move(plan));
      continue;
    }
    ++(plan.fate == PlanFate::does_not_fit ? plans.too_large
       : plan.fate == PlanFate::breaks     ? plans.broken
                                           : plans.unknown);
    if (plan.fate == PlanFate::breaks) keep_first(breaking, plan, is_nearer);
    if (plan.fate == PlanFate::breaks && (!plans.faster || is_before(plan, *plans.faster)))
      plans.faster = plan;
    if (plan.fate != PlanFate::unknown && (!plans.nearest || is_nearer(plan, *plans.nearest)))
      plans.nearest = std::move(plan);
  }
  plans.kept = plans.best.size();
  std::sort(plans.best.begin(), plans.best.end(), is_before);
  plans.best = distinct(std::move(plans.best));
  if (plans.best.size() > kShown) plans.best.erase(plans.best.begin() + kShown, plans.best.end());
  if (plans.best.empty()) return plans;
  plans.others = others_than(plans.best, std::move(keeping), std::move(breaking));
  plans.nearest.reset();
  plans.just_too_large = just_too_large(placed, plans.best.front());
  if (plans.faster && plans.faster->cost >= plans.best.front().cost) plans.faster.reset();
  return plans;
}

}  // namespace depthcost
