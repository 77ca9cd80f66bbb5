// Times of intervals that overlap, and the launches of a path.
#include "model/evaluation/traced_step.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "model/evaluation/evaluation.hpp"
#include "model/ledger/path_operations.hpp"

namespace depthcost {
namespace {

/// Launches of the study's own path in a step.
Count launches_of(const Study& study, WorkloadId workload) {
  const auto operations = all_operations(study.path, quoted_schedule(study, study.path));
  Count runs = 1;
  if (workload.kind == WorkloadKind::prefill && study.prefill->chunk)
    runs = divided_up(study.prefill->tokens, *study.prefill->chunk);
  return runs * static_cast<Count>(operations.size());
}

std::vector<PredictedTrace> predicted_rows(const Evaluation& evaluation) {
  const ResidualPath& own = evaluation.paths.front();
  std::vector<PredictedTrace> rows;
  for (const StepRow& row : evaluation.step)
    if (row.path == &own && row.schedule == quoted_schedule(evaluation.study, own))
      rows.push_back({.workload = row.workload,
                      .launches = launches_of(evaluation.study, row.workload),
                      .residual = row.residual,
                      .standard = row.residual.value - row.delta.value,
                      .share = row.share,
                      .overhead = row.overhead,
                      .fits = !does_not_fit(row)});
  return rows;
}

/// "mhc_pre" of "mhc_pre/on_chip".
std::string_view without_variant(OperationId id) { return name(id).substr(0, name(id).find('/')); }

/// Whether some schedule of the path launches an operation of that name.
bool launches(const ResidualPath& path, std::string_view operation) {
  const std::span<const Schedule> schedules = path.scheme.rule->schedules;
  return std::any_of(schedules.begin(), schedules.end(), [&](Schedule schedule) {
    const std::vector<PlacedOperation> all = all_operations(path, schedule);
    return std::any_of(all.begin(), all.end(), [&](const PlacedOperation& placed) {
      return without_variant(placed.operation.id) == operation;
    });
  });
}

}  // namespace

Seconds time_in_any(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::int64_t covered = 0;
  std::int64_t reached = intervals.empty() ? 0 : intervals.front().start;
  for (const Interval& interval : intervals) {
    covered += std::max<std::int64_t>(0, interval.end - std::max(interval.start, reached));
    reached = std::max(reached, interval.end);
  }
  return Seconds{1e-9 * static_cast<double>(covered)};
}

Seconds span_of(const std::vector<Interval>& intervals) {
  if (intervals.empty()) return {};
  std::int64_t first = intervals.front().start;
  std::int64_t last = intervals.front().end;
  for (const Interval& interval : intervals) {
    first = std::min(first, interval.start);
    last = std::max(last, interval.end);
  }
  return Seconds{1e-9 * static_cast<double>(last - first)};
}

void add_prediction(TracedStep& traced, const Evaluation& evaluation) {
  const ResidualPath& own = evaluation.paths.front();
  traced.predicted = predicted_rows(evaluation);
  if (evaluation.study.pipeline) traced.pipeline_stages = evaluation.study.pipeline->num_stages;
  std::set<std::string> foreign;
  for (const TracedKernels& kernels : traced.operations)
    if (!launches(own, without_variant({kernels.name}))) foreign.insert(kernels.name);
  traced.foreign.assign(foreign.begin(), foreign.end());
}

}  // namespace depthcost
