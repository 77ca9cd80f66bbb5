// Each schedule at each point is a small budget of its own.
#include "model/decision/claim.hpp"

#include <algorithm>

#include "model/decision/kept_in_training.hpp"

namespace depthcost {
namespace {

Verdict verdict_at(const StepRow& row, double limit) {
  return row.overhead ? verdict_of(limit, row.overhead->low, row.overhead->high) : Verdict::unknown;
}

ClaimPoint point_of(const StepRow& row, double limit) {
  ClaimPoint point{
      .schedule = row.schedule, .workload = row.workload, .verdict = verdict_at(row, limit)};
  if (row.overhead && point.verdict == Verdict::unknown)
    point.least_step = (1 / limit) * row.delta.high;
  return point;
}

std::vector<ClaimPoint> overhead_points(const Study& study, const std::vector<StepRow>& steps,
                                        WorkloadKind workload, double limit) {
  std::vector<ClaimPoint> points;
  for (const StepRow& row : steps)
    if (same_scheme(row.path->scheme, study.path.scheme) && row.workload.kind == workload)
      points.push_back(point_of(row, limit));
  return points;
}

/// The quoted schedule alone: slower kernels hide more communication, and eager copies are no
/// memory that a claim is about. What the layers keep is not counted; with enough of it any share
/// of memory is small.
ClaimPoint training_point(const Study& study, const Budget& budget) {
  ClaimPoint point{.schedule = study.schedule,
                   .workload = WorkloadId::training(),
                   .verdict = decided_row(budget, {study, {}, {}}).verdict};
  const bool is_of_memory = budget.kind != BudgetKind::exposed_communication;
  if (point.verdict == Verdict::fail && is_of_memory && budget.limit > 0) {
    point.verdict = Verdict::unknown;
    point.least_kept = least_kept_by_layers(kept_in_training(study, budget.kind), budget.limit);
  }
  return point;
}

std::vector<ClaimPoint> points_of(const Study& study, const std::vector<StepRow>& steps,
                                  const Budget& budget) {
  std::vector<ClaimPoint> points;
  if (const auto workload = overhead_workload(budget.kind))
    points = overhead_points(study, steps, *workload, budget.limit);
  else
    points.push_back(training_point(study, budget));
  std::stable_partition(points.begin(), points.end(),
                        [&](const ClaimPoint& point) { return point.schedule == study.schedule; });
  return points;
}

ClaimVerdict verdict_over(const Study& study, const std::vector<ClaimPoint>& points) {
  const auto all = [&](const auto& is_so) {
    return std::all_of(points.begin(), points.end(), is_so);
  };
  if (all([](const ClaimPoint& p) {
        return p.verdict == Verdict::unknown && !p.least_step && !p.least_kept;
      }))
    return ClaimVerdict::unknown;
  if (all([&](const ClaimPoint& p) {
        return p.schedule != study.schedule || p.verdict == Verdict::pass;
      }))
    return ClaimVerdict::holds;
  return all([](const ClaimPoint& p) { return p.verdict == Verdict::fail; })
             ? ClaimVerdict::does_not_hold
             : ClaimVerdict::holds_only_if;
}

}  // namespace

std::vector<ClaimRow> claim_rows(const Study& study, const std::vector<StepRow>& steps) {
  std::vector<ClaimRow> rows;
  if (study.claim.empty()) return rows;
  for (const Budget& budget : study.budgets)
    if (is_ratio(budget.kind)) {
      const auto points = points_of(study, steps, budget);
      rows.push_back({budget.kind, budget.limit, verdict_over(study, points), points});
    }
  return rows;
}

}  // namespace depthcost
