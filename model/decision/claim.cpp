// Each schedule at each point is a small budget of its own.
#include "model/decision/claim.hpp"

#include <algorithm>

namespace depthcost {
namespace {

Verdict verdict_at(const StepRow& row, double limit) {
  if (!row.overhead) return Verdict::unknown;
  if (row.overhead->high <= limit) return Verdict::pass;
  return row.overhead->low > limit ? Verdict::fail : Verdict::unknown;
}

ClaimPoint point_of(const StepRow& row, double limit) {
  ClaimPoint point{row.schedule, row.workload, verdict_at(row, limit), {}};
  if (row.overhead && point.verdict == Verdict::unknown)
    point.least_step = (1 / limit) * row.delta.high;
  return point;
}

std::vector<ClaimPoint> points_of(const Study& study, const std::vector<StepRow>& steps,
                                  WorkloadKind workload, double limit) {
  std::vector<ClaimPoint> points;
  for (const StepRow& row : steps)
    if (same_scheme(row.path->scheme, study.path.scheme) && row.workload.kind == workload)
      points.push_back(point_of(row, limit));
  std::stable_partition(points.begin(), points.end(),
                        [&](const ClaimPoint& point) { return point.schedule == study.schedule; });
  return points;
}

ClaimVerdict verdict_over(const Study& study, const std::vector<ClaimPoint>& points) {
  const auto all = [&](const auto& is_so) {
    return std::all_of(points.begin(), points.end(), is_so);
  };
  if (all([](const ClaimPoint& p) { return p.verdict == Verdict::unknown && !p.least_step; }))
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
    if (const auto workload = overhead_workload(budget.kind)) {
      const auto points = points_of(study, steps, *workload, budget.limit);
      rows.push_back({budget.kind, budget.limit, verdict_over(study, points), points});
    }
  return rows;
}

}  // namespace depthcost
