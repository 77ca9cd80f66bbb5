// Memory first, then the scenario's other budgets, then time.
#include "model/evaluation/scheme_verdict.hpp"

#include <algorithm>
#include <limits>

#include "model/base/enum_names.hpp"
#include "model/decision/remedies.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {
namespace {

/// The graver of two verdicts decides.
int severity(Verdict verdict) {
  if (verdict == Verdict::pass) return 0;
  return verdict == Verdict::unknown ? 1 : 2;
}

/// How much of its limit the overhead takes.
double share_of_limit(const LargestPart& part) {
  return part.at->overhead->value / part.budget.limit;
}

/// The point that decides: one that breaks the limit, else one that may, else the largest.
std::optional<LargestPart> largest(const Evaluation& e, const ResidualPath& path, Schedule schedule,
                                   BudgetKind kind) {
  LargestPart part{.budget = overhead_limit(e.study, kind)};
  const auto rank = [&](const StepRow& row) {
    const Verdict verdict = verdict_of(part.budget.limit, row.overhead->low, row.overhead->high);
    return std::pair(severity(verdict), row.overhead->value);
  };
  for (const StepRow& row : e.step) {
    if (row.path != &path || row.schedule != schedule ||
        row.workload.kind != overhead_workload(kind) || !row.overhead)
      continue;
    if (part.at == nullptr || rank(row) > rank(*part.at)) part.at = &row;
  }
  if (part.at == nullptr) return std::nullopt;
  const Estimate<double>& overhead = *part.at->overhead;
  part.verdict = verdict_of(part.budget.limit, overhead.low, overhead.high);
  return part;
}

class SchemeJudge {
 public:
  SchemeJudge(const Evaluation& evaluation, const ResidualPath& path) : e_(evaluation) {
    study_ = e_.study;
    study_.path = path;
    study_.schedule = quoted_schedule(e_.study, path);
    verdict_.path = &path;
    verdict_.schedule = study_.schedule;
  }

  SchemeVerdict verdict() {
    decide_memory();
    if (verdict_.path == &e_.paths.front()) verdict_.written = broken_budget();
    verdict_.time = nearest_to_limit(e_, *verdict_.path, verdict_.schedule);
    if (!verdict_.time) verdict_.missing = missing();
    verdict_.fate = fate();
    verdict_.remedies = remedies();
    return std::move(verdict_);
  }

 private:
  BudgetRow decided_alone(const Budget& budget) {
    study_.budgets = {budget};
    return budget_rows({study_, e_.step, e_.memory}).front();
  }

  void decide_memory() {
    const BudgetRow row = decided_alone({.kind = BudgetKind::device_memory});
    if (row.verdict == Verdict::fail) verdict_.memory = row;
    if (row.verdict == Verdict::unknown && row.high) verdict_.tight = row;
  }

  /// Neither memory nor time, which have their own places.
  std::optional<BudgetRow> broken_budget() const {
    for (const BudgetRow& row : e_.budgets)
      if (row.verdict == Verdict::fail && row.budget.kind != BudgetKind::device_memory &&
          !overhead_workload(row.budget.kind))
        return row;
    return std::nullopt;
  }

  std::string missing() const {
    if (!study_.machine)
      return "no hardware is given (--hardware h100_sxm, or in a file hardware: h100_sxm)";
    if (e_.step.empty()) return "no workload is given";
    for (const StepRow& row : e_.step)
      if (row.path == verdict_.path && !row.missing.empty()) return row.missing;
    return "no step is timed";
  }

  Fate fate() const {
    if (verdict_.memory) return Fate::does_not_fit;
    if (verdict_.written) return Fate::too_much;
    if (!verdict_.time) return Fate::unknown;
    const Fate fate = fate_of(*verdict_.time);
    const bool is_fine = fate == Fate::ok || fate == Fate::likely_ok;
    return is_fine && verdict_.tight ? Fate::may_not_fit : fate;
  }

  std::vector<Remedy> remedies() {
    if (verdict_.written) return verdict_.written->remedies;
    if (verdict_.fate == Fate::may_not_fit) return verdict_.tight->remedies;
    if (!verdict_.memory && (!verdict_.time || verdict_.time->verdict == Verdict::pass)) return {};
    std::vector<BudgetRow> rows{verdict_.memory ? *verdict_.memory
                                                : decided_alone(verdict_.time->budget)};
    if (verdict_.path == &e_.paths.front()) name_remedies(study_, rows);
    return rows.front().remedies;
  }

  const Evaluation& e_;
  Study study_;  // about this scheme alone
  SchemeVerdict verdict_;
};

}  // namespace

bool is_reference(const Study& study, const ResidualPath& path) {
  const Schedule schedule = quoted_schedule(study, path);
  if (!is_standard(path.scheme) || schedule != Schedule::fused) return false;
  const auto& kinds = kEnumerators<WorkloadKind>;
  return std::all_of(kinds.begin(), kinds.end(), [&](WorkloadKind workload) {
    return attached_path(study, path, schedule, workload).attachment ==
           baseline_path(study, path, workload).attachment;
  });
}

std::optional<LargestPart> nearest_to_limit(const Evaluation& evaluation, const ResidualPath& path,
                                            Schedule schedule) {
  const auto rank = [](const LargestPart& part) {
    return std::pair(severity(part.verdict), share_of_limit(part));
  };
  std::optional<LargestPart> nearest;
  for (const BudgetKind kind :
       {BudgetKind::decode_overhead, BudgetKind::prefill_overhead, BudgetKind::training_overhead}) {
    const auto part = largest(evaluation, path, schedule, kind);
    if (part && (!nearest || rank(*part) > rank(*nearest))) nearest = part;
  }
  return nearest;
}

Fate fate_of(const LargestPart& part) {
  return fate_of(part.budget, part.verdict, part.at->overhead->value);
}

std::vector<SchemeVerdict> scheme_verdicts(const Evaluation& evaluation) {
  std::vector<SchemeVerdict> verdicts;
  for (const ResidualPath& path : evaluation.paths)
    if (!is_reference(evaluation.study, path))
      verdicts.push_back(SchemeJudge(evaluation, path).verdict());
  return verdicts;
}

}  // namespace depthcost
