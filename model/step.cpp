// Sums of operation times, and their differences with shared uncertainty.
#include "model/step.hpp"

#include <algorithm>
#include <array>

namespace depthcost {
namespace {

Count divide_up(Count tokens, Count shards) { return (tokens + shards - 1) / shards; }

/// Every layer has parameters of its own, but where one set is said to serve them all.
double parameter_age(const Study& study, const ResidualPath& path) {
  const bool is_one = study.decode && study.decode->parameters == ParameterSets::one_for_all;
  return is_one ? 1 : static_cast<double>(path.num_layers);
}

Workload decode_workload(const Study& study, std::size_t index, Execution execution) {
  const Decode& decode = *study.decode;
  const Count sequences = decode.sequences[index];
  const Count shards = study.layout == Layout::sequence_sharded ? study.tensor_parallel_size : 1;
  execution.tokens = static_cast<double>(divide_up(sequences, shards));
  execution.launch = decode.launch;
  execution.layer_bytes = decode.layer_bytes;
  Workload workload{.name = "decode/" + std::to_string(sequences),
                    .passes = {{execution, 1}},
                    .baseline_step = {},
                    .phase1 = decode.phase1};
  if (!decode.baseline_steps.empty())
    workload.baseline_step = decode.baseline_steps[decode.baseline_steps.size() == 1 ? 0 : index];
  return workload;
}

Workload prefill_workload(const Study& study, Execution execution) {
  const Prefill& prefill = *study.prefill;
  const Count chunk = std::min(prefill.tokens, prefill.chunk.value_or(prefill.tokens));
  Workload workload{.name = "prefill", .passes = {}, .baseline_step = prefill.baseline_step};
  execution.launch = prefill.launch;
  const auto push = [&](Count tokens, Count repeats) {
    if (tokens == 0 || repeats == 0) return;
    execution.tokens = static_cast<double>(divide_up(tokens, prefill.sequence_shards));
    workload.passes.push_back({execution, static_cast<double>(repeats)});
  };
  push(chunk, prefill.tokens / chunk);
  push(prefill.tokens % chunk, 1);
  return workload;
}

/// Seconds at each corner and in the middle, for one launch or a sum of launches. Floor, bandwidth
/// and residency are one truth for two schemes that are compared, so their difference is taken
/// corner by corner, not from the ends of two intervals.
struct CornerTimes {
  std::array<Seconds, kCorners.size()> corners{};
  TimeTerms terms;  // in the middle
  Seconds value;

  void add(double calls, const CornerTimes& launch) {
    for (std::size_t i = 0; i < corners.size(); ++i)
      corners[i] = corners[i] + calls * launch.corners[i];
    terms = terms + calls * launch.terms;
    value = value + calls * launch.value;
  }

  CornerTimes minus(const CornerTimes& other) const {
    CornerTimes difference{.terms = terms + -1 * other.terms, .value = value - other.value};
    for (std::size_t i = 0; i < corners.size(); ++i)
      difference.corners[i] = corners[i] - other.corners[i];
    return difference;
  }

  Estimate<Seconds> interval(Evidence evidence) const {
    const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
    return {std::min(*low, value), value, std::max(*high, value), evidence};
  }
};

/// `seconds_of` says for how many of a launch's a step waits.
template <class SecondsOf>
CornerTimes corner_times(const LaunchTime& launch, const SecondsOf& seconds_of) {
  CornerTimes times{.terms = launch.terms({})};
  times.value = seconds_of(times.terms);
  for (std::size_t i = 0; i < kCorners.size(); ++i)
    times.corners[i] = seconds_of(launch.terms(kCorners[i]));
  return times;
}

Dominant dominant_of(const TimeTerms& terms) {
  const Seconds operations = terms.operations + terms.on_top;
  if (terms.floor >= std::max(terms.bytes, operations)) return Dominant::launch;
  return terms.bytes >= operations ? Dominant::bytes : Dominant::operations;
}

/// What the difference consists of; the fused standard residual differs in nothing from itself.
Dominant dominant_of(const CornerTimes& residual, const CornerTimes& delta) {
  return dominant_of(delta.value.value == 0 ? residual.terms : delta.terms);
}

/// overhead = (t - t_base) / t_base. Never mixed with the share.
Estimate<double> overhead_of(const Estimate<Seconds>& delta, Seconds base) {
  return {delta.low / base, delta.value / base, delta.high / base, delta.evidence};
}

/// share = residual / step, corner by corner: the step contains the residual and varies with it. A
/// corner at which the standard residual alone is longer than the measured step is not the truth;
/// where the middle is none, nothing is known.
std::optional<Estimate<double>> share_of(const CornerTimes& residual, const CornerTimes& delta,
                                         Seconds base, Evidence evidence) {
  const Seconds rest = base - (residual.value - delta.value);
  if (rest <= Seconds{}) return std::nullopt;
  const double value = residual.value / (rest + residual.value);
  Estimate<double> share{value, value, value, evidence};
  for (std::size_t i = 0; i < kCorners.size(); ++i) {
    const Seconds rest_at_corner = base - (residual.corners[i] - delta.corners[i]);
    if (rest_at_corner <= Seconds{}) continue;
    const double at_corner = residual.corners[i] / (rest_at_corner + residual.corners[i]);
    share.low = std::min(share.low, at_corner);
    share.high = std::max(share.high, at_corner);
  }
  return share;
}

}  // namespace

std::string_view name(Dominant dominant) {
  constexpr std::array<std::string_view, 3> names{"launch", "bytes", "operations"};
  return names[static_cast<std::size_t>(dominant)];
}

std::vector<Workload> workloads_of(const Study& study, const ResidualPath& path,
                                   Schedule schedule) {
  std::vector<Workload> workloads;
  const Execution execution{.storage = storage_of(study),
                            .bank_age = bank_age(path.scheme, schedule),
                            .parameter_age = parameter_age(study, path)};
  if (study.decode)
    for (std::size_t i = 0; i < study.decode->sequences.size(); ++i)
      workloads.push_back(decode_workload(study, i, execution));
  if (study.prefill) workloads.push_back(prefill_workload(study, execution));
  return workloads;
}

namespace {

/// A workload's residual path, operation by operation and summed.
struct WorkloadTimes {
  std::vector<TimeRow> rows;
  CornerTimes sum;
  Evidence evidence = Evidence::measured;
};

WorkloadTimes workload_times(const Machine& machine,
                             const std::vector<CountedOperation>& operations,
                             const Workload& workload) {
  WorkloadTimes times;
  std::array<Count, kOperationIds> kinds{};
  times.rows.reserve(workload.passes.size() * operations.size());
  for (const Pass& pass : workload.passes)
    for (const auto& [operation, calls_per_pass] : operations) {
      const double calls = pass.repeats * static_cast<double>(calls_per_pass);
      const LaunchTime launch(machine, operation, pass.execution);
      const CornerTimes seconds = corner_times(launch, [&, op = operation](const TimeTerms& terms) {
        return workload.phase1 == Phase1Order::hoisted ? critical_time(op, pass.execution, terms)
                                                       : terms.total();
      });
      const Evidence evidence = launch.evidence();
      times.sum.add(calls, seconds);
      times.evidence = weakest(times.evidence, evidence);
      times.rows.push_back({.workload = workload.name,
                            .operation = operation,
                            .kind = ++kinds[static_cast<std::size_t>(operation.id)],
                            .tokens = pass.execution.tokens,
                            .calls = calls,
                            .launch = pass.execution.launch,
                            .memory_share = launch.memory_share(),
                            .bytes = launch_bytes(operation, pass.execution),
                            .parameters = parameter_bytes(operation, pass.execution.storage),
                            .terms = seconds.terms,
                            .predicted = seconds.interval(evidence),
                            .bound = launch.bound(),
                            .critical = critical_time(operation, pass.execution, seconds.terms)});
    }
  return times;
}

StepRow step_row(const Workload& workload, const WorkloadTimes& times,
                 const WorkloadTimes& baseline) {
  const CornerTimes delta = times.sum.minus(baseline.sum);
  const Evidence evidence = weakest(times.evidence, baseline.evidence);
  StepRow row{.workload = workload.name,
              .residual = times.sum.interval(times.evidence),
              .delta = delta.interval(evidence),
              .baseline_step = workload.baseline_step,
              .dominant = dominant_of(times.sum, delta)};
  if (workload.baseline_step) {
    const Seconds base = *workload.baseline_step;
    row.overhead = overhead_of(row.delta, base);
    row.share = share_of(times.sum, delta, base, evidence);
  }
  return row;
}

}  // namespace

StepTimes step_times(const Study& study, const ResidualPath& path, Schedule schedule) {
  StepTimes answer;
  if (!study.machine) return answer;
  const Machine& machine = *study.machine;
  const ResidualPath standard{Standard{}, path.num_layers, path.attachment};
  const auto operations = distinct_operations(path, schedule);
  const auto baseline_operations = distinct_operations(standard, Schedule::fused);
  const auto baseline_workloads = workloads_of(study, standard, Schedule::fused);
  const auto workloads = workloads_of(study, path, schedule);
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    WorkloadTimes times = workload_times(machine, operations, workloads[i]);
    const WorkloadTimes baseline =
        workload_times(machine, baseline_operations, baseline_workloads[i]);
    answer.step.push_back(step_row(workloads[i], times, baseline));
    answer.step.back().path = &path;
    answer.step.back().schedule = schedule;
    if (operations.size() > kMostListedKinds) continue;
    for (TimeRow& row : times.rows) {
      row.path = &path;
      row.schedule = schedule;
      answer.time.push_back(std::move(row));
    }
  }
  return answer;
}

}  // namespace depthcost
