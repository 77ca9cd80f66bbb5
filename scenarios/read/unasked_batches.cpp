// Each batch by itself, with the standard residual.
#include "scenarios/read/unasked_batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/training/training_memory.hpp"
#include "scenarios/read/usual_workload.hpp"

namespace depthcost {
namespace {

bool fits(const Study& study, Count sequences) {
  Study alone = baseline_study(study);
  alone.prefill.reset();
  alone.training.reset();
  alone.decode->sequences = {sequences};
  return fullest_memory(alone, alone.path) <= *study.machine->memory_capacity;
}

/// Where it stands that the batches are the usual ones; nullptr where somebody has written them.
ResolvedValue* usual_batches(std::vector<ResolvedValue>& values) {
  const auto found = std::find_if(values.begin(), values.end(), [](const ResolvedValue& value) {
    return value.key == "workload.decode.sequences" && value.origin.ends_with(kUsualBatchesSource);
  });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

void leave_out_unasked_batches(Scenario& scenario) {
  Study& study = scenario.study;
  if (!study.decode || !study.machine || !study.machine->memory_capacity) return;
  // Who has measured a step has run it.
  if (!study.decode->baseline_steps.empty() || !study.written_terms.empty()) return;
  // Whether everything fits is then the question.
  if (std::any_of(study.budgets.begin(), study.budgets.end(),
                  [](const Budget& it) { return it.kind == BudgetKind::device_memory; }))
    return;
  ResolvedValue* usual = usual_batches(scenario.values);
  if (usual == nullptr) return;
  std::vector<Count> kept;
  std::vector<Count> left_out;
  for (const Count sequences : study.decode->sequences)
    (fits(study, sequences) ? kept : left_out).push_back(sequences);
  if (left_out.empty()) return;
  if (kept.empty()) {
    kept.push_back(left_out.front());
    left_out.erase(left_out.begin());
  }
  study.decode->sequences = kept;
  usual->value = fmt::format("{}", fmt::join(kept, ", "));
  usual->origin +=
      fmt::format("; without {}, {} not fit with the standard residual",
                  fmt::join(left_out, " and "), left_out.size() == 1 ? "which does" : "which do");
}

}  // namespace depthcost
