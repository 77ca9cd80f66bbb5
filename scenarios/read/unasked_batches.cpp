// Each batch by itself, with the standard residual, and a tenth of the memory free, as engines
// have it.
#include "scenarios/read/unasked_batches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "model/decision/budget.hpp"
#include "model/training/training_memory.hpp"
#include "scenarios/read/usual_workload.hpp"

namespace depthcost {
namespace {

/// What so many sequences need.
Bytes need_of(const Study& study, Count sequences) {
  Study alone = baseline_study(study);
  alone.prefill.reset();
  alone.training.reset();
  alone.decode->sequences = {sequences};
  return fullest_memory(alone, alone.path);
}

constexpr std::string_view kBatches = "workload.decode.sequences";

bool are_usual(const ResolvedValue& value) {
  return value.key == kBatches && value.origin.ends_with(kUsualBatchesSource);
}

/// A gate on memory is about all batches: one that left some out would hold whatever the model
/// needs.
bool must_fit(const Study& study) {
  return std::any_of(study.budgets.begin(), study.budgets.end(),
                     [](const Budget& it) { return it.kind == BudgetKind::device_memory; });
}

/// Who has measured a step has run it.
bool was_measured(const Study& study) {
  return !study.decode->baseline_steps.empty() || !study.written_terms.empty();
}

}  // namespace

std::optional<std::size_t> usual_batches_that_fit(const Scenario& scenario) {
  const Study& study = scenario.study;
  if (!study.decode || !study.machine || !study.machine->memory_capacity) return std::nullopt;
  if (must_fit(study) || was_measured(study)) return std::nullopt;
  if (std::none_of(scenario.values.begin(), scenario.values.end(), are_usual)) return std::nullopt;
  const std::vector<Count>& batches = study.decode->sequences;  // the smallest first
  const Bytes capacity = *study.machine->memory_capacity;
  const auto count = [&](Bytes room) {
    return static_cast<std::size_t>(
        std::count_if(batches.begin(), batches.end(),
                      [&](Count sequences) { return need_of(study, sequences) <= room; }));
  };
  const std::size_t with_reserve = count(kCountedShare * capacity);
  return with_reserve > 0 ? with_reserve : count(capacity);
}

void leave_out_unasked_batches(Scenario& scenario) {
  const std::optional<std::size_t> fitting = usual_batches_that_fit(scenario);
  if (!fitting) return;
  std::vector<Count>& batches = scenario.study.decode->sequences;
  const auto last =
      batches.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, *fitting));
  const std::vector<Count> left_out(last, batches.end());
  if (left_out.empty()) return;
  batches.erase(last, batches.end());
  ResolvedValue& usual = *std::find_if(scenario.values.begin(), scenario.values.end(), are_usual);
  usual.value = fmt::format("{}", fmt::join(batches, ", "));
  usual.origin += fmt::format(
      "; without {}, with which the standard residual leaves less than a tenth of the "
      "memory free",
      fmt::join(left_out, " and "));
}

}  // namespace depthcost
