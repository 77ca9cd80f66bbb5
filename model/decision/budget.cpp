// One function for each kind of budget: what is needed, at least and at most.
#include "model/decision/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/decision/kept_in_training.hpp"
#include "model/decision/memory_remedy.hpp"
#include "model/step/scheme_payload.hpp"
#include "model/step/workload.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

BudgetRow unknown(const Budget& budget, std::string reason,
                  std::optional<double> at_least = std::nullopt) {
  return {.budget = budget, .low = at_least, .reason = std::move(reason)};
}

BudgetRow known(const Decision& decision) {
  BudgetRow row{.budget = decision.budget,
                .low = decision.low,
                .high = decision.high,
                .verdict = decision.verdict};
  if (row.verdict == Verdict::unknown && row.high)
    row.reason = "the limit lies inside the interval";
  return row;
}

bool has_memory_capacity(const Study& study) {
  return study.machine && study.machine->memory_capacity;
}

bool is_of_study(const ResidualPath& path, const Study& study) {
  return same_scheme(path.scheme, study.path.scheme);
}

/// The largest overhead of one schedule over the workload points of one kind.
struct LargestOverhead {
  double low = -std::numeric_limits<double>::infinity();
  double middle = -std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::optional<WorkloadId> at;  // the point with the largest low end: the first to break a limit
  std::string left_out;          // why a point is not among them
};

/// The study's scheme at its worst point; nothing where no point is timed or one has no baseline.
std::optional<LargestOverhead> largest_overhead(const BudgetInputs& inputs, Schedule schedule,
                                                WorkloadKind workload) {
  LargestOverhead largest;
  for (const StepRow& step : inputs.steps) {
    if (!is_of_study(*step.path, inputs.study) || step.schedule != schedule ||
        step.workload.kind != workload)
      continue;
    // What cannot be run has no overhead; the others may still break a limit.
    if (does_not_fit(step)) {
      largest.left_out = step.missing;
      continue;
    }
    if (!step.overhead) return std::nullopt;
    // Each end is a maximum of its own: which point is the largest may not be certain.
    if (step.overhead->low > largest.low) largest.at = step.workload;
    largest.low = std::max(largest.low, step.overhead->low);
    largest.middle = std::max(largest.middle, step.overhead->value);
    largest.high = std::max(largest.high, step.overhead->high);
  }
  if (!largest.at && largest.left_out.empty()) return std::nullopt;
  return largest;
}

/// Why the rest of the step is not known.
std::string what_is_missing(const BudgetInputs& inputs, WorkloadKind workload) {
  for (const StepRow& step : inputs.steps)
    if (step.workload.kind == workload && !step.missing.empty()) return step.missing;
  return "no step is timed";
}

/// The cheapest of the scheme's other schedules that surely keeps the limit; else, where the
/// study's breaks it with its median, the cheapest that keeps it so.
Remedy nearest_schedule(const Budget& budget, const BudgetInputs& inputs, WorkloadKind workload) {
  Remedy surely;
  Remedy likely;
  double least_high = budget.limit;
  double least_middle = budget.limit;
  for (const Schedule schedule : inputs.study.path.scheme.rule->schedules) {
    const auto largest = largest_overhead(inputs, schedule, workload);
    // A point that does not fit leaves the limit undecided under any schedule.
    if (!largest || !largest->at || !largest->left_out.empty() ||
        schedule == inputs.study.schedule ||
        is_bound_in(workload, inputs.study.path.scheme, schedule))
      continue;
    if (largest->high <= least_high) {
      least_high = largest->high;
      surely = {fmt::format("schedule {}", name(schedule)), Kept::surely};
    }
    if (largest->middle <= least_middle) {
      least_middle = largest->middle;
      likely = {fmt::format("schedule {}", name(schedule)), Kept::likely};
    }
  }
  const auto own = largest_overhead(inputs, inputs.study.schedule, workload);
  const bool is_kept = own && own->at && own->middle <= budget.limit;
  return surely.change.empty() && !is_kept ? likely : surely;
}

bool asks_for(const Study& study, WorkloadKind workload) {
  switch (workload) {
    case WorkloadKind::decode:
      return study.decode.has_value();
    case WorkloadKind::prefill:
      return study.prefill.has_value();
    case WorkloadKind::training:
      return study.training.has_value();
  }
  return false;
}

/// Whether a modelled training step does not fit.
bool cannot_train(const BudgetInputs& inputs) {
  const Study& study = inputs.study;
  return !is_measured(study, WorkloadKind::training) &&
         is_too_large(study, inputs.memory, WorkloadId::training(), study.path.scheme);
}

BudgetRow overhead_row(const Budget& budget, const BudgetInputs& inputs, WorkloadKind workload) {
  const Study& study = inputs.study;
  if (!asks_for(study, workload))
    return unknown(budget, fmt::format("the scenario has no {} workload", name(workload)));
  if (!study.machine) return unknown(budget, "the scenario has no hardware");
  const auto largest = largest_overhead(inputs, study.schedule, workload);
  if (!largest)
    return unknown(budget, fmt::format("baseline_step.{} is not given, and {}", name(workload),
                                       what_is_missing(inputs, workload)));
  if (!largest->at) return unknown(budget, largest->left_out);
  const LeftOut left_out = largest->left_out.empty() ? LeftOut::none : LeftOut::some;
  BudgetRow row = known(decided_overhead(budget, largest->low, largest->high, left_out));
  row.at = largest->at;
  row.middle = largest->middle;
  if (!row.high) row.reason = largest->left_out;
  const bool has_choice = workload == WorkloadKind::decode && study.decode->sequences.size() > 1;
  if (row.verdict == Verdict::fail && has_choice)
    row.reason = fmt::format("largest at {}", name(*largest->at));
  return row;
}

Bytes prefill_bytes(const BudgetInputs& inputs, std::initializer_list<MemoryItem> items) {
  Bytes sum;
  for (const MemoryRow& row : inputs.memory)
    if (row.workload.kind == WorkloadKind::prefill && is_of_study(*row.path, inputs.study) &&
        std::find(items.begin(), items.end(), row.item) != items.end())
      sum += row.bytes;
  return sum;
}

/// The longest chunk that keeps a limit on bytes that grow with it.
Remedy nearest_chunk(const BudgetInputs& inputs, double need, double limit) {
  const PrefillShape shape = prefill_shape(inputs.study);
  const double bytes_per_token = need / static_cast<double>(tokens_per_device(shape));
  const auto tokens = static_cast<Count>(limit / bytes_per_token) * shape.sequence_shards;
  if (tokens < 1) return {};
  return {fmt::format("a chunk of {} tokens", tokens)};
}

BudgetRow prefill_row(const Budget& budget, const BudgetInputs& inputs,
                      std::initializer_list<MemoryItem> items) {
  if (!inputs.study.prefill) return unknown(budget, "the scenario has no prefill workload");
  const Bytes need = prefill_bytes(inputs, items);
  return known(decided(budget, need.value, need.value));
}

BudgetRow payload_row(const Budget& budget, const BudgetInputs& inputs) {
  if (inputs.payload == nullptr) return unknown(budget, "the scenario has no pipeline");
  const double need = largest_payload_bytes(inputs.study, inputs.payload->peak).value;
  return known(decided(budget, need, need));
}

BudgetRow communication_row(const Budget& budget, const Study& study) {
  if (!study.training) return unknown(budget, "the scenario has no training workload");
  const ExposedCommunication exposed = exposed_communication(study);
  if (!exposed.share) return unknown(budget, exposed.missing);
  return known(decided(budget, exposed.share->low, exposed.share->high));
}

BudgetRow kept_row(const Budget& budget, const Study& study) {
  if (!study.training) return unknown(budget, "the scenario has no training workload");
  if (budget.kind == BudgetKind::pipeline_cache && !study.pipeline)
    return unknown(budget, "the scenario has no pipeline");
  const KeptOnStage most = largest_share(kept_in_training(study, budget.kind));
  BudgetRow row = known(decided(budget, most.share(), most.share()));
  if (row.verdict == Verdict::fail)
    row.reason = fmt::format(
        "largest on stage {}: {:.4g} GB over the {:.4g} GB that the standard residual keeps; "
        "activations of the layers are not counted",
        most.stage, 1e-9 * most.bytes.value, 1e-9 * most.standard.value);
  return row;
}

BudgetRow memory_row(const Budget& budget, const BudgetInputs& inputs) {
  const auto fullest = fullest_of(inputs.memory, inputs.study.path.scheme);
  if (!fullest) return unknown(budget, "the scenario has no workload");
  BudgetRow row = known(decided_memory(budget, inputs.study, fullest->bytes));
  if (row.verdict == Verdict::fail)
    row.reason = fmt::format("largest at {}", name(fullest->workload));
  else if (row.high && row.verdict == Verdict::unknown)
    row.reason = fmt::format("less than a tenth is left at {}", name(fullest->workload));
  else if (!row.high)
    row.reason = has_memory_capacity(inputs.study)
                     ? "the model has no attention and mlp, so that its weights are not counted"
                     : "the hardware has no memory capacity";
  return row;
}

/// What would keep a budget that may not hold, as far as it is found without other blocks.
Remedy nearest_remedy(const BudgetRow& row, const BudgetInputs& inputs) {
  const Budget& budget = row.budget;
  switch (budget.kind) {
    case BudgetKind::decode_overhead:
    case BudgetKind::prefill_overhead:
    case BudgetKind::training_overhead:
      return nearest_schedule(budget, inputs, *overhead_workload(budget.kind));
    case BudgetKind::prefill_bank:
    case BudgetKind::prefill_peak:
      return nearest_chunk(inputs, *row.high, budget.limit);
    case BudgetKind::exposed_communication:
    case BudgetKind::added_activations:
    case BudgetKind::pipeline_cache:
    case BudgetKind::pipeline_peak:
      return {};
    case BudgetKind::device_memory:
      return {memory_remedy(inputs.study, budget.limit)};
  }
  return {};
}

}  // namespace

std::optional<WorkloadKind> overhead_workload(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::decode_overhead:
      return WorkloadKind::decode;
    case BudgetKind::prefill_overhead:
      return WorkloadKind::prefill;
    case BudgetKind::training_overhead:
      return WorkloadKind::training;
    default:
      return std::nullopt;
  }
}

Decision decided(const Budget& budget, double low, double high) {
  return {budget, low, high, verdict_of(budget.limit, low, high)};
}

Decision decided_overhead(const Budget& budget, double low, double high, LeftOut left_out) {
  Decision decision = decided(budget, low, high);
  if (left_out == LeftOut::some && decision.verdict == Verdict::pass)
    decision = {.budget = budget, .low = low};
  return decision;
}

Decision decided_memory(const Budget& budget, const Study& study, Bytes need) {
  if (!has_memory_capacity(study)) return {.budget = budget, .low = need.value};
  Budget of_device = budget;
  of_device.limit = study.machine->memory_capacity->value;
  if (study.model.architecture) return decided(of_device, need.value, need.value / kCountedShare);
  if (need.value <= of_device.limit) return {.budget = of_device, .low = need.value};
  return decided(of_device, need.value, need.value);
}

BudgetRow decided_row(const Budget& budget, const BudgetInputs& inputs) {
  using enum MemoryItem;
  switch (budget.kind) {
    case BudgetKind::decode_overhead:
    case BudgetKind::prefill_overhead:
    case BudgetKind::training_overhead:
      return overhead_row(budget, inputs, *overhead_workload(budget.kind));
    case BudgetKind::exposed_communication:
      return communication_row(budget, inputs.study);
    case BudgetKind::added_activations:
    case BudgetKind::pipeline_cache:
      return kept_row(budget, inputs.study);
    case BudgetKind::prefill_bank:
      return prefill_row(budget, inputs, {hidden_state, streams, bank, embedding});
    case BudgetKind::prefill_peak:
      return prefill_row(budget, inputs, {hidden_state, streams, bank, embedding, phase1_outputs});
    case BudgetKind::pipeline_peak:
      return payload_row(budget, inputs);
    case BudgetKind::device_memory:
      return memory_row(budget, inputs);
  }
  return unknown(budget, "");
}

Budget overhead_limit(const Study& study, BudgetKind overhead) {
  for (const Budget& budget : study.budgets)
    if (budget.kind == overhead) return budget;
  return {.kind = overhead, .limit = paper_limit(overhead), .origin = BudgetOrigin::assumed};
}

Budget overhead_limit(const Study& study, WorkloadKind workload) {
  const auto is_of = [&](BudgetKind kind) { return overhead_workload(kind) == workload; };
  constexpr auto& kKinds = kEnumerators<BudgetKind>;
  return overhead_limit(study, *std::find_if(kKinds.begin(), kKinds.end(), is_of));
}

std::vector<BudgetKind> asked_overheads(const Study& study) {
  std::vector<BudgetKind> overheads;
  for (const BudgetKind kind : kEnumerators<BudgetKind>)
    if (const auto workload = overhead_workload(kind); workload && asks_for(study, *workload))
      overheads.push_back(kind);
  return overheads;
}

Verdict verdict_of(double limit, double low, double high) {
  if (low > limit) return Verdict::fail;
  return high <= limit ? Verdict::pass : Verdict::unknown;
}

Fate fate_of(const BudgetRow& row) {
  if (row.middle && row.high) return fate_of(row.budget, row.verdict, *row.middle);
  if (row.budget.kind == BudgetKind::device_memory && row.high && row.verdict == Verdict::unknown)
    return Fate::may_not_fit;
  return fate_of(row.budget.kind, row.verdict);
}

bool may_break(const BudgetRow& row) { return row.verdict != Verdict::pass && row.high; }

std::optional<double> margin(const BudgetRow& row) {
  if (!row.high) return std::nullopt;
  return row.budget.limit - *row.high;
}

std::optional<double> shortfall(const BudgetRow& row) {
  if (!row.low) return std::nullopt;
  return row.verdict == Verdict::fail ? *row.low - row.budget.limit : 0;
}

std::vector<BudgetRow> budget_rows(const BudgetInputs& inputs) {
  std::vector<BudgetRow> rows;
  for (const Budget& budget : inputs.study.budgets) {
    BudgetRow& row = rows.emplace_back(decided_row(budget, inputs));
    // A step that cannot run may break a limit. It never keeps one.
    if (budget.kind == BudgetKind::training_overhead && row.low && cannot_train(inputs) &&
        !breaks(row.verdict, row.middle, budget.limit))
      row = unknown(budget, "training does not fit into the device's memory");
    if (!may_break(row)) continue;
    Remedy remedy = nearest_remedy(row, inputs);
    if (!remedy.change.empty()) row.remedies.push_back(std::move(remedy));
  }
  return rows;
}

}  // namespace depthcost
