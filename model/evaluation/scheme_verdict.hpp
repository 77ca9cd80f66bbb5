// What a scheme comes to in one word, and the number that decides it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

/// The overhead that decides among the workload points of one kind that fit, and the limit it is
/// held to.
struct LargestPart {
  Budget budget;
  const StepRow* at = nullptr;  // breaks the limit, else may break it, else is the largest
  Verdict verdict = Verdict::unknown;
};

Fate fate_of(const LargestPart& part);

/// The overhead that decides about one of evaluation.paths with this schedule. A broken limit comes
/// first, then one that may break, then the nearest. Nothing where no overhead is known.
std::optional<LargestPart> nearest_to_limit(const Evaluation& evaluation, const ResidualPath& path,
                                            Schedule schedule);

/// One scheme, run as it is quoted. Memory comes before time: what does not fit is not OK, however
/// little it adds.
struct SchemeVerdict {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Fate fate = Fate::unknown;
  std::optional<BudgetRow> memory;   // where a workload point surely does not fit
  std::optional<BudgetRow> tight;    // where all fit, and one leaves too little for activations
  std::optional<BudgetRow> written;  // another budget of the scenario that surely breaks
  std::optional<LargestPart> time;   // of what fits: the overhead that is nearest to its limit
  std::string missing;               // why no time is judged
  std::vector<Remedy> remedies;      // as far as they are known
};

/// Whether the path is the standard residual that the others are held against: attached alike, and
/// fused.
bool is_reference(const Study& study, const ResidualPath& path);

/// Every scheme of the answer but the standard residual that the others are held against. Limits
/// that the scenario does not set are the paper's: paper_limit().
std::vector<SchemeVerdict> scheme_verdicts(const Evaluation& evaluation);

}  // namespace depthcost
