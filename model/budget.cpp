// One function for each kind of budget: what is needed, at least and at most.
#include "model/budget.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace depthcost {
namespace {

BudgetRow unknown(const Budget& budget, double at_least, std::string reason) {
  return {.budget = budget, .low = at_least, .reason = std::move(reason)};
}

BudgetRow known(const Budget& budget, double low, double high) {
  BudgetRow row{.budget = budget, .low = low, .high = high};
  if (high <= budget.limit) row.verdict = Verdict::pass;
  if (low > budget.limit) row.verdict = Verdict::fail;
  if (row.verdict == Verdict::unknown) row.reason = "the limit lies inside the interval";
  return row;
}

/// The largest overhead over the workload points whose name starts with `prefix`.
BudgetRow overhead_row(const Budget& budget, const BudgetInputs& inputs, std::string_view prefix) {
  std::optional<BudgetRow> worst;
  for (const StepRow& step : inputs.steps) {
    if (step.path->scheme.index() != inputs.study.path.scheme.index() ||
        step.schedule != inputs.study.schedule || !step.workload.starts_with(prefix))
      continue;
    if (!step.overhead)
      return unknown(budget, 0, fmt::format("baseline_step.{} is not given", prefix));
    if (!worst || step.overhead->high > *worst->high)
      worst = known(budget, step.overhead->low, step.overhead->high);
  }
  return worst ? *worst
               : unknown(budget, 0, fmt::format("the scenario has no {} workload", prefix));
}

Bytes prefill_bytes(const BudgetInputs& inputs, std::initializer_list<std::string_view> items) {
  Bytes sum;
  for (const MemoryRow& row : inputs.memory)
    if (row.workload == "prefill" && row.path->scheme.index() == inputs.study.path.scheme.index() &&
        std::find(items.begin(), items.end(), row.item) != items.end())
      sum = sum + row.bytes;
  return sum;
}

/// The longest chunk that keeps a limit on bytes that grow with it.
std::string nearest_chunk(const BudgetInputs& inputs, Bytes need, double limit) {
  const PrefillShape shape = prefill_shape(inputs.study);
  const double bytes_per_token = need.value / static_cast<double>(tokens_per_device(shape));
  const auto tokens = static_cast<Count>(limit / bytes_per_token) * shape.sequence_shards;
  return tokens > 0 ? fmt::format("a chunk of {} tokens would keep it", tokens) : "";
}

BudgetRow prefill_row(const Budget& budget, const BudgetInputs& inputs,
                      std::initializer_list<std::string_view> items) {
  if (!inputs.study.prefill) return unknown(budget, 0, "the scenario has no prefill workload");
  const Bytes need = prefill_bytes(inputs, items);
  BudgetRow row = known(budget, need.value, need.value);
  if (row.verdict == Verdict::fail) row.nearest = nearest_chunk(inputs, need, budget.limit);
  return row;
}

BudgetRow payload_row(const Budget& budget, const BudgetInputs& inputs) {
  if (inputs.payload == nullptr) return unknown(budget, 0, "the scenario has no pipeline");
  const VectorStorage types = storage_of(inputs.study);
  const double need =
      storage(static_cast<double>(inputs.payload->peak) * types.hidden_size, types.dtype).value;
  return known(budget, need, need);
}

/// Only the residual path is counted, so that what fits is never more than `unknown`.
BudgetRow memory_row(const Budget& budget, const BudgetInputs& inputs) {
  Bytes most;
  for (const MemoryRow& row : inputs.memory) {
    if (row.path->scheme.index() != inputs.study.path.scheme.index()) continue;
    Bytes sum;
    for (const MemoryRow& other : inputs.memory)
      if (other.workload == row.workload && other.path == row.path) sum = sum + other.bytes;
    most = std::max(most, sum);
  }
  if (!inputs.study.machine || !inputs.study.machine->memory_capacity)
    return unknown(budget, most.value, "the hardware has no memory capacity");
  Budget with_limit = budget;
  with_limit.limit = inputs.study.machine->memory_capacity->value;
  if (most.value > with_limit.limit) return known(with_limit, most.value, most.value);
  return unknown(with_limit, most.value, "weights, KV cache and activations are not counted yet");
}

BudgetRow budget_row(const Budget& budget, const BudgetInputs& inputs) {
  switch (budget.kind) {
    case BudgetKind::decode_overhead:
      return overhead_row(budget, inputs, "decode");
    case BudgetKind::prefill_overhead:
      return overhead_row(budget, inputs, "prefill");
    case BudgetKind::training_overhead:
      return unknown(budget, 0, "the training step is not modelled yet");
    case BudgetKind::prefill_bank:
      return prefill_row(budget, inputs, {"hidden_state", "streams", "bank", "embedding"});
    case BudgetKind::prefill_peak:
      return prefill_row(budget, inputs,
                         {"hidden_state", "streams", "bank", "embedding", "phase1_outputs"});
    case BudgetKind::pipeline_peak:
      return payload_row(budget, inputs);
    case BudgetKind::device_memory:
      return memory_row(budget, inputs);
  }
  return unknown(budget, 0, "");
}

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::array<std::string_view, 3> names{"pass", "fail", "unknown"};
  return names[static_cast<std::size_t>(verdict)];
}

std::optional<double> margin(const BudgetRow& row) {
  if (!row.high) return std::nullopt;
  return row.budget.limit - *row.high;
}

std::vector<BudgetRow> budget_rows(const BudgetInputs& inputs) {
  std::vector<BudgetRow> rows;
  for (const Budget& budget : inputs.study.budgets) rows.push_back(budget_row(budget, inputs));
  return rows;
}

}  // namespace depthcost
