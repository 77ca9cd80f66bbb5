// Sums of operation times, and their differences with shared uncertainty.
#include "model/step/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "model/step/stage_sends.hpp"

namespace depthcost {

Dominant dominant_of(const TimeTerms& terms) {
  const double floor = std::abs(terms.floor.value);
  const double bytes = std::abs(terms.bytes.value);
  const double operations = std::abs((terms.operations + terms.on_top).value);
  const double latency = std::abs(terms.token.value);
  const double transfer = std::abs(terms.transfer.value);
  if (transfer > std::max({floor, bytes, operations, latency})) return Dominant::communication;
  if (floor >= std::max({bytes, operations, latency})) return Dominant::launch;
  if (latency > std::max(bytes, operations)) return Dominant::latency;
  return bytes >= operations ? Dominant::bytes : Dominant::operations;
}

/// A workload's residual path, operation by operation and summed.
struct WorkloadTimes {
  std::vector<TimeRow> rows;
  Estimate<Seconds> sends;
  CornerTimes sum;
  Evidence evidence = Evidence::measured;
};

namespace {

/// What the difference consists of; the fused standard residual differs in nothing from itself.
Dominant dominant_of(const CornerTimes& residual, const CornerTimes& standard) {
  if (residual.value == standard.value) return dominant_of(residual.terms);
  return dominant_of(residual.terms + -1 * standard.terms);
}

WorkloadTimes workload_times(const Study& study, const ResidualPath& path,
                             const std::vector<CountedOperation>& operations,
                             const Workload& workload) {
  const Machine& machine = *study.machine;
  WorkloadTimes times{.rows = {}, .sends = send_time(study, path, workload)};
  times.sum.add(1, transfer_times(times.sends));
  times.evidence = times.sends.evidence;
  std::map<OperationId, Count> kinds;
  times.rows.reserve(workload.passes.size() * operations.size());
  for (const Pass& pass : workload.passes)
    for (const auto& [operation, calls_per_pass] : operations) {
      const double calls = pass.repeats * static_cast<double>(calls_per_pass);
      const LaunchTime launch(machine, operation, pass.execution);
      const CornerTimes seconds = waited_times(launch, operation, pass.execution, workload.phase1);
      const Evidence evidence = launch.evidence();
      times.sum.add(calls, seconds);
      times.evidence = weakest(times.evidence, evidence);
      times.rows.push_back({.workload = workload.id,
                            .operation = operation,
                            .kind = ++kinds[operation.id],
                            .tokens = pass.execution.tokens,
                            .calls = calls,
                            .launch = pass.execution.launch,
                            .memory_share = launch.memory_share(),
                            .bytes = launch_bytes(operation, pass.execution),
                            .parameters = parameter_bytes(operation, pass.execution.storage),
                            .terms = seconds.terms,
                            .predicted = seconds.interval(evidence),
                            .bound = launch.bound()});
    }
  return times;
}

StepRow step_row(const KnownBase& base, const Workload& workload, const WorkloadTimes& times,
                 const WorkloadTimes& baseline, Kernels kernels) {
  const Evidence evidence = weakest(times.evidence, baseline.evidence);
  StepRow row{.workload = workload.id,
              .residual = times.sum.interval(times.evidence),
              .sends = times.sends,
              .delta = difference(times.sum, baseline.sum, kernels, evidence),
              .baseline_step = base_step(base.step, baseline.sum, baseline.evidence),
              .missing = base.missing,
              .dominant = dominant_of(times.sum, baseline.sum)};
  const auto shares = step_shares(base.step, times.sum, baseline.sum, kernels, evidence);
  if (shares) {
    row.overhead = shares->overhead;
    row.share = shares->share;
  }
  return row;
}

/// A modelled step that does not fit has no overhead. A measured one did run.
void leave_out_what_does_not_fit(const Study& study, const std::vector<MemoryRow>& memory,
                                 const Workload& workload, StepRow& row) {
  if (workload.baseline_step || !is_too_large(study, memory, workload.id, row.path->scheme)) return;
  row.overhead.reset();
  row.share.reset();
  row.missing = fmt::format("{} does not fit into the device's memory", name(workload.id));
}

}  // namespace

KnownBase base_of(const Study& study, const Workload& workload) {
  if (workload.baseline_step) return {{.measured = workload.baseline_step, .rest = {}}, ""};
  const RestOfStep rest = rest_of_step(study, workload);
  if (rest.rows.empty()) return {{}, rest.missing};
  return {{.measured = {}, .rest = rest.total()}, rest.missing};
}

struct StepTimer::Shared {
  /// The standard residual under one attachment.
  struct Baseline {
    ResidualPath path;
    std::vector<CountedOperation> operations;
    std::vector<std::optional<WorkloadTimes>> times;  // of each workload point that was asked for
  };

  explicit Shared(const Study& its_study) : study(its_study) {
    if (!study.machine) return;
    workloads =
        workloads_of(study, {Scheme{schemes::kStandard}, study.model.num_layers}, Schedule::fused);
    for (const Workload& workload : workloads) bases.push_back(base_of(study, workload));
  }

  /// What `path` is held against at the workload point `point`, timed there.
  const Baseline& baseline(const ResidualPath& path, std::size_t point) {
    Baseline& baseline = attached_as(baseline_path(study, path, workloads[point].id.kind));
    if (!baseline.times[point])
      baseline.times[point] =
          workload_times(study, baseline.path, baseline.operations, workloads[point]);
    return baseline;
  }

  Baseline& attached_as(const ResidualPath& standard) {
    const auto known = std::find_if(baselines.begin(), baselines.end(), [&](const Baseline& it) {
      return it.path.attachment == standard.attachment && it.path.num_layers == standard.num_layers;
    });
    if (known != baselines.end()) return *known;
    baselines.push_back({standard, distinct_operations(standard, Schedule::fused),
                         std::vector<std::optional<WorkloadTimes>>(workloads.size())});
    return baselines.back();
  }

  const Study& study;
  std::vector<Workload> workloads;  // with the standard residual
  std::vector<KnownBase> bases;     // of each workload point; no scheme changes them
  std::deque<Baseline> baselines;   // as many as there are attachments
};

StepTimer::StepTimer(const Study& study) : shared_(std::make_unique<Shared>(study)) {}
StepTimer::~StepTimer() = default;

StepTimes StepTimer::times(const ResidualPath& path, Schedule schedule) {
  StepTimes answer;
  const Study& study = shared_->study;
  if (!study.machine) return answer;
  std::map<Attachment, std::vector<CountedOperation>> known;
  const auto workloads = workloads_of(study, path, schedule);
  const std::vector<MemoryRow> memory = memory_rows(study, path);
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const ResidualPath own = attached_path(study, path, schedule, workloads[i].id.kind);
    auto& operations = known[own.attachment];
    if (operations.empty()) operations = distinct_operations(own, schedule);
    const Shared::Baseline& baseline = shared_->baseline(path, i);
    const Kernels kernels = operations == baseline.operations ? Kernels::same : Kernels::different;
    WorkloadTimes times = workload_times(study, own, operations, workloads[i]);
    answer.step.push_back(
        step_row(shared_->bases[i], workloads[i], times, *baseline.times[i], kernels));
    answer.step.back().path = &path;
    answer.step.back().schedule = schedule;
    leave_out_what_does_not_fit(study, memory, workloads[i], answer.step.back());
    if (operations.size() > kMostListedKinds) continue;
    for (TimeRow& row : times.rows) {
      row.path = &path;
      row.schedule = schedule;
      answer.time.push_back(std::move(row));
    }
  }
  return answer;
}

StepTimes step_times(const Study& study, const ResidualPath& path, Schedule schedule) {
  return StepTimer(study).times(path, schedule);
}

}  // namespace depthcost
