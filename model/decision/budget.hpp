// Does a limit hold? Pass if the high end keeps it, fail if the low end breaks it, else unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/step/memory.hpp"
#include "model/step/step.hpp"
#include "model/step/study.hpp"

namespace depthcost {

enum class Verdict { pass, fail, unknown };

/// The same in the words of texts and tables. Where the limit lies inside the interval, the median
/// says what is likely. Memory that fits with less than the usual share left may not fit.
/// `unknown`: something is missing, or the interval has no median.
enum class Fate : std::uint8_t {
  ok,
  likely_ok,
  likely_too_much,
  too_much,
  may_not_fit,
  does_not_fit,
  unknown
};

template <>
inline constexpr auto kNames<Fate> = other_names<Fate>("OK", "likely OK", "likely too much",
                                                       "too much", "may not fit", "does not fit",
                                                       "unknown");

/// What answers call memory that suffices, beside Fate::does_not_fit.
inline constexpr std::string_view kMemoryFits = "fits";

/// Where no median is at hand.
constexpr Fate fate_of(BudgetKind kind, Verdict verdict) {
  if (verdict == Verdict::unknown) return Fate::unknown;
  if (verdict == Verdict::pass) return Fate::ok;
  return kind == BudgetKind::device_memory ? Fate::does_not_fit : Fate::too_much;
}

/// `median` of what is held against the limit.
constexpr Fate fate_of(const Budget& budget, Verdict verdict, double median) {
  if (verdict != Verdict::unknown) return fate_of(budget.kind, verdict);
  return median <= budget.limit ? Fate::likely_ok : Fate::likely_too_much;
}

/// What a budget needs, and whether it holds; `low` and `high` as in BudgetRow.
struct Decision {
  Budget budget;
  std::optional<double> low = {};
  std::optional<double> high = {};
  Verdict verdict = Verdict::unknown;
};

/// Whose overhead a budget limits; nothing where it limits bytes.
std::optional<WorkloadKind> overhead_workload(BudgetKind kind);

/// What the paper claims, as the limit of an overhead where a scenario sets none: 2 % at decode,
/// which we hold prefill to as well, and 4 % in training. [attnres] Sec. 4.1, 4.2
constexpr double paper_limit(BudgetKind overhead) {
  return overhead == BudgetKind::training_overhead ? kPaperTrainingOverhead : kPaperDecodeOverhead;
}

/// The scenario's limit of an overhead, or the paper's.
Budget overhead_limit(const Study& study, BudgetKind overhead);

/// The scenario's limit of this workload's overhead, or the paper's.
Budget overhead_limit(const Study& study, WorkloadKind workload);

/// The overheads of the workloads that the study has.
std::vector<BudgetKind> asked_overheads(const Study& study);

/// Whether some workload points were left out since they do not fit into memory.
enum class LeftOut { none, some };

/// The decision on what surely needs [low, high].
Decision decided(const Budget& budget, double low, double high);

/// The decision on the largest overhead of the points that fit. Those that were left out may break
/// a limit that the others keep.
Decision decided_overhead(const Budget& budget, double low, double high, LeftOut left_out);

/// The decision on the bytes of the fullest workload, in the device's memory. Without an
/// architecture only the residual path is counted: what fits is never more than `unknown`. With
/// one, the low end is what is counted, and the high end leaves room for the rest.
Decision decided_memory(const Budget& budget, const Study& study, Bytes need);

/// What comes of a change. Likely: the median keeps the limit. Surely: the high end keeps it.
enum class Kept : std::uint8_t { no, likely, surely };

/// A change that keeps a budget, or lowers what it limits.
struct Remedy {
  std::string change;  // "schedule two_phase", "residual.layout: sequence_sharded"; empty: none
  Kept kept = Kept::surely;

  friend bool operator==(const Remedy&, const Remedy&) = default;
};

/// `limit` and the interval [low, high] are ratios or bytes, as the kind says. What is known in
/// part has no high end, what is not known at all no low end either.
struct BudgetRow {
  Budget budget;
  std::optional<double> low;
  std::optional<double> high;
  Verdict verdict = Verdict::unknown;
  std::string reason;  // where it is unknown: what is missing; where it fails: at which workload
  std::vector<Remedy> remedies;  // where it may not hold: what would keep it, as far as it is known
  std::optional<WorkloadId> at = {};  // the point that decides, where the budget is of an overhead
  std::optional<double> middle = {};  // of an overhead: the largest median of a point
};

Fate fate_of(const BudgetRow& row);

/// Pass if the high end keeps the limit, fail if the low end breaks it, else unknown.
Verdict verdict_of(double limit, double low, double high);

/// The share of a device's memory that engines give to weights, cache and state. They keep the rest
/// for activations, graphs and workspaces. vLLM's default of gpu_memory_utilization.
inline constexpr double kCountedShare = 0.9;

/// Whether an engine has room for the rest beside it.
constexpr bool surely_fits(Bytes need, Bytes capacity) { return need <= kCountedShare * capacity; }

/// Whether what is needed is known, and not surely within the limit.
bool may_break(const BudgetRow& row);

/// Whether a limit breaks with its whole interval, or with its median.
constexpr bool breaks(Verdict verdict, std::optional<double> median, double limit) {
  return verdict == Verdict::fail || (median && *median > limit);
}

/// limit - high: what is left, negative where the budget may be broken.
std::optional<double> margin(const BudgetRow& row);

/// low - limit: what surely is too much; 0 where the budget may hold, nothing where nothing is
/// known.
std::optional<double> shortfall(const BudgetRow& row);

/// What the budgets are checked against.
struct BudgetInputs {
  const Study& study;
  const std::vector<StepRow>& steps;
  const std::vector<MemoryRow>& memory;
  const PipelineTraffic* payload = nullptr;  // naive, of the study's scheme
};

std::vector<BudgetRow> budget_rows(const BudgetInputs& inputs);

/// The row of one budget without remedies. Training's communication and memory need nothing
/// but the study.
BudgetRow decided_row(const Budget& budget, const BudgetInputs& inputs);

}  // namespace depthcost
