// Every batch: an overhead goes up and down with the waves of a kernel, so that no bisection holds.
#include "model/decision/kept_batches.hpp"

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

}  // namespace

std::vector<BatchRun> kept_batches(const Study& study, const ResidualPath& path, Schedule schedule,
                                   double limit) {
  if (!study.machine || !study.decode || !study.decode->baseline_steps.empty()) return {};
  // Nor is a written time known at another batch, if there is one for each.
  for (const WrittenTerm& term : study.written_terms)
    if (term.workload == WorkloadKind::decode && term.seconds.size() > 1) return {};
  DecodeAlone alone(study, path, schedule, limit);
  std::vector<BatchRun> runs;
  for (Count batch = 1; batch <= kMostSequences; ++batch) {
    const BatchFate fate = alone.fate(batch);
    if (runs.empty() || runs.back().fate != fate) runs.push_back({fate, batch, batch});
    runs.back().last = batch;
  }
  return runs;
}

}  // namespace depthcost
