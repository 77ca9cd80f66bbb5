// Kinds of launches by workload, then sums by path.
#include "model/sweep/sweep_times.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/ledger/path_operations.hpp"
#include "model/step/stage_sends.hpp"

namespace depthcost {
namespace {

struct TimedLaunch {
  CornerTimes seconds;
  Evidence evidence = Evidence::measured;

  void add(double calls, const TimedLaunch& launch) {
    seconds.add(calls, launch.seconds);
    evidence = weakest(evidence, launch.evidence);
  }
};

TimedLaunch timed(const Machine& machine, const Operation& operation, const Execution& execution,
                  Phase1Order phase1) {
  const LaunchTime launch(machine, operation, execution);
  return {waited_times(launch, operation, execution, phase1), launch.evidence()};
}

/// What the pipeline's stages send.
TimedLaunch sends_of(const Study& study, const Workload& workload, const ResidualPath& path) {
  const Estimate<Seconds> sends = send_time(study, path, workload);
  return {transfer_times(sends), sends.evidence};
}

TimedLaunch path_times(const Study& study, const Workload& workload, const ResidualPath& path,
                       Schedule schedule) {
  const ResidualPath attached = attached_path(study, path, schedule, workload.id.kind);
  TimedLaunch sum = sends_of(study, workload, path);
  for (const Pass& pass : workload.passes)
    for (const auto& [operation, calls] : distinct_operations(attached, schedule))
      sum.add(pass.repeats * static_cast<double>(calls),
              timed(*study.machine, operation, pass.execution, workload.phase1));
  return sum;
}

/// The times of all kinds in one workload, summed over its passes.
std::vector<TimedLaunch> kind_times(const Study& study, const Workload& workload,
                                    const LaunchTable& table) {
  std::vector<TimedLaunch> times(table.kinds().size());
  for (const Pass& pass : workload.passes) {
    Execution execution = pass.execution;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const LaunchTable::Kind& kind = table.kinds()[i];
      execution.bank_age = kind.bank_age;
      times[i].add(pass.repeats, timed(*study.machine, kind.operation, execution, workload.phase1));
    }
  }
  return times;
}

TimedLaunch sum_of(const LaunchTable& table, std::size_t path,
                   const std::vector<TimedLaunch>& kinds) {
  TimedLaunch sum;
  for (const LaunchTable::Use& use : table.uses(path)) sum.add(use.calls, kinds[use.kind]);
  return sum;
}

AddedTime added_time_of(const TimedLaunch& path, const TimedLaunch& standard, Kernels kernels,
                        const BaseStep& base) {
  const Evidence evidence = weakest(path.evidence, standard.evidence);
  AddedTime time{difference(path.seconds, standard.seconds, kernels, evidence), {}};
  time.weight = time.delta.value.value;
  if (const auto shares = step_shares(base, path.seconds, standard.seconds, kernels, evidence)) {
    time.overhead = time.overhead_of_fitting = shares->overhead;
    time.weight = shares->overhead.value;
  }
  return time;
}

/// The standard residual may be one of the paths.
Kernels kernels_of(const LaunchTable& table, std::size_t path, const LaunchTable& of_standard) {
  const auto kind = [](const LaunchTable& of, const LaunchTable::Use& use) {
    return std::tie(of.kinds()[use.kind].operation, use.calls);
  };
  const auto uses = table.uses(path);
  const auto standard = of_standard.uses(0);
  const bool is_same = std::equal(
      uses.begin(), uses.end(), standard.begin(), standard.end(),
      [&](const auto& a, const auto& b) { return kind(table, a) == kind(of_standard, b); });
  return is_same ? Kernels::same : Kernels::different;
}

/// The largest ends of what is known.
std::optional<Estimate<double>> largest(const std::optional<Estimate<double>>& a,
                                        const std::optional<Estimate<double>>& b) {
  if (!a || !b) return a ? a : b;
  return Estimate<double>{std::max(a->low, b->low), std::max(a->value, b->value),
                          std::max(a->high, b->high), weakest(a->evidence, b->evidence)};
}

/// Two batches of one workload: which weighs more, and the largest ends.
void include(AddedTime& worst, const AddedTime& batch) {
  const bool has_both = worst.overhead && batch.overhead;
  const bool weighs_more = has_both ? batch.overhead->value > worst.overhead->value
                                    : batch.delta.value > worst.delta.value;
  if (weighs_more) worst.delta = batch.delta;
  worst.weight = std::max(worst.weight, batch.weight);
  worst.overhead_of_fitting = largest(worst.overhead_of_fitting, batch.overhead_of_fitting);
  worst.overhead = has_both ? largest(worst.overhead, batch.overhead) : std::nullopt;
}

}  // namespace

void LaunchTable::add(const ResidualPath& path, Schedule schedule) {
  const double age = bank_age(path.scheme, schedule);
  for (const auto& [operation, calls] : operations_by_block(path, schedule)) {
    const auto [entry, is_new] =
        known_.try_emplace({operation, age}, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back({operation, age});
    uses_.push_back({entry->second, static_cast<double>(calls)});
  }
  ends_.push_back(uses_.size());
}

std::span<const LaunchTable::Use> LaunchTable::uses(std::size_t path) const {
  const std::size_t begin = path == 0 ? 0 : ends_[path - 1];
  return std::span(uses_).subspan(begin, ends_[path] - begin);
}

std::vector<AddedTime> added_times(
    const Study& study, WorkloadKind kind, const LaunchTable& table,
    const std::function<const ResidualPath&(std::size_t path)>& path_at,
    const std::function<bool(std::size_t batch, std::size_t path)>& is_too_large) {
  std::vector<AddedTime> answer;
  bool all_known = true;
  const ResidualPath standard_path = baseline_path(study, study.path, kind);
  // Summed as the others are, so that as one of them it adds nothing, to the last bit.
  LaunchTable of_standard;
  of_standard.add(standard_path, Schedule::fused);
  for (const Workload& workload : workloads_of(study, standard_path, Schedule::fused)) {
    if (workload.id.kind != kind) continue;
    const BaseStep base = base_of(study, workload).step;
    all_known = all_known && (base.measured || base.rest);
    TimedLaunch standard = sends_of(study, workload, standard_path);
    standard.add(1, sum_of(of_standard, 0, kind_times(study, workload, of_standard)));
    const std::vector<TimedLaunch> kinds = kind_times(study, workload, table);
    const bool is_first = answer.empty();
    answer.resize(table.num_paths());
    for (std::size_t path = 0; path < table.num_paths(); ++path) {
      TimedLaunch own = sends_of(study, workload, path_at(path));
      own.add(1, sum_of(table, path, kinds));
      AddedTime batch = added_time_of(own, standard, kernels_of(table, path, of_standard), base);
      if (!base.measured && is_too_large(workload.batch, path))
        batch.overhead = batch.overhead_of_fitting = std::nullopt;
      if (is_first)
        answer[path] = batch;
      else
        include(answer[path], batch);
    }
  }
  if (!all_known)
    for (AddedTime& added : answer) {
      added.overhead_of_fitting.reset();
      added.weight = added.delta.value.value;
    }
  return answer;
}

Estimate<Seconds> time_between(const Study& one, const Study& other, WorkloadKind kind) {
  const std::vector<Workload> first = workloads_of(one, one.path, one.schedule);
  const std::vector<Workload> second = workloads_of(other, other.path, other.schedule);
  const bool is_same =
      one.schedule == other.schedule && name(one.path.scheme) == name(other.path.scheme);
  const Kernels kernels = is_same ? Kernels::same : Kernels::different;
  Estimate<Seconds> furthest{};
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].id.kind != kind) continue;
    const TimedLaunch before = path_times(one, first[i], one.path, one.schedule);
    const TimedLaunch after = path_times(other, second[i], other.path, other.schedule);
    const Estimate<Seconds> difference = depthcost::difference(
        after.seconds, before.seconds, kernels, weakest(before.evidence, after.evidence));
    if (std::abs(difference.value.value) >= std::abs(furthest.value.value)) furthest = difference;
  }
  return furthest;
}

}  // namespace depthcost
