// An overhead goes up and down with the waves of a kernel: steps that are shorter than these, and
// bisections between two that differ.
#include "model/decision/batch_runs.hpp"

#include <algorithm>

#include "model/decision/budget.hpp"

namespace depthcost {
namespace {

/// A study of one decode batch at a time.
class DecodeAlone {
 public:
  DecodeAlone(const Study& study, const ResidualPath& path, Schedule schedule, double limit)
      : study_(study), path_(path), schedule_(schedule), limit_(limit) {
    study_.prefill.reset();
    study_.training.reset();
  }

  BatchFate fate(Count sequences) {
    study_.decode->sequences = {sequences};
    const StepRow row = step_rows(study_, path_, schedule_).front();
    if (does_not_fit(row)) return BatchFate::does_not_fit;
    if (is_tight(row.workload)) return BatchFate::may_not_fit;
    if (!row.overhead) return BatchFate::unknown;
    return row.overhead->value <= limit_ ? BatchFate::keeps : BatchFate::breaks;
  }

  /// The last batch with the fate of `first`, which `beyond` has not.
  Count last_alike(Count first, Count beyond) {
    const BatchFate alike = fate(first);
    while (beyond - first > 1) {
      const Count middle = first + (beyond - first) / 2;
      (fate(middle) == alike ? first : beyond) = middle;
    }
    return first;
  }

 private:
  /// Without an architecture or a capacity nothing is known of what is left.
  bool is_tight(WorkloadId workload) const {
    if (!study_.model.architecture || !study_.machine->memory_capacity) return false;
    const Bytes need = memory_of(memory_rows(study_, path_), workload, path_.scheme);
    return decided_memory({.kind = BudgetKind::device_memory}, study_, need).verdict !=
           Verdict::pass;
  }

  Study study_;
  const ResidualPath& path_;
  Schedule schedule_;
  double limit_;
};

/// A wave is 54 tokens or more on any GPU that is known; each sequence has `tokens` of them.
Count batch_after(Count batch, Count tokens) {
  if (batch < 64) return batch + 1;
  return batch + std::max(Count{1}, (batch < 256 ? 4 : 16) / tokens);
}

}  // namespace

std::vector<BatchRun> batch_runs(const Study& study, const ResidualPath& path, Schedule schedule,
                                 double limit) {
  if (!study.machine || !study.decode || !study.decode->baseline_steps.empty()) return {};
  // Nor is a written time known at another batch, if there is one for each.
  for (const WrittenTerm& term : study.written_terms)
    if (term.workload == WorkloadKind::decode && term.seconds.size() > 1) return {};
  DecodeAlone alone(study, path, schedule, limit);
  const Count tokens = study.decode->speculation.tokens;
  std::vector<BatchRun> runs{{alone.fate(1), 1, 1}};
  for (Count batch = 2; batch <= kMostSequences; batch = batch_after(batch, tokens)) {
    const BatchFate fate = alone.fate(batch);
    while (runs.back().fate != fate) {
      runs.back().last = alone.last_alike(runs.back().last, batch);
      const Count next = runs.back().last + 1;
      runs.push_back({alone.fate(next), next, next});
    }
    runs.back().last = batch;
  }
  return runs;
}

}  // namespace depthcost
